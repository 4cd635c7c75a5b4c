/*
 * forward.h: the transformer, once: a pass over a canvas and logits for the
 * rows that are asked for. Only those rows go past the last layer's attention.
 */
#ifndef FORWARD_H
#define FORWARD_H

#include "backend.h"
#include "weights.h"

struct model {
    struct hparams hparams;
    struct weights weights;
};

/* The workspace of passes over canvases of up to a given size. */
struct forward;

/* max_length positions, logits of up to max_rows rows at once. backend and
 * model must outlive it. */
enum dllm_status forward_create(struct backend *backend, const struct model *model, int max_length,
                                int max_rows, struct forward **out, struct dllm_error *error);
void forward_destroy(struct forward *forward);

/* The sizes it was made for. */
int forward_max_length(const struct forward *forward);
int forward_max_rows(const struct forward *forward);

/* Bytes that forward_create would take, without allocating. */
uint64_t forward_bytes(const struct backend *backend, const struct model *model, int max_length,
                       int max_rows);

/* Runs the pass over ids [length] and keeps the hidden state of the rows
 * (ascending, each < length, count <= length) before the output norm. */
void forward_run(struct forward *forward, const int32_t *ids, int length, const int32_t *rows,
                 int count);

/* Logits of kept rows [first, first + count), count <= max_rows, into a buffer
 * [count, vocab] of the workspace, valid until the next call. */
struct backend_buffer *forward_logits(struct forward *forward, int first, int count);

/* Guidance: run the pass over the canvas with its prompt masked, keep its rows
 * aside, then run the other pass over the same rows; the logits of both come
 * combined as u + (scale + 1)(l - u), valid until the next call. */
void forward_keep_unguided(struct forward *forward);
struct backend_buffer *forward_logits_guided(struct forward *forward, int first, int count,
                                             double scale);

#endif
