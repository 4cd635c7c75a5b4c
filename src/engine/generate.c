/*
 * generate.c: joins the denoising loop to the model: the loop asks for picks,
 * a forward pass answers; each step is timed and looked at for stop strings.
 */
#include "generation.h"

#include "clock.h"
#include "shared.h"

#include <stdlib.h>
#include <string.h>

struct generation generation_of(struct dllm_session *session,
                                const struct dllm_generate_options *options)
{
    return (struct generation){.session = session,
                               .caller = options,
                               .options = *options,
                               .model = engine_denoise_model(session->engine)};
}

/* --- scores --- */

/* Runs the pass over the canvas, and under guidance over both in one. */
static void run_pass(struct forward *forward, const void *context)
{
    const struct denoise_request *request = context;
    struct forward_canvas canvases[2] = {{.ids = request->canvas,
                                          .length = request->length,
                                          .low = request->low,
                                          .high = request->high,
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

    rows.buffer = request->unguided ? forward_logits_guided(forward, first, request->count + first,
                                                            count, request->cfg_scale)
                                    : forward_logits(forward, first, count);
    return backend_pick_rows(generation->session->place.main, rows, request->rules,
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
    timings->pass_sessions = 1;
}

/* On a GPU. Where bad numbers come from is looked for in a pass of its own, which has
 * nothing kept from others. */
static enum dllm_status score_shared(struct generation *generation,
                                     const struct denoise_request *request, struct pick *picks,
                                     struct dllm_error *error)
{
    struct dllm_session *session = generation->session;
    enum dllm_status status = shared_score(session, request, picks, generation->timings, error);
    bool whole = request->low == 0 && request->high == request->length;

    if (status != DLLM_ERROR_NUMERIC)
        return status;
    whole = whole && session_reserve(session, &generation->limits, NULL) == DLLM_OK;
    lock_take(session->lock);
    session_explain(session, whole ? run_pass : NULL, request, error);
    lock_release(session->lock);
    return status;
}

/* The loop's score callback. */
static enum dllm_status score(void *context, const struct denoise_request *request,
                              struct pick *picks, struct dllm_error *error)
{
    struct generation *generation = context;
    struct dllm_session *session = generation->session;
    struct backend_profile body, whole;
    enum dllm_status status;
    double start, middle;

    if (session->engine->shared)
        return score_shared(generation, request, picks, error);
    lock_take(session->lock);
    placement_profile_reset(&session->place);
    start = clock_seconds();
    run_pass(session->forward, request);
    backend_wait(session->place.main, NULL); /* the picks tell what failed */
    body = placement_profile_read(&session->place);
    middle = clock_seconds();
    status = pick_all(generation, request, picks, error);
    if (status == DLLM_ERROR_NUMERIC)
        session_explain(session, run_pass, request, error);
    add_times(generation->timings, &body, middle - start, clock_seconds() - middle);
    whole = placement_profile_read(&session->place);
    add_products(&generation->timings->products, &whole);
    lock_release(session->lock);
    return status;
}

/* --- steps --- */

static struct answer_source answer_source(const struct generation *generation, int gap)
{
    return (struct answer_source){
        .tokenizer = generation->session->engine->tokenizer,
        .model = &generation->model,
        .region = generation->canvas + generation->gaps[gap].start,
        .count = generation->gaps[gap].count,
        .stop = generation->options.stop,
        .stop_count = generation->options.stop_count,
    };
}

/* Whether a gap's text can no longer change; *stopped: because of a stop string. A
 * failure here (no memory) will show again when the answer is built. */
static bool gap_is_final(const struct generation *generation, int gap, bool *stopped)
{
    struct answer_source source = answer_source(generation, gap);
    struct answer answer;
    bool final;

    if (answer_build(&source, &answer, NULL))
        return false;
    *stopped |= answer.stopped;
    final = answer.stopped || answer.ended || answer.tokens == source.count;
    dllm_text_free(&answer.text);
    return final;
}

/* Tokens at the gaps' beginnings that are resolved, end tokens included. */
static int count_resolved(const struct generation *generation)
{
    int count = 0;
    bool ended;

    for (int gap = 0; gap < generation->gap_count; gap++) {
        struct answer_source source = answer_source(generation, gap);
        count += denoise_answer_length(source.model, source.region, source.count, &ended);
        count += ended;
    }
    return count;
}

/* Looks for stop strings when more is resolved. */
static void look_for_stop(struct generation *generation)
{
    int resolved = count_resolved(generation);
    bool stopped = false, final = true;

    if (resolved <= generation->resolved)
        return;
    generation->resolved = resolved;
    for (int gap = 0; gap < generation->gap_count && final; gap++)
        final = gap_is_final(generation, gap, &stopped);
    generation->stop_found = final && stopped;
}

/* Between the loop and the caller's callback. */
static int on_step(void *context, const struct dllm_step *step)
{
    struct generation *generation = context;
    const struct dllm_generate_options *options = generation->caller;
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

/* Makes room for the passes and the times of the steps. */
static enum dllm_status make_room(struct generation *generation, struct dllm_error *error)
{
    const struct dllm_generate_options *options = &generation->options;
    size_t bytes;
    int masks = 0;

    for (int i = 0; i < generation->length; i++)
        masks += generation->canvas[i] == generation->model.mask_id;
    /* A step that is computed is in the schedule or commits at least one mask. */
    generation->step_limit = MAX(MAX(options->steps, options->max_tokens), masks);
    bytes = (size_t)generation->step_limit * sizeof *generation->step_seconds;
    generation->step_seconds = malloc(bytes);
    if (!generation->step_seconds)
        return status_no_memory(error, bytes);
    generation->limits = engine_generate_limits(options, generation->length, masks);
    if (!generation->session->engine->shared)
        return session_reserve(generation->session, &generation->limits, error);
    TRY(shared_join(generation->session, &generation->limits, error));
    generation->joined = true;
    return DLLM_OK;
}

static enum dllm_status denoise(struct generation *generation, struct denoise_result *run,
                                struct dllm_error *error)
{
    struct denoise_canvas canvas = {generation->canvas, generation->length, generation->gaps,
                                    generation->gap_count};
    double start = clock_seconds();

    generation->model.score = score;
    generation->model.context = generation;
    generation->options.on_step = on_step;
    generation->options.context = generation;
    TRY(denoise_run(&generation->model, &canvas, &generation->options, run, error));
    generation->timings->generate_seconds = clock_seconds() - start - generation->callback_seconds;
    return DLLM_OK;
}

static enum dllm_finish finish_of_gap(const struct answer *answer, int count, bool interrupted)
{
    if (answer->stopped)
        return DLLM_FINISH_STOP;
    if (answer->ended)
        return DLLM_FINISH_EOS;
    return interrupted && answer->tokens < count ? DLLM_FINISH_INTERRUPTED : DLLM_FINISH_LENGTH;
}

static enum dllm_status take_gaps(const struct generation *generation, bool interrupted,
                                  struct dllm_result *result, struct dllm_error *error)
{
    result->gaps = calloc((size_t)generation->gap_count, sizeof *result->gaps);
    if (!result->gaps)
        return status_no_memory(error, (size_t)generation->gap_count * sizeof *result->gaps);
    result->gap_count = (size_t)generation->gap_count;
    for (int i = 0; i < generation->gap_count; i++) {
        struct answer_source source = answer_source(generation, i);
        struct answer answer;
        TRY(answer_build(&source, &answer, error));
        result->gaps[i] =
            (struct dllm_gap){.start = (size_t)generation->gaps[i].start,
                              .count = (size_t)source.count,
                              .text = answer.text,
                              .tokens = answer.tokens,
                              .finish = finish_of_gap(&answer, source.count, interrupted)};
        result->answer_tokens += answer.tokens;
        result->finish = result->gaps[i].finish;
    }
    if (interrupted)
        result->finish = DLLM_FINISH_INTERRUPTED;
    return DLLM_OK;
}

enum dllm_status generation_run(struct generation *generation, struct dllm_result *result,
                                struct dllm_error *error)
{
    struct denoise_result run = {0};
    enum dllm_status status;
    bool interrupted;

    generation->timings = &result->timings;
    TRY(make_room(generation, error));
    status = denoise(generation, &run, error);
    if (generation->joined)
        shared_leave(generation->session);
    TRY(status);
    interrupted = run.interrupted && !generation->stop_found;
    TRY(take_gaps(generation, interrupted, result, error));
    result->forward_passes = run.forward_passes;
    result->rows_computed = run.rows_computed;
    result->workspace_bytes = dllm_session_workspace_bytes(generation->session);
    result->steps = run.steps;
    result->stopped_early = run.stopped_early || generation->stop_found;
    result->timings.step_seconds = generation->step_seconds;
    generation->step_seconds = NULL;
    return DLLM_OK;
}

void generation_free(struct generation *generation)
{
    free(generation->step_seconds);
    free(generation->gaps);
    free(generation->canvas);
}

/* --- a prompt, a region, a suffix --- */

/* The sum; SIZE_MAX if it does not fit. */
static size_t canvas_length(size_t prompt, size_t region, size_t suffix)
{
    size_t length;

    if (__builtin_add_overflow(prompt, region, &length) ||
        __builtin_add_overflow(length, suffix, &length))
        return SIZE_MAX;
    return length;
}

static enum dllm_status check(const struct generation *generation, const int32_t *prompt,
                              size_t prompt_count, struct dllm_error *error)
{
    const struct dllm_session *session = generation->session;
    const struct dllm_generate_options *options = &generation->options;

    TRY(denoise_check(&generation->model, options, error));
    TRY(session_check_length(
        session, canvas_length(prompt_count, (size_t)options->max_tokens, options->suffix_count),
        options->allow_long, error));
    TRY(session_check_ids(session, prompt, prompt_count, "prompt", error));
    return session_check_ids(session, options->suffix, options->suffix_count, "suffix", error);
}

/* Copies count ids to the canvas at *at, which moves behind them. */
static void put_ids(struct generation *generation, int *at, const int32_t *ids, size_t count)
{
    if (count)
        memcpy(generation->canvas + *at, ids, count * sizeof *ids);
    *at += (int)count;
}

static enum dllm_status lay_out(struct generation *generation, const int32_t *prompt,
                                size_t prompt_count, struct dllm_error *error)
{
    const struct dllm_generate_options *options = &generation->options;
    int at = 0;

    generation->length = (int)(prompt_count + (size_t)options->max_tokens + options->suffix_count);
    generation->canvas = malloc((size_t)generation->length * sizeof *generation->canvas);
    generation->gaps = malloc(sizeof *generation->gaps);
    if (!generation->canvas || !generation->gaps)
        return status_no_memory(error, (size_t)generation->length * sizeof *generation->canvas);
    put_ids(generation, &at, prompt, prompt_count);
    generation->gaps[0] = (struct canvas_gap){at, options->max_tokens};
    generation->gap_count = 1;
    for (int i = 0; i < options->max_tokens; i++)
        generation->canvas[at++] = generation->model.mask_id;
    put_ids(generation, &at, options->suffix, options->suffix_count);
    return DLLM_OK;
}

/* The region's ids and the text of its one gap. */
static enum dllm_status take_region(const struct generation *generation, struct dllm_result *result,
                                    struct dllm_error *error)
{
    const struct dllm_gap *gap = result->gaps;

    result->ids.ids = malloc(gap->count * sizeof *result->ids.ids);
    result->text.data = malloc(gap->text.size + 1);
    if (!result->ids.ids || !result->text.data)
        return status_no_memory(error, gap->count * sizeof *result->ids.ids + gap->text.size + 1);
    memcpy(result->ids.ids, generation->canvas + gap->start, gap->count * sizeof *result->ids.ids);
    result->ids.count = gap->count;
    memcpy(result->text.data, gap->text.data, gap->text.size + 1);
    result->text.size = gap->text.size;
    return DLLM_OK;
}

enum dllm_status dllm_generate(struct dllm_session *session, const int32_t *prompt,
                               size_t prompt_count, const struct dllm_generate_options *options,
                               struct dllm_result *result, struct dllm_error *error)
{
    struct generation generation = generation_of(session, options);
    enum dllm_status status;

    *result = (struct dllm_result){0};
    TRY_GOTO(check(&generation, prompt, prompt_count, error));
    TRY_GOTO(lay_out(&generation, prompt, prompt_count, error));
    TRY_GOTO(generation_run(&generation, result, error));
    TRY_GOTO(take_region(&generation, result, error));
    status = DLLM_OK;
fail:
    if (status)
        dllm_result_free(result);
    generation_free(&generation);
    return status;
}
