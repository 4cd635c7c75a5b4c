/* logits.c: one forward pass for its scores alone. */
#include "engine.h"

#include <stdlib.h>

static enum dllm_status check_rows(const struct dllm_logits_query *query, struct dllm_error *error)
{
    if (query->row_count == 0)
        return status_fail(error, DLLM_ERROR_USAGE,
                           "no rows were asked for; expected at least one");
    if (query->row_count > query->count)
        return status_fail(error, DLLM_ERROR_USAGE,
                           "%zu rows were asked for, but there are %zu ids; no more rows than ids "
                           "were expected",
                           query->row_count, query->count);
    for (size_t i = 0; i < query->row_count; i++)
        if (query->rows[i] < 0 || (size_t)query->rows[i] >= query->count ||
            (i && query->rows[i] <= query->rows[i - 1]))
            return status_fail(error, DLLM_ERROR_USAGE,
                               "row %d (entry %zu of the rows) is out of order or range; ascending "
                               "rows from 0 to %zu were expected",
                               (int)query->rows[i], i, query->count - 1);
    return DLLM_OK;
}

static enum dllm_status check_query(const struct dllm_session *session,
                                    const struct dllm_logits_query *query, struct dllm_error *error)
{
    TRY(session_check_length(session, query->count, query->allow_long, error));
    TRY(session_check_ids(session, query->ids, query->count, "canvas", error));
    return check_rows(query, error);
}

static enum dllm_status reserve(struct dllm_session *session, const struct dllm_logits_query *query,
                                struct dllm_error *error)
{
    struct forward_limits limits = {
        .canvases = 1, .length = (int)query->count, .rows = (int)query->row_count};

    return session_reserve(session, &limits, error);
}

/* Hands hidden states on as plain numbers. */
struct layer_reader {
    const struct dllm_logits_sink *sink;
    size_t width;
    float *rows; /* [positions, width] */
    struct dllm_error *error;
    enum dllm_status status; /* of the first layer that could not be read */
};

static void read_layer(void *context, const struct forward_layer *seen)
{
    struct layer_reader *reader = context;

    if (reader->status == DLLM_OK)
        reader->status =
            backend_buffer_read(seen->backend, seen->x, 0, seen->rows, reader->rows, reader->error);
    if (reader->status == DLLM_OK)
        reader->sink->on_layer(reader->sink->context, seen->layer, reader->rows, (size_t)seen->rows,
                               reader->width);
}

static void run_pass(struct dllm_session *session, const struct dllm_logits_query *query)
{
    struct forward_canvas canvas = {.ids = query->ids,
                                    .length = (int)query->count,
                                    .high = (int)query->count,
                                    .rows = query->rows,
                                    .count = (int)query->row_count};

    lock_take(session->lock);
    forward_run(session->forward, &canvas, 1);
    lock_release(session->lock);
}

/* The pass, with its layers shown if the receiver wants them. */
static enum dllm_status run_shown(struct dllm_session *session,
                                  const struct dllm_logits_query *query,
                                  const struct dllm_logits_sink *sink, struct dllm_error *error)
{
    struct layer_reader reader = {
        .sink = sink, .error = error, .width = (size_t)session->engine->model.hparams.hidden};
    size_t bytes = sizeof *reader.rows * query->count * reader.width;

    if (sink->on_layer) {
        reader.rows = malloc(bytes);
        if (!reader.rows)
            return status_no_memory(error, bytes);
        forward_watch(session->forward, read_layer, &reader);
    }
    run_pass(session, query);
    forward_watch(session->forward, NULL, NULL);
    free(reader.rows);
    return reader.status;
}

/* Logits of rows [first, first + count) of the query into out. */
static enum dllm_status read_rows(struct dllm_session *session, int first, int count, float *out,
                                  struct dllm_error *error)
{
    enum dllm_status status;

    lock_take(session->lock);
    status = backend_buffer_read(
        session->place.main, forward_logits(session->forward, first, count), 0, count, out, error);
    lock_release(session->lock);
    return status;
}

enum dllm_status dllm_logits(struct dllm_session *session, const int32_t *ids, size_t count,
                             const int32_t *rows, size_t row_count, bool allow_long, float *logits,
                             struct dllm_error *error)
{
    struct dllm_logits_query query = {ids, count, rows, row_count, allow_long};
    size_t vocab = (size_t)session->engine->model.hparams.vocab;
    int chunk;

    TRY(check_query(session, &query, error));
    TRY(reserve(session, &query, error));
    run_pass(session, &query);
    chunk = forward_limits_of(session->forward).rows;
    for (int first = 0; first < (int)row_count; first += chunk)
        TRY(read_rows(session, first, MIN(chunk, (int)row_count - first),
                      logits + (size_t)first * vocab, error));
    return DLLM_OK;
}

enum dllm_status dllm_logits_each(struct dllm_session *session,
                                  const struct dllm_logits_query *query,
                                  const struct dllm_logits_sink *sink, struct dllm_error *error)
{
    size_t vocab = (size_t)session->engine->model.hparams.vocab;
    int row_count = (int)query->row_count, chunk, stop = 0;
    enum dllm_status status;
    float *logits;

    TRY(check_query(session, query, error));
    TRY(reserve(session, query, error));
    chunk = MIN(row_count, forward_limits_of(session->forward).rows);
    logits = malloc(sizeof *logits * vocab * (size_t)chunk);
    if (!logits)
        return status_no_memory(error, sizeof *logits * vocab * (size_t)chunk);
    status = run_shown(session, query, sink, error);
    for (int first = 0; first < row_count && status == DLLM_OK && !stop; first += chunk) {
        int count = MIN(chunk, row_count - first);

        status = read_rows(session, first, count, logits, error);
        if (status == DLLM_OK)
            stop = sink->on_rows(sink->context, logits, (size_t)first, (size_t)count);
    }
    free(logits);
    if (status != DLLM_OK)
        return status;
    return stop ? status_fail(error, DLLM_INTERRUPTED, "the receiver of the logits ended the pass")
                : DLLM_OK;
}
