/*
 * kvcache.h: what one canvas keeps between passes: queries, keys and values of
 * the first layer, which hold until the token at a position changes (on the host,
 * where that saves their computation); and, when all layers are kept, every
 * layer's keys and values, where the layer is computed, so that a pass over some of the positions
 * attends to what the others were at their last pass.
 */
#ifndef KVCACHE_H
#define KVCACHE_H

#include "hparams.h"
#include "placement.h"

/* Rows are positions of the canvas; keys are rotated. */
struct kvcache {
    unsigned long serial;           /* another for each cache of this process, never 0 */
    int layers;                     /* whose keys and values are kept: 0, 1 or all */
    struct backend_buffer *q;       /* [length, heads * head_dim] of the first layer, on the host */
    struct backend_buffer **k, **v; /* [layers] of [length, kv_heads * head_dim] */
    int32_t *ids;                   /* [length] tokens that q, k[0] and v[0] belong to, or -1 */
    struct placement placement;     /* whose buffers these are */
    int changed;                    /* how many of them the pass at hand computes anew */
};

/* For canvases of up to `length` positions; a pass over positions that were
 * never computed must not leave any out. Free with kvcache_destroy, which takes
 * NULL; the backends must outlive it. */
enum dllm_status kvcache_create(const struct placement *placement, const struct hparams *hparams,
                                int length, bool all_layers, struct kvcache **out,
                                struct dllm_error *error);
void kvcache_destroy(struct kvcache *cache);

/* Bytes that kvcache_create would take of a backend's memory, NULL: of all; without
 * allocating. */
uint64_t kvcache_bytes(const struct placement *placement, const struct backend *of,
                       const struct hparams *hparams, int length, bool all_layers);

#endif
