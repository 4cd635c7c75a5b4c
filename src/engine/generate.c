/*
 * generate.c: joins the denoising loop to the model: the loop asks for picks,
 * a forward pass answers; each step is timed and looked at for stop strings.
 */
#include "answer.h"

#include "clock.h"

#include <stdlib.h>
#include <string.h>

struct generation {
    struct dllm_session *session;
    const struct dllm_generate_options *options;
    struct denoise_model model;
    int32_t *canvas; /* [length] */
    int length, region_start;
    struct dllm_timings *timings;
    double *step_seconds; /* [step_limit] */
    int step_limit;
    bool stop_found;         /* a stop string is in the resolved part of the answer */
    int resolved;            /* length of that part when it was last looked at */
    double callback_seconds; /* the caller's own, no part of the run */
};

/* --- scores --- */

/* Runs the pass over the canvas, and under guidance over both in one. */
static void run_pass(struct forward *forward, const struct denoise_request *request)
{
    struct forward_canvas canvases[2] = {{.ids = request->canvas,
                                          .length = request->length,
                                          .high = request->length,
                                          .rows = request->rows,
                                          .count = request->count}};

    canvases[1] = canvases[0];
    canvases[1].ids = request->unguided;
    forward_run(forward, canvases, request->unguided ? 2 : 1);
}

static enum dllm_status pick_chunk(struct generation *generation,
                                   const struct denoise_request *request, int first, int count,
                                   struct pick *picks, struct dllm_error *error)
{
    struct forward *forward = generation->session->forward;
    struct backend_rows rows = {.count = count};

    rows.buffer = request->unguided
                      ? forward_logits_guided(forward, first, count, request->cfg_scale)
                      : forward_logits(forward, first, count);
    return backend_pick_rows(generation->session->engine->backend, rows, request->rules,
                             request->positions + first, picks + first, error);
}

/* Logits and picks of all rows, as many at a time as the workspace holds. */
static enum dllm_status pick_all(struct generation *generation,
                                 const struct denoise_request *request, struct pick *picks,
                                 struct dllm_error *error)
{
    int chunk = forward_limits_of(generation->session->forward).rows / (request->unguided ? 2 : 1);

    for (int first = 0; first < request->count; first += chunk)
        TRY(pick_chunk(generation, request, first, MIN(chunk, request->count - first), picks,
                       error));
    return DLLM_OK;
}

/* whole is the profile of body and head. */
static void add_products(struct dllm_products *products, const struct backend_profile *whole)
{
    products->seconds += whole->matmul;
    products->int8_operations += whole->int8_operations;
    products->float_operations += whole->float_operations;
    products->weight_bytes += whole->weight_bytes;
}

static void add_times(struct dllm_timings *timings, const struct backend_profile *body,
                      double body_seconds, double head_seconds)
{
    double rest = body_seconds - body->matmul - body->attention;

    timings->matmul_seconds += body->matmul;
    timings->attention_seconds += body->attention;
    timings->rest_seconds += rest > 0 ? rest : 0;
    timings->head_seconds += head_seconds;
}

/* The loop's score callback. */
static enum dllm_status score(void *context, const struct denoise_request *request,
                              struct pick *picks, struct dllm_error *error)
{
    struct generation *generation = context;
    struct dllm_engine *engine = generation->session->engine;
    struct backend_profile body, whole;
    enum dllm_status status;
    double start, middle;

    lock_take(engine->lock);
    backend_profile_reset(engine->backend);
    start = clock_seconds();
    run_pass(generation->session->forward, request);
    body = backend_profile_read(engine->backend);
    middle = clock_seconds();
    status = pick_all(generation, request, picks, error);
    add_times(generation->timings, &body, middle - start, clock_seconds() - middle);
    whole = backend_profile_read(engine->backend);
    add_products(&generation->timings->products, &whole);
    lock_release(engine->lock);
    return status;
}

/* --- steps --- */

static struct answer_source answer_source(const struct generation *generation)
{
    return (struct answer_source){
        .tokenizer = generation->session->engine->tokenizer,
        .model = &generation->model,
        .region = generation->canvas + generation->region_start,
        .count = generation->options->max_tokens,
        .stop = generation->options->stop,
        .stop_count = generation->options->stop_count,
    };
}

/* Looks for stop strings when more of the answer's beginning is resolved. A
 * failure here (no memory) will show again when the answer is built. */
static void look_for_stop(struct generation *generation)
{
    struct answer_source source = answer_source(generation);
    struct answer answer;
    bool ended;
    int resolved = denoise_answer_length(source.model, source.region, source.count, &ended);

    if (resolved <= generation->resolved)
        return;
    generation->resolved = resolved;
    if (answer_build(&source, &answer, NULL) == DLLM_OK) {
        generation->stop_found = answer.stopped;
        dllm_text_free(&answer.text);
    }
}

/* Between the loop and the caller's callback. */
static int on_step(void *context, const struct dllm_step *step)
{
    struct generation *generation = context;
    const struct dllm_generate_options *options = generation->options;
    int stop = 0;

    if (step->computed && generation->timings->computed_steps < generation->step_limit)
        generation->step_seconds[generation->timings->computed_steps++] = step->seconds;
    if (options->stop_count && !options->no_early_stop && step->masks_left)
        look_for_stop(generation);
    if (options->on_step) {
        double began = clock_seconds();
        stop = options->on_step(options->context, step);
        generation->callback_seconds += clock_seconds() - began;
    }
    if (stop)
        generation->stop_found = false;
    return stop || generation->stop_found;
}

/* --- a run --- */

/* The sum; SIZE_MAX if it does not fit. */
static size_t canvas_length(size_t prompt, size_t region, size_t suffix)
{
    size_t length;

    if (__builtin_add_overflow(prompt, region, &length) ||
        __builtin_add_overflow(length, suffix, &length))
        return SIZE_MAX;
    return length;
}

static enum dllm_status check(struct generation *generation, size_t prompt_count,
                              const int32_t *prompt, struct dllm_error *error)
{
    const struct dllm_session *session = generation->session;
    const struct dllm_generate_options *options = generation->options;

    TRY(denoise_check(&generation->model, options, error));
    TRY(session_check_length(
        session, canvas_length(prompt_count, (size_t)options->max_tokens, options->suffix_count),
        options->allow_long, error));
    TRY(session_check_ids(session, prompt, prompt_count, "prompt", error));
    return session_check_ids(session, options->suffix, options->suffix_count, "suffix", error);
}

static int count_masks(const struct generation *generation)
{
    int masks = 0;

    for (int i = 0; i < generation->length; i++)
        masks += generation->canvas[i] == generation->model.mask_id;
    return masks;
}

/* Rows that a step scores at most: a block and the masks outside the region,
 * which belong to the first one. */
static int rows_of_step(const struct generation *generation, int masks)
{
    const struct dllm_generate_options *options = generation->options;
    int block = options->block_length ? options->block_length : options->max_tokens;

    return MIN(block, options->max_tokens) + masks - options->max_tokens;
}

/* Copies count ids to the canvas at *at, which moves behind them. */
static void put_ids(struct generation *generation, int *at, const int32_t *ids, size_t count)
{
    if (count)
        memcpy(generation->canvas + *at, ids, count * sizeof *ids);
    *at += (int)count;
}

/* Lays out prompt, masks and suffix and makes room for the passes. */
static enum dllm_status lay_out(struct generation *generation, const int32_t *prompt,
                                size_t prompt_count, struct dllm_error *error)
{
    const struct dllm_generate_options *options = generation->options;
    struct forward_limits limits = {.canvases = options->cfg_scale > 0 ? 2 : 1};
    int at = 0, masks;

    generation->region_start = (int)prompt_count;
    generation->length = (int)(prompt_count + (size_t)options->max_tokens + options->suffix_count);
    generation->canvas = malloc((size_t)generation->length * sizeof *generation->canvas);
    if (!generation->canvas)
        return status_no_memory(error, (size_t)generation->length * sizeof *generation->canvas);
    put_ids(generation, &at, prompt, prompt_count);
    for (int i = 0; i < options->max_tokens; i++)
        generation->canvas[at++] = generation->model.mask_id;
    put_ids(generation, &at, options->suffix, options->suffix_count);
    masks = count_masks(generation);
    /* A step that is computed is in the schedule or commits at least one mask. */
    generation->step_limit = MAX(MAX(options->steps, options->max_tokens), masks);
    generation->step_seconds =
        malloc((size_t)generation->step_limit * sizeof *generation->step_seconds);
    if (!generation->step_seconds)
        return status_no_memory(error,
                                (size_t)generation->step_limit * sizeof *generation->step_seconds);
    limits.length = generation->length;
    limits.rows = limits.canvases * rows_of_step(generation, masks);
    return session_reserve(generation->session, &limits, error);
}

static enum dllm_finish finish_of(const struct generation *generation,
                                  const struct denoise_result *run, const struct answer *answer)
{
    if (run->interrupted && !generation->stop_found)
        return DLLM_FINISH_INTERRUPTED;
    if (answer->stopped)
        return DLLM_FINISH_STOP;
    return answer->ended ? DLLM_FINISH_EOS : DLLM_FINISH_LENGTH;
}

/* Moves the region's ids, its text and the step times into the result. */
static enum dllm_status take_result(struct generation *generation, const struct denoise_result *run,
                                    struct dllm_result *result, struct dllm_error *error)
{
    struct answer_source source = answer_source(generation);
    size_t bytes = (size_t)source.count * sizeof *source.region;
    struct answer answer;

    result->ids.ids = malloc(bytes);
    if (!result->ids.ids)
        return status_no_memory(error, bytes);
    memcpy(result->ids.ids, source.region, bytes);
    result->ids.count = (size_t)source.count;
    TRY(answer_build(&source, &answer, error));
    result->text = answer.text;
    result->answer_tokens = answer.tokens;
    result->finish = finish_of(generation, run, &answer);
    result->forward_passes = run->forward_passes;
    result->steps = run->steps;
    result->stopped_early = run->stopped_early || generation->stop_found;
    result->timings.step_seconds = generation->step_seconds;
    generation->step_seconds = NULL;
    return DLLM_OK;
}

static enum dllm_status denoise(struct generation *generation, struct denoise_result *run,
                                struct dllm_error *error)
{
    struct dllm_generate_options options = *generation->options;
    double start = clock_seconds();

    options.on_step = on_step;
    options.context = generation;
    TRY(denoise_run(&generation->model, generation->canvas, generation->length,
                    generation->region_start, &options, run, error));
    generation->timings->generate_seconds = clock_seconds() - start - generation->callback_seconds;
    return DLLM_OK;
}

enum dllm_status dllm_generate(struct dllm_session *session, const int32_t *prompt,
                               size_t prompt_count, const struct dllm_generate_options *options,
                               struct dllm_result *result, struct dllm_error *error)
{
    struct generation generation = {
        .session = session,
        .options = options,
        .model = engine_denoise_model(session->engine),
        .timings = &result->timings,
    };
    struct denoise_result run = {0};
    enum dllm_status status;

    *result = (struct dllm_result){0};
    generation.model.score = score;
    generation.model.context = &generation;
    TRY_GOTO(check(&generation, prompt_count, prompt, error));
    TRY_GOTO(lay_out(&generation, prompt, prompt_count, error));
    TRY_GOTO(denoise(&generation, &run, error));
    TRY_GOTO(take_result(&generation, &run, result, error));
    status = DLLM_OK;
fail:
    if (status)
        dllm_result_free(result);
    free(generation.step_seconds);
    free(generation.canvas);
    return status;
}
