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
    _Alignas(64) float sums[]; /* [panels of a group][tokens][PANEL_ROWS] */
};

/* Sums there is room for: of one panel's rows, and of several where that is not much. */
enum { PANEL_SUMS = 48 << 10 };

/* Super-blocks of consecutive rows, stride bytes apart. */
struct panel_source {
    const uint8_t *bytes;
    size_t stride;
    int rows;
};

/* Super-block b of the rows from r on, of block_bytes bytes if whole; no rows past the item's end.
 */
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

/*
 * The way through an item whose width is cut: a row of panels is PANEL_ROWS rows, the way's `row`
 * first, by the part of the width that begins with super-block `block`. All rows of a group meet a
 * part, then the next one; a group has as many rows as there is room for sums of.
 */
struct panel_place {
    int row, block, group_row; /* group_row: the first of its group */
};

struct panel_walk {
    const struct matmul_item *item;
    int part, group; /* super-blocks, rows */
    struct panel_place at, after;
    int end;     /* of the part at hand */
    float *sums; /* [tokens][PANEL_ROWS] of the rows at hand */
};

/* panel_walk_on() leads to the first place. */
static inline struct panel_walk panel_walk_of(const struct matmul_item *item)
{
    const int blocks = item->in->blocks, panels = PANEL_SUMS / (PANEL_ROWS * item->tokens);
    const bool cut = item->blocks_at_once && item->blocks_at_once < blocks;
    return (struct panel_walk){
        .item = item,
        .part = cut ? item->blocks_at_once : blocks,
        .group = cut ? PANEL_ROWS * MAX(panels, 1) : PANEL_ROWS,
    };
}

/* The next row of panels: the group's next rows, its next part, the next group. */
static inline struct panel_place panel_after(const struct panel_walk *walk)
{
    const struct matmul_item *item = walk->item;
    struct panel_place at = walk->at;
    at.row += PANEL_ROWS;
    if (at.row >= MIN(at.group_row + walk->group, item->rows)) {
        at.block += walk->part;
        if (at.block >= item->in->blocks) {
            at.block = 0;
            at.group_row += walk->group;
        }
        at.row = at.group_row;
    }
    return at;
}

/* To the next row of panels; after the last one row is item->rows or more. Not in line: tiles need
 * the registers. */
static __attribute__((noinline, unused)) void panel_walk_on(struct panel_walk *walk)
{
    const struct matmul_item *item = walk->item;
    struct panel_scratch *scratch = item->scratch;
    const struct panel_place at = walk->at = walk->after;
    walk->after = panel_after(walk);
    walk->end = MIN(at.block + walk->part, item->in->blocks);
    walk->sums = scratch->sums + (size_t)(at.row - at.group_row) * (size_t)item->tokens;
}

/* The panel that follows super-block b of the row of panels at hand. */
ALWAYS_INLINE struct panel_source panel_walk_next(const struct panel_walk *walk, int b,
                                                  size_t block_bytes)
{
    return b + 1 < walk->end
               ? panel_source(walk->item, walk->at.row, b + 1, block_bytes)
               : panel_source(walk->item, walk->after.row, walk->after.block, block_bytes);
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
