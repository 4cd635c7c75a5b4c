/* score_answer.c: dllm_score: the estimate's samples go through the model. */
#include "clock.h"
#include "engine.h"
#include "score.h"

static void run_pass(struct forward *forward, const void *context)
{
    const struct score_request *request = context;
    struct forward_canvas canvases[ENGINE_SCORE_CANVASES];
    int count = request->canvas_count;

    for (int i = 0; i < count; i++) {
        const struct score_canvas *canvas = &request->canvases[i];
        canvases[i] = (struct forward_canvas){.ids = canvas->ids,
                                              .length = request->length,
                                              .high = request->length,
                                              .rows = canvas->rows,
                                              .count = canvas->count};
        canvases[count + i] = canvases[i];
        canvases[count + i].ids = canvas->unguided;
    }
    forward_run(forward, canvases, request->cfg_scale > 0 ? 2 * count : count);
}

/* Cross entropies of the rows kept by the pass, as many at a time as the workspace holds. */
static enum dllm_status take_losses(struct dllm_session *session,
                                    const struct score_request *request, double *losses,
                                    struct dllm_error *error)
{
    struct forward *forward = session->forward;
    bool guided = request->cfg_scale > 0;
    int chunk = forward_limits_of(forward).rows / (guided ? 2 : 1);

    for (int at = 0; at < request->target_count; at += chunk) {
        struct backend_rows rows = {.count = MIN(chunk, request->target_count - at)};
        rows.buffer = guided ? forward_logits_guided(forward, at, request->target_count + at,
                                                     rows.count, request->cfg_scale)
                             : forward_logits(forward, at, rows.count);
        TRY(backend_cross_entropy_rows(session->place.main, rows, request->targets + at,
                                       losses + at, error));
    }
    return DLLM_OK;
}

static enum dllm_status losses_of(void *context, const struct score_request *request,
                                  double *losses, struct dllm_error *error)
{
    struct dllm_session *session = context;
    enum dllm_status status;

    lock_take(session->lock);
    run_pass(session->forward, request);
    status = take_losses(session, request, losses, error);
    lock_release(session->lock);
    return status;
}

static enum dllm_status check(const struct dllm_session *session,
                              const struct dllm_score_query *query,
                              const struct dllm_score_options *options, struct dllm_error *error)
{
    size_t length;

    if (__builtin_add_overflow(query->prompt_count, query->answer_count, &length))
        length = SIZE_MAX;
    TRY(session_check_length(session, length, options->allow_long, error));
    TRY(session_check_ids(session, query->prompt, query->prompt_count, "prompt", error));
    return session_check_ids(session, query->answer, query->answer_count, "answer", error);
}

void dllm_score_defaults(struct dllm_score_options *options)
{
    *options = (struct dllm_score_options){.samples = 128, .batch = 16, .seed = 42};
}

enum dllm_status dllm_score(struct dllm_session *session, const struct dllm_score_query *query,
                            const struct dllm_score_options *options,
                            struct dllm_likelihood *result, struct dllm_error *error)
{
    const struct dllm_engine *engine = session->engine;
    struct score_model model = {.losses = losses_of,
                                .context = session,
                                .shift_logits = engine->model.hparams.shift_logits,
                                .mask_id = engine->specials.mask_id};
    struct forward_limits limits;
    double start = clock_seconds();
    enum dllm_status status;

    *result = (struct dllm_likelihood){0};
    TRY(check(session, query, options, error));
    TRY(score_check(&model, query, options, error));
    limits = engine_score_limits(query, options);
    model.canvases_at_once = options->cfg_scale > 0 ? limits.canvases / 2 : limits.canvases;
    TRY(session_reserve(session, &limits, error));
    status = score_run(&model, query, options, result, error);
    if (status == DLLM_ERROR_NUMERIC)
        session_explain(session, NULL, NULL, error);
    TRY(status);
    result->seconds = clock_seconds() - start;
    return DLLM_OK;
}
