/*
 * session.c: the workspace of one canvas, sized before a run starts, and plain
 * forward passes in it.
 */
#include "device.h"
#include "shared.h"

#include <stdlib.h>

/* Logits of a whole canvas over a large vocabulary are not kept at once: a
 * chunk takes at most CHUNK_BYTES, but at least CHUNK_LEAST rows, so that the
 * output matrix is still read for many rows together. */
enum { CHUNK_BYTES = 80 << 20, CHUNK_LEAST = 16, CHUNK_MOST = 256 };

int engine_chunk_rows(const struct dllm_engine *engine, int rows)
{
    int fit = CHUNK_BYTES / (int)sizeof(float) / engine->model.hparams.vocab;

    return MIN(rows, MIN(MAX(fit, CHUNK_LEAST), CHUNK_MOST));
}

enum dllm_status session_reserve(struct dllm_session *session, const struct forward_limits *limits,
                                 struct dllm_error *error)
{
    struct dllm_engine *engine = session->engine;
    struct forward_limits grown = *limits, old;
    enum dllm_status status;

    grown.rows = engine_chunk_rows(engine, limits->rows);
    if (session->forward) {
        old = forward_limits_of(session->forward);
        if (old.canvases >= grown.canvases && old.length >= grown.length &&
            old.rows >= grown.rows && (old.cached || !grown.cached))
            return DLLM_OK;
        grown.canvases = MAX(grown.canvases, old.canvases);
        grown.length = MAX(grown.length, old.length);
        grown.rows = MAX(grown.rows, old.rows);
        grown.cached |= old.cached;
    }
    lock_take(session->lock);
    forward_destroy(session->forward);
    session->forward = NULL;
    status = forward_create(&session->place, &engine->model, &grown, &session->forward, error);
    lock_release(session->lock);
    return status;
}

enum dllm_status session_check_ids(const struct dllm_session *session, const int32_t *ids,
                                   size_t count, const char *what, struct dllm_error *error)
{
    int vocab = session->engine->model.hparams.vocab;

    for (size_t i = 0; i < count; i++)
        if (ids[i] < 0 || ids[i] >= vocab)
            return status_fail(error, DLLM_ERROR_USAGE,
                               "id %d at position %zu of the %s is outside the vocabulary; ids "
                               "from 0 to %d were expected",
                               (int)ids[i], i, what, vocab - 1);
    return DLLM_OK;
}

enum dllm_status session_check_length(const struct dllm_session *session, size_t length,
                                      bool allow_long, struct dllm_error *error)
{
    int context = session->engine->model.hparams.context_length;

    if (length == 0)
        return status_fail(error, DLLM_ERROR_USAGE,
                           "the canvas is empty; at least one id was expected");
    if (length > ENGINE_LENGTH_MOST)
        return status_fail(error, DLLM_ERROR_USAGE,
                           "a canvas of %zu positions is too long; at most %d were expected",
                           length, ENGINE_LENGTH_MOST);
    if (context == 0 || allow_long || length <= (size_t)context)
        return DLLM_OK;
    return status_fail(error, DLLM_ERROR_USAGE,
                       "the canvas (prompt, generated positions and suffix) has %zu positions, but "
                       "the model's context length is %d; shorten it, or permit it with allow_long",
                       length, context);
}

enum dllm_status dllm_session_create(struct dllm_engine *engine, struct dllm_session **out,
                                     struct dllm_error *error)
{
    struct dllm_session *session;

    *out = NULL;
    if (engine->vocab_only)
        return status_fail(error, DLLM_ERROR_USAGE,
                           "the engine was opened with vocab_only; open it without to run the "
                           "model");
    session = calloc(1, sizeof *session);
    if (!session)
        return status_no_memory(error, sizeof *session);
    session->engine = engine;
    session->place = engine->place;
    session->lock = engine->lock;
    session->number = atomic_fetch_add(&engine->sessions, 1);
    *out = session;
    return DLLM_OK;
}

enum dllm_status dllm_session_create_apart(struct dllm_engine *engine, int threads,
                                           struct dllm_session **out, struct dllm_error *error)
{
    enum dllm_status status;

    TRY(dllm_session_create(engine, out, error));
    if (!backend_is_host(engine->place.main))
        return DLLM_OK;
    (*out)->apart = true;
    (*out)->place = (struct placement){0};
    (*out)->lock = NULL;
    TRY_GOTO(lock_create(&(*out)->lock, error));
    TRY_GOTO(engine_create_cpu(threads, backend_level_name(engine->place.main), &(*out)->place.main,
                               error));
    return DLLM_OK;
fail:
    dllm_session_destroy(*out);
    *out = NULL;
    return status;
}

enum dllm_status dllm_share_passes(struct dllm_engine *engine, int generations,
                                   struct dllm_error *error)
{
    if (generations < 0 || generations > SHARED_CANVASES)
        return status_fail(error, DLLM_ERROR_USAGE,
                           "%d generations cannot share a pass; from 1 to %d can, 0 ends it",
                           generations, SHARED_CANVASES);
    if (engine->shared)
        shared_gather(engine->shared, generations);
    else if (generations > 0)
        return status_fail(error, DLLM_ERROR_USAGE,
                           "generations share passes on a GPU alone, and this engine computes on "
                           "the CPU; run them one by one, or open it on a GPU");
    return DLLM_OK;
}

void dllm_session_destroy(struct dllm_session *session)
{
    if (!session)
        return;
    if (session->forward || session->caches[0]) {
        lock_take(session->lock);
        forward_destroy(session->forward);
        shared_forget(session);
        lock_release(session->lock);
    }
    if (session->apart) {
        backend_destroy(session->place.main);
        lock_destroy(session->lock);
    }
    free(session);
}
