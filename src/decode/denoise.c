/*
 * denoise.c: the denoising loop.
 *
 * Blocks from left to right; in each, steps of: list the masks, ask the model
 * for picks, order them, commit the head. One workspace is cut before the first
 * step, after that nothing is allocated.
 */
#include "denoise.h"

#include "accept.h"
#include "clock.h"
#include "compiler.h"
#include "rank.h"
#include "rng.h"
#include "schedule.h"
#include "window.h"

#include <stdlib.h>

#define DEFAULT_EPS 1e-3

/* Arrays of a run, cut from one allocation. */
struct workspace {
    struct rank *ranks;          /* [masks] */
    struct pick *picks;          /* [masks] */
    double *confidences;         /* [masks] sorted; of those committed, for the callback */
    struct dllm_choice *choices; /* [masks] of those committed, if they are wanted */
    int32_t *positions;          /* [masks] candidates of the step */
    int32_t *rows;               /* [masks] */
    int32_t *committed;          /* [masks] positions, surest first */
    int32_t *banned;             /* mask, ids without text, perhaps end of text */
    int32_t deferred_ids[2];     /* end of text, end of turn */
};

struct run {
    const struct denoise_model *model;
    const struct dllm_generate_options *options;
    struct denoise_result *result;
    struct dllm_error *error;
    struct canvas canvas;
    struct workspace work;
    struct pick_rules rules;
    struct windows windows;
    double eps;
    int block_length;
    int masks_at_start;
    int steps;     /* of the schedule */
    bool adaptive; /* a rule by confidence instead of a schedule */
    bool over;     /* stopped early or interrupted */
};

/* A block under way: the masks below end. */
struct block {
    int end;
    int masks; /* when it was entered */
    int steps;
};

/* --- set up --- */

static size_t workspace_bytes(const struct run *run, size_t masks)
{
    size_t banned = (size_t)run->model->unprintable_count + 2;
    size_t unguided = run->options->cfg_scale > 0 ? (size_t)run->canvas.length : 0;

    return masks * (sizeof(struct rank) + sizeof(struct pick) + sizeof(double) +
                    sizeof(struct dllm_choice)) +
           (masks * 3 + banned + unguided) * sizeof(int32_t);
}

/* Cuts the block; what is aligned to 8 bytes comes first. */
static void workspace_cut(struct run *run, void *memory, size_t masks)
{
    struct workspace *work = &run->work;

    work->ranks = memory;
    work->picks = (struct pick *)(work->ranks + masks);
    work->confidences = (double *)(work->picks + masks);
    work->choices = (struct dllm_choice *)(work->confidences + masks);
    work->positions = (int32_t *)(work->choices + masks);
    work->rows = work->positions + masks;
    work->committed = work->rows + masks;
    work->banned = work->committed + masks;
    if (run->options->cfg_scale > 0)
        run->canvas.unguided = work->banned + run->model->unprintable_count + 2;
}

static enum pick_confidence confidence_of(enum dllm_remasking remasking)
{
    switch (remasking) {
    case DLLM_REMASKING_RANDOM:
        return PICK_UNIFORM;
    case DLLM_REMASKING_TOPK_MARGIN:
        return PICK_MARGIN;
    case DLLM_REMASKING_ENTROPY:
        return PICK_NEG_ENTROPY;
    default:
        return PICK_PROBABILITY;
    }
}

/* Ids that must not be chosen, and those that wait. With temperature the
 * published defer policy leaves end-of-text alone; so does this. */
static void rules_open(struct run *run)
{
    const struct denoise_model *model = run->model;
    const struct dllm_generate_options *options = run->options;
    struct pick_rules *rules = &run->rules;

    *rules = (struct pick_rules){.method = model->dream ? PICK_DREAM : PICK_LLADA,
                                 .confidence = confidence_of(options->remasking),
                                 .temperature = options->temperature,
                                 .top_p = options->top_p,
                                 .top_k = options->top_k,
                                 .banned = run->work.banned,
                                 .deferred = run->work.deferred_ids,
                                 .runner_up = options->record_choices,
                                 .gap = options->early_commit,
                                 .seed = options->seed};
    run->work.banned[rules->banned_count++] = model->mask_id;
    for (int i = 0; i < model->unprintable_count; i++)
        run->work.banned[rules->banned_count++] = model->unprintable[i];
    if (options->eos_policy == DLLM_EOS_FORBID)
        run->work.banned[rules->banned_count++] = model->eos_id;
    if (options->eos_policy == DLLM_EOS_DEFER) {
        if (options->temperature == 0)
            run->work.deferred_ids[rules->deferred_count++] = model->eos_id;
        run->work.deferred_ids[rules->deferred_count++] = model->eot_id;
    }
}

/* --- one step --- */

/* Keeps the candidates whose coin says so, each with Dream's share. */
static int choose_origin(struct run *run, int count, double share)
{
    int32_t *positions = run->work.positions;
    int kept = 0;

    for (int i = 0; i < count; i++)
        if (rng_uniform(run->rules.seed, run->rules.step, (uint32_t)positions[i],
                        PICK_DRAW_REMASK) < share)
            positions[kept++] = positions[i];
    return kept;
}

/* Keeps `quota` of the candidates, those with the largest random confidence;
 * only they need to be scored. */
static int choose_random(struct run *run, int count, int quota)
{
    int32_t *positions = run->work.positions;
    struct rank *ranks = run->work.ranks;

    for (int i = 0; i < count; i++) {
        double u =
            rng_uniform(run->rules.seed, run->rules.step, (uint32_t)positions[i], PICK_DRAW_REMASK);
        ranks[i] = (struct rank){u, u, i};
    }
    rank_sort(ranks, count);
    for (int i = 0; i < quota; i++)
        ranks[i].key = -ranks[i].index; /* back into the order of positions */
    rank_sort(ranks, quota);
    for (int i = 0; i < quota; i++)
        positions[i] = positions[ranks[i].index];
    return quota;
}

/* The schedule's count for the step; `count` masks are left in the block. */
static int scheduled_count(const struct run *run, const struct block *block, int step, int count)
{
    if (run->adaptive)
        return count;
    if (run->model->dream)
        return schedule_dream_count(count, block->steps, step, run->eps);
    return MIN(count, schedule_llada_count(block->masks, block->steps, step));
}

/* Lists the positions to score; *quota of them are to be committed. */
static int choose_candidates(struct run *run, const struct block *block, int step, int *quota)
{
    int count = canvas_masks(&run->canvas, block->end, run->work.positions);

    if (run->options->remasking == DLLM_REMASKING_ORIGIN)
        return *quota =
                   choose_origin(run, count, schedule_dream_share(block->steps, step, run->eps));
    *quota = scheduled_count(run, block, step, count);
    if (run->options->remasking == DLLM_REMASKING_RANDOM)
        return choose_random(run, count, *quota);
    return count;
}

static enum dllm_status score(struct run *run, int count)
{
    const struct denoise_model *model = run->model;
    struct workspace *work = &run->work;
    struct window window = windows_next(&run->windows);
    int passes = run->canvas.unguided ? 2 : 1;
    struct denoise_request request = {.canvas = run->canvas.ids,
                                      .unguided = run->canvas.unguided,
                                      .cfg_scale = run->options->cfg_scale,
                                      .length = window.length,
                                      .low = window.low,
                                      .high = window.high,
                                      .rows = work->rows,
                                      .positions = work->positions,
                                      .count = count,
                                      .rules = &run->rules};

    for (int i = 0; i < count; i++)
        work->rows[i] = work->positions[i] - (model->shift_logits && work->positions[i] > 0);
    run->result->forward_passes += passes;
    run->result->rows_computed += (int64_t)passes * (window.high - window.low);
    return model->score(model->context, &request, work->picks, run->error);
}

/* Orders the picks; returns how many of the head to commit. */
static int order_picks(struct run *run, const struct block *block, int step, int count, int quota)
{
    const struct dllm_generate_options *options = run->options;
    struct workspace *work = &run->work;

    rank_by_confidence(work->picks, count, work->ranks);
    for (int i = 0; i < count; i++)
        work->confidences[i] = work->ranks[i].confidence;
    if (options->threshold > 0)
        return accept_threshold(work->confidences, count, options->threshold);
    if (options->factor > 0)
        return accept_factor(work->confidences, count, options->factor);
    if (options->entropy_bound > 0)
        return accept_entropy(work->confidences, count, options->entropy_bound);
    if (options->early_commit && accept_all(work->picks, count, step, block->steps))
        return count;
    if (options->alg_temp > 0)
        rank_draw(work->ranks, count, quota, options->alg_temp, work->positions, &run->rules);
    return quota;
}

static void commit(struct run *run, int quota)
{
    struct workspace *work = &run->work;

    for (int i = 0; i < quota; i++) {
        int32_t index = work->ranks[i].index;
        const struct pick *pick = &work->picks[index];
        work->committed[i] = work->positions[index];
        work->confidences[i] = work->ranks[i].confidence;
        work->choices[i] =
            (struct dllm_choice){pick->probability, pick->runner_up_probability, pick->runner_up};
        canvas_commit(&run->canvas, work->positions[index], pick->token);
    }
    if (!run->options->no_early_stop && canvas_answer_is_final(&run->canvas)) {
        run->result->stopped_early = run->canvas.masks_left > 0;
        run->over = true;
    }
}

static void report(struct run *run, int committed, double seconds)
{
    const struct canvas *canvas = &run->canvas;
    int region_start = canvas->gaps[0].start;
    int region_end = canvas_end_of(canvas, run->options->max_tokens);
    struct dllm_step step = {.step = run->result->steps,
                             .steps = run->steps,
                             .forward_passes = run->result->forward_passes,
                             .computed = committed > 0,
                             .seconds = seconds,
                             .canvas = canvas->ids,
                             .canvas_count = (size_t)canvas->length,
                             .region_start = (size_t)region_start,
                             .region_count = (size_t)(region_end - region_start),
                             .positions = run->work.committed,
                             .confidences = run->work.confidences,
                             .choices = run->options->record_choices ? run->work.choices : NULL,
                             .committed = (size_t)committed,
                             .masks_left = (size_t)canvas->masks_left,
                             .masks_at_start = (size_t)run->masks_at_start};

    if (run->adaptive)
        step.steps = step.step + 1 + canvas->masks_left;
    run->result->steps++;
    if (run->options->on_step && run->options->on_step(run->options->context, &step)) {
        run->result->interrupted = true;
        run->over = true;
    }
}

static enum dllm_status run_step(struct run *run, const struct block *block, int step)
{
    double began = clock_seconds();
    int count, quota;

    run->rules.step = (uint32_t)run->result->steps;
    count = choose_candidates(run, block, step, &quota);
    if (quota > 0) {
        TRY(score(run, count));
        quota = order_picks(run, block, step, count, quota);
        commit(run, quota);
    }
    report(run, quota, clock_seconds() - began);
    return DLLM_OK;
}

/* --- blocks --- */

static enum dllm_status run_block(struct run *run, struct block block)
{
    const int32_t *masks = run->work.positions;

    block.masks = canvas_masks(&run->canvas, block.end, run->work.positions);
    windows_enter_block(&run->windows, masks[0], masks[block.masks - 1] + 1);
    if (run->adaptive) {
        while (!run->over && canvas_masks(&run->canvas, block.end, NULL) > 0)
            TRY(run_step(run, &block, 0));
        return DLLM_OK;
    }
    for (int step = 0; step < block.steps && !run->over; step++)
        TRY(run_step(run, &block, step));
    return DLLM_OK;
}

static enum dllm_status run_blocks(struct run *run)
{
    const struct canvas *canvas = &run->canvas;
    int region = run->options->max_tokens;
    int blocks = schedule_block_count(region, run->block_length);

    for (int index = 0; index < blocks && !run->over; index++) {
        struct block block = {.end = canvas->length};
        if (index < blocks - 1)
            block.end = canvas_end_of(canvas, (index + 1) * run->block_length);
        if (!run->adaptive)
            block.steps = schedule_block_steps(region, run->block_length, run->steps, index);
        TRY(run_block(run, block));
    }
    return DLLM_OK;
}

enum dllm_status denoise_run(const struct denoise_model *model, const struct denoise_canvas *canvas,
                             const struct dllm_generate_options *options,
                             struct denoise_result *result, struct dllm_error *error)
{
    int region = options->max_tokens;
    struct run run = {.model = model,
                      .options = options,
                      .result = result,
                      .error = error,
                      .canvas = {canvas->ids, NULL, canvas->length, canvas->gaps, canvas->gap_count,
                                 model->mask_id, model->eos_id, model->eot_id, 0},
                      .eps = options->eps > 0 ? options->eps : DEFAULT_EPS,
                      .block_length = region,
                      .steps = options->steps > 0 ? options->steps : region,
                      .adaptive = denoise_is_adaptive(options)};
    enum dllm_status status;
    size_t masks, bytes;
    void *memory;

    *result = (struct denoise_result){0};
    TRY(denoise_check(model, options, error));
    TRY(canvas_check(&run.canvas, options->max_tokens, options->suffix_window > 0, error));
    if (options->block_length > 0)
        run.block_length = MIN(options->block_length, region);
    masks = (size_t)canvas_masks(&run.canvas, canvas->length, NULL);
    run.masks_at_start = (int)masks;
    bytes = workspace_bytes(&run, masks);
    memory = malloc(bytes);
    if (!memory)
        return status_no_memory(error, bytes);
    workspace_cut(&run, memory, masks);
    rules_open(&run);
    canvas_open(&run.canvas);
    canvas_masks(&run.canvas, canvas->length, run.work.positions);
    run.windows = windows_open(options, model->shift_logits, canvas->length, run.work.positions[0]);
    status = run_blocks(&run);
    free(memory);
    return status;
}

int denoise_answer_length(const struct denoise_model *model, const int32_t *region, int count,
                          bool *ended)
{
    int length = 0;

    while (length < count && region[length] != model->mask_id && region[length] != model->eos_id &&
           region[length] != model->eot_id)
        length++;
    *ended = length < count && region[length] != model->mask_id;
    return length;
}
