/* room.c: how much room runs need: what sessions reserve, and what callers may ask before. */
#include "shared.h"

/* Canvases of a score share a pass, so that weights are read for many rows together, up to so
 * many positions. */
enum { POSITIONS_AT_ONCE = 256, CANVASES_MOST = ENGINE_SCORE_CANVASES / 2 };

struct forward_limits engine_generate_limits(const struct dllm_generate_options *options,
                                             int length, int masks)
{
    int canvases = options->cfg_scale > 0 ? 2 : 1;
    int block = options->block_length ? options->block_length : options->max_tokens;
    /* A step scores a block, and masks outside the gaps belong to the first one or the last. */
    int rows = MIN(block, options->max_tokens) + masks - options->max_tokens;

    return (struct forward_limits){.canvases = canvases,
                                   .length = length,
                                   .rows = canvases * rows,
                                   .cached = options->cache != DLLM_CACHE_NONE};
}

struct forward_limits engine_score_limits(const struct dllm_score_query *query,
                                          const struct dllm_score_options *options)
{
    int length = (int)(query->prompt_count + query->answer_count);
    int canvases = MAX(1, MIN(MIN(options->batch, CANVASES_MOST), POSITIONS_AT_ONCE / length));

    if (options->cfg_scale > 0)
        canvases *= 2;
    return (struct forward_limits){
        .canvases = canvases, .length = length, .rows = canvases * (int)query->answer_count};
}

/* Whether the sizes are those of a canvas. */
static bool is_canvas(const struct dllm_engine *engine, size_t length, size_t rows)
{
    return !engine->vocab_only && length >= 1 && length <= ENGINE_LENGTH_MOST && rows >= 1 &&
           rows <= length;
}

static uint64_t bytes_of(const struct dllm_engine *engine, struct forward_limits limits)
{
    limits.rows = engine_chunk_rows(engine, limits.rows);
    return forward_bytes(&engine->place, NULL, &engine->model, &limits);
}

uint64_t dllm_engine_workspace_bytes(const struct dllm_engine *engine, size_t canvas, size_t rows)
{
    if (!is_canvas(engine, canvas, rows))
        return 0;
    return bytes_of(
        engine, (struct forward_limits){.canvases = 1, .length = (int)canvas, .rows = (int)rows});
}

uint64_t dllm_generate_workspace_bytes(const struct dllm_engine *engine, size_t canvas,
                                       const struct dllm_generate_options *options)
{
    int masks = options->max_tokens;

    if (masks < 1 || !is_canvas(engine, canvas, (size_t)masks))
        return 0;
    return bytes_of(engine, engine_generate_limits(options, (int)canvas, masks));
}

uint64_t dllm_score_workspace_bytes(const struct dllm_engine *engine,
                                    const struct dllm_score_query *query,
                                    const struct dllm_score_options *options)
{
    size_t length;

    if (__builtin_add_overflow(query->prompt_count, query->answer_count, &length) ||
        !is_canvas(engine, length, query->answer_count))
        return 0;
    return bytes_of(engine, engine_score_limits(query, options));
}

uint64_t dllm_session_workspace_bytes(const struct dllm_session *session)
{
    struct forward_limits limits;
    uint64_t bytes = session->engine->shared ? shared_bytes(session) : 0;

    if (!session->forward)
        return bytes;
    limits = forward_limits_of(session->forward);
    return bytes + forward_bytes(&session->place, NULL, &session->engine->model, &limits);
}
