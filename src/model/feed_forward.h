/*
 * feed_forward.h: the second half of a layer: the gated feed-forward of rows of
 * the residual stream, with a workspace of its own.
 */
#ifndef FEED_FORWARD_H
#define FEED_FORWARD_H

#include "weights.h"

struct feed_forward;

/* For up to max_rows rows. backend and hparams must outlive it; free with
 * feed_forward_destroy, which takes NULL. */
enum dllm_status feed_forward_create(struct backend *backend, const struct hparams *hparams,
                                     const struct weights *weights, int max_rows,
                                     struct feed_forward **out, struct dllm_error *error);
void feed_forward_destroy(struct feed_forward *feed_forward);

/* Bytes that feed_forward_create would take, without allocating. */
uint64_t feed_forward_bytes(const struct backend *backend, const struct hparams *hparams,
                            const struct weights *weights, int max_rows);

/* x[t, :] += feed-forward of the normed x[t, :], t < count. in is overwritten:
 * room for count rows of width hidden. */
void feed_forward_run(struct feed_forward *feed_forward, const struct layer_weights *layer,
                      struct backend_activations *in, struct backend_buffer *x, int count);

#endif
