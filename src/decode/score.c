/*
 * score.c: batches of samples; in each, how many tokens every sample masks, which
 * ones, and their cross entropies from the model, as many canvases at once as it
 * takes. Samples with the same masks have the same loss, which is computed once.
 */
#include "score.h"

#include "compiler.h"
#include "mask_sets.h"
#include "rank.h"
#include "rng.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Draws of rng_uniform: DRAW_ORDER at (sample, token of the answer), DRAW_FIRST at
 * (batch, 0). */
enum { DRAW_ORDER = 0, DRAW_FIRST = 1 };

/* So that sums of counts fit in an int, means in memory. */
enum { SAMPLES_MOST = 1000000 };

struct run {
    const struct score_model *model;
    const struct dllm_score_query *query;
    const struct dllm_score_options *options;
    struct dllm_likelihood *result;
    struct dllm_error *error;
    int length, tokens, batch, at_once;
    struct mask_sets sets;
    int queued;                    /* canvases laid out, not yet run */
    int first_queued;              /* set of the first of them; the others' follow */
    double *losses;                /* [at_once, tokens] */
    double *sums;                  /* [batch] each sample's part of the estimate */
    struct rank *ranks;            /* [tokens] */
    struct score_canvas *canvases; /* [at_once] */
    int *counts;                   /* [batch] masked tokens */
    int *set_of;                   /* [batch] */
    int32_t *targets;              /* [at_once, tokens] */
    double *means;                 /* [batches] of the sums */
};

/* torch.linspace from both ends to the middle. */
void score_mask_counts(int first, int answer_count, int count, int *counts)
{
    float begin = (float)first;
    float end = (float)(first + (count - 1) * ((double)answer_count / count));
    float step = count > 1 ? (end - begin) / (float)(count - 1) : 0.0f;

    for (int i = 0; i < count; i++) {
        float x = i < count / 2 ? begin + step * (float)i : end - step * (float)(count - 1 - i);
        counts[i] = ((int)rintf(x) - 1) % answer_count + 1;
    }
}

/* --- set up --- */

/* What needs something before the answer. */
static enum dllm_status check_empty_prompt(const struct score_model *model,
                                           const struct dllm_score_options *options,
                                           struct dllm_error *error)
{
    if (model->shift_logits)
        return status_fail(error, DLLM_ERROR_USAGE,
                           "the prompt is empty, but this model scores a token by the row of the "
                           "one before it, and the answer's first has none; a prompt of at least "
                           "one token was expected, such as the one that begins a text");
    if (options->cfg_scale > 0)
        return status_fail(error, DLLM_ERROR_USAGE,
                           "cfg_scale is %g, but the prompt is empty: guidance compares with a "
                           "pass that does not see the prompt; 0 was expected",
                           options->cfg_scale);
    return DLLM_OK;
}

enum dllm_status score_check(const struct score_model *model, const struct dllm_score_query *query,
                             const struct dllm_score_options *options, struct dllm_error *error)
{
    if (options->samples < 1 || options->samples > SAMPLES_MOST)
        return status_fail(error, DLLM_ERROR_USAGE,
                           "samples is %d; a number from 1 to %d was expected", options->samples,
                           SAMPLES_MOST);
    if (options->batch < 1)
        return status_fail(error, DLLM_ERROR_USAGE,
                           "batch is %d; a number of at least 1 was expected", options->batch);
    if (!(options->cfg_scale >= 0) || isinf(options->cfg_scale))
        return status_fail(error, DLLM_ERROR_USAGE,
                           "cfg_scale is %g; a number of at least 0 was expected",
                           options->cfg_scale);
    if (query->prompt_count == 0)
        TRY(check_empty_prompt(model, options, error));
    if (query->answer_count == 0)
        return status_fail(error, DLLM_ERROR_USAGE,
                           "the answer is empty; at least one token was expected");
    for (size_t i = 0; i < query->answer_count; i++)
        if (query->answer[i] == model->mask_id)
            return status_fail(error, DLLM_ERROR_USAGE,
                               "token %zu of the answer is the model's mask; tokens of a text were "
                               "expected",
                               i);
    return DLLM_OK;
}

/* Cuts all arrays from one block, what is aligned to 8 bytes first; counts its bytes if
 * memory is NULL. */
static size_t cut(struct run *run, char *memory)
{
    size_t batch = (size_t)run->batch;
    size_t tokens = (size_t)run->tokens, length = (size_t)run->length;
    size_t at_once = (size_t)run->at_once;
    size_t ids = at_once * (length * 2 + tokens * 2) + 2 * batch;
    size_t batches = (size_t)DIV_UP(run->options->samples, run->batch);
    size_t bytes = (at_once * tokens + batch + batches) * sizeof *run->losses +
                   tokens * sizeof *run->ranks + at_once * sizeof *run->canvases;
    int32_t *at;

    if (!memory)
        return bytes + ids * sizeof *at;
    run->losses = (double *)(void *)memory;
    run->sums = run->losses + at_once * tokens;
    run->means = run->sums + batch;
    run->ranks = (struct rank *)(run->means + batches);
    run->canvases = (struct score_canvas *)(run->ranks + tokens);
    at = (int32_t *)(void *)(memory + bytes);
    for (size_t i = 0; i < at_once; i++, at += length * 2 + tokens)
        run->canvases[i] =
            (struct score_canvas){.ids = at,
                                  .unguided = run->options->cfg_scale > 0 ? at + length : NULL,
                                  .rows = at + length * 2};
    run->targets = at;
    run->counts = at + at_once * tokens;
    run->set_of = run->counts + batch;
    return bytes + ids * sizeof *at;
}

/* --- one sample --- */

/* Masks the tokens with the largest of their random numbers. */
static void mask_tokens(const struct run *run, int sample, int count, int32_t *answer)
{
    for (int i = 0; i < run->tokens; i++) {
        double u = rng_uniform(run->options->seed, (uint32_t)sample, (uint32_t)i, DRAW_ORDER);
        run->ranks[i] = (struct rank){u, u, i};
    }
    rank_sort(run->ranks, run->tokens);
    for (int i = 0; i < count; i++)
        answer[run->ranks[i].index] = run->model->mask_id;
}

/* Rows and targets of the masks of a canvas; the targets' number. */
static int list_masked(const struct run *run, struct score_canvas *canvas, int32_t *targets)
{
    int prompt = (int)run->query->prompt_count;

    canvas->count = 0;
    for (int i = 0; i < run->tokens; i++)
        if (canvas->ids[prompt + i] == run->model->mask_id) {
            canvas->rows[canvas->count] = prompt + i - run->model->shift_logits;
            targets[canvas->count++] = run->query->answer[i];
        }
    return canvas->count;
}

/* Fills the canvas of a sample that masks `count` tokens. */
static void lay_out(const struct run *run, int sample, int count, struct score_canvas *canvas)
{
    size_t prompt = run->query->prompt_count, tokens = (size_t)run->tokens;

    if (prompt)
        memcpy(canvas->ids, run->query->prompt, prompt * sizeof *canvas->ids);
    memcpy(canvas->ids + prompt, run->query->answer, tokens * sizeof *canvas->ids);
    mask_tokens(run, sample, count, canvas->ids + prompt);
    if (!canvas->unguided)
        return;
    for (size_t i = 0; i < prompt; i++)
        canvas->unguided[i] = run->model->mask_id;
    memcpy(canvas->unguided + prompt, canvas->ids + prompt, tokens * sizeof *canvas->ids);
}

/* The sample's loss, from the cross entropies of its masked tokens. */
static enum dllm_status add_up(const struct run *run, const struct score_canvas *canvas,
                               const double *losses, double *out)
{
    double sum = 0;

    for (int i = 0; i < canvas->count; i++) {
        if (!isfinite(losses[i]))
            return status_fail(run->error, DLLM_ERROR_NUMERIC,
                               "row %d of the scores gives the answer's token there no finite "
                               "probability; the model file is damaged or its activations "
                               "overflow: compare it with its source",
                               (int)canvas->rows[i]);
        sum += losses[i];
    }
    *out = sum / ((double)canvas->count / run->tokens);
    return DLLM_OK;
}

/* --- batches --- */

/* The losses of the sets that wait. */
static enum dllm_status run_queued(struct run *run)
{
    struct score_request request = {.canvases = run->canvases,
                                    .canvas_count = run->queued,
                                    .length = run->length,
                                    .targets = run->targets,
                                    .cfg_scale = run->options->cfg_scale};
    const double *losses = run->losses;

    if (run->queued == 0)
        return DLLM_OK;
    for (int i = 0; i < run->queued; i++)
        request.target_count +=
            list_masked(run, &run->canvases[i], run->targets + request.target_count);
    TRY(run->model->losses(run->model->context, &request, run->losses, run->error));
    run->result->forward_passes += run->options->cfg_scale > 0 ? 2 * run->queued : run->queued;
    for (int i = 0; i < run->queued; i++) {
        TRY(add_up(run, &run->canvases[i], losses, &run->sets.losses[run->first_queued + i]));
        losses += run->canvases[i].count;
    }
    run->first_queued += run->queued;
    run->queued = 0;
    return DLLM_OK;
}

/* Samples [first, first + count) of the run into sums. */
static enum dllm_status run_samples(struct run *run, int first, int count)
{
    size_t prompt = run->query->prompt_count;

    run->first_queued = run->sets.count;
    for (int i = 0; i < count; i++) {
        struct score_canvas *canvas = &run->canvases[run->queued];
        bool added;
        lay_out(run, first + i, run->counts[i], canvas);
        run->set_of[i] = mask_sets_find(&run->sets, canvas->ids + prompt, run->tokens,
                                        run->model->mask_id, &added);
        run->queued += added;
        if (run->queued == run->at_once)
            TRY(run_queued(run));
    }
    TRY(run_queued(run));
    for (int i = 0; i < count; i++)
        run->sums[i] = run->sets.losses[run->set_of[i]];
    mask_sets_end_batch(&run->sets);
    return DLLM_OK;
}

static double mean_of(const double *values, int count)
{
    double sum = 0;

    for (int i = 0; i < count; i++)
        sum += values[i];
    return sum / count;
}

static enum dllm_status run_batch(struct run *run, int index, int first, int count)
{
    double u = rng_uniform(run->options->seed, (uint32_t)index, 0, DRAW_FIRST);
    int first_count = 1 + MIN((int)(u * run->tokens), run->tokens - 1);

    score_mask_counts(first_count, run->tokens, count, run->counts);
    TRY(run_samples(run, first, count));
    run->means[index] = mean_of(run->sums, count);
    return DLLM_OK;
}

static enum dllm_status run_batches(struct run *run)
{
    const struct dllm_score_options *options = run->options;
    int index = 0;

    for (int first = 0; first < options->samples; first += run->batch) {
        int count = MIN(run->batch, options->samples - first);
        TRY(run_batch(run, index++, first, count));
        if (options->on_samples &&
            options->on_samples(options->context, first + count, options->samples))
            return status_fail(run->error, DLLM_INTERRUPTED, "the callback ended the estimate");
    }
    return DLLM_OK;
}

/* The mean over all samples. Those of a batch lie evenly apart, so that only batches are
 * independent of each other: the error comes from how their means differ. */
static void conclude(const struct run *run)
{
    int samples = run->options->samples, batches = DIV_UP(samples, run->batch);
    double mean = 0, square = 0;

    for (int i = 0; i < batches; i++)
        mean += run->means[i] * MIN(run->batch, samples - i * run->batch) / samples;
    for (int i = 0; i < batches; i++) {
        double share = (double)MIN(run->batch, samples - i * run->batch) / samples;
        square += share * share * (run->means[i] - mean) * (run->means[i] - mean);
    }
    run->result->log_likelihood = -mean;
    run->result->standard_error = batches > 1 ? sqrt(square * batches / (batches - 1)) : NAN;
    run->result->samples = samples;
}

enum dllm_status score_run(const struct score_model *model, const struct dllm_score_query *query,
                           const struct dllm_score_options *options, struct dllm_likelihood *result,
                           struct dllm_error *error)
{
    struct run run = {.model = model,
                      .query = query,
                      .options = options,
                      .result = result,
                      .error = error,
                      .length = (int)(query->prompt_count + query->answer_count),
                      .tokens = (int)query->answer_count};
    enum dllm_status status;
    size_t bytes;
    void *memory;

    *result = (struct dllm_likelihood){0};
    TRY(score_check(model, query, options, error));
    run.batch = MIN(options->batch, options->samples);
    run.at_once = MIN(model->canvases_at_once, run.batch);
    bytes = cut(&run, NULL);
    TRY(mask_sets_create(&run.sets, run.tokens, run.batch, error));
    memory = malloc(bytes);
    if (memory) {
        cut(&run, memory);
        status = run_batches(&run);
    } else {
        status = status_no_memory(error, bytes);
    }
    if (status == DLLM_OK)
        conclude(&run);
    free(memory);
    mask_sets_free(&run.sets);
    return status;
}
