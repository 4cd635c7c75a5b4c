/*
 * panel.h: what the panel kernels share. A work item is cut into panels of
 * PANEL_ROWS rows by one super-block; a panel is decoded once into scratch that
 * stays in the first-level cache, then meets every token. panel_loop.h is the
 * loop itself.
 */
#ifndef PANEL_H
#define PANEL_H

#include "compiler.h"
#include "kernels.h"

#include <string.h>

enum {
    PANEL_ROWS = 16,
    PANEL_BYTES = PANEL_ROWS * SUPER_BLOCK * 4,      /* the largest panel: f32 */
    PANEL_STAGE_BYTES = PANEL_ROWS * SUPER_BLOCK * 4 /* the largest block: f32 */
};

/* Scratch of a panel kernel. */
struct panel_scratch {
    _Alignas(64) unsigned char panel[PANEL_BYTES];
    _Alignas(64) unsigned char stage[PANEL_STAGE_BYTES]; /* blocks of an incomplete panel */
    _Alignas(64) float sums[];                           /* [tokens][PANEL_ROWS] */
};

/* Super-blocks of consecutive rows, stride bytes apart. */
struct panel_source {
    const uint8_t *bytes;
    size_t stride;
    int rows;
};

/* Super-block b of the rows from r on, of block_bytes bytes if whole. */
ALWAYS_INLINE struct panel_source panel_source(const struct matmul_item *item, int r, int b,
                                               size_t block_bytes)
{
    return (struct panel_source){
        .bytes =
            (const uint8_t *)item->weights + (size_t)r * item->row_bytes + (size_t)b * block_bytes,
        .stride = item->row_bytes,
        .rows = MIN(PANEL_ROWS, item->rows - r),
    };
}

/* Makes a panel of fewer rows or of a narrower last super-block whole: copies
 * it to stage, zeros where nothing is. Decoders then never read past the item. */
ALWAYS_INLINE struct panel_source panel_complete(struct panel_source from, int b,
                                                 size_t block_bytes, unsigned char *stage)
{
    size_t count = MIN(block_bytes, from.stride - (size_t)b * block_bytes);
    if (from.rows == PANEL_ROWS && count == block_bytes) {
        return from;
    }
    memset(stage, 0, PANEL_ROWS * block_bytes);
    for (int r = 0; r < from.rows; r++) {
        memcpy(stage + (size_t)r * block_bytes, from.bytes + (size_t)r * from.stride, count);
    }
    return (struct panel_source){.bytes = stage, .stride = block_bytes, .rows = PANEL_ROWS};
}

/* The panel that follows (r, b) in its item; no rows after the last one. */
ALWAYS_INLINE struct panel_source panel_next(const struct matmul_item *item, int r, int b,
                                             size_t block_bytes)
{
    if (b + 1 < item->in->blocks) {
        return panel_source(item, r, b + 1, block_bytes);
    }
    if (r + PANEL_ROWS < item->rows) {
        return panel_source(item, r + PANEL_ROWS, 0, block_bytes);
    }
    return (struct panel_source){0};
}

/* Prefetches the share of tile n of `tiles`: misses sent at once would fill the
 * miss buffers. Super-blocks of a row are neighbours, so that the line in which one
 * starts is there already. A prefetch past the end of the weights does not fault. */
ALWAYS_INLINE void panel_prefetch(const struct panel_source *next, int n, int tiles,
                                  size_t block_bytes)
{
    const int end = MIN(next->rows, PANEL_ROWS * (n + 1) / tiles);
    UNROLL(1)
    for (int r = PANEL_ROWS * n / tiles; r < end; r++) {
        const uint8_t *row = next->bytes + (size_t)r * next->stride;
        UNROLL(16)
        for (size_t k = 1; k <= block_bytes; k += CACHE_LINE) {
            __builtin_prefetch(row + block_bytes - k, 0, 3);
        }
    }
}

/* Prefetches where panel_store will put tokens [t, end) of rows from r on: the
 * outputs of tokens lie pages apart. */
ALWAYS_INLINE void panel_prefetch_out(const struct matmul_item *item, int r, int t, int end)
{
    for (; t < end; t++) {
        __builtin_prefetch(item->out + (size_t)t * item->out_step + r, 1, 3);
    }
}

/* Bias, accumulation and the store of finished sums, rows [r, r + rows). */
ALWAYS_INLINE void panel_store(const struct matmul_item *item, int r, int rows, float *sums)
{
    for (int t = 0; t < item->tokens; t++, sums += PANEL_ROWS) {
        float *out = item->out + (size_t)t * item->out_step + r;
        for (int i = 0; item->bias && i < rows; i++) {
            sums[i] += item->bias[r + i];
        }
        for (int i = 0; item->accumulate && i < rows; i++) {
            sums[i] = out[i] + sums[i];
        }
        memcpy(out, sums, (size_t)rows * sizeof(*out));
    }
}

/* The kernel of a weight type: `run` is what panel_loop.h made. */
#define PANEL_KERNEL(name, run, block_bytes, decode)                                               \
    void name(const struct matmul_item *item)                                                      \
    {                                                                                              \
        run(item, block_bytes, decode);                                                            \
    }

#endif
