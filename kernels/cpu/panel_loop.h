/*
 * panel_loop.h: the loop of the panel kernels, a template: included once per
 * kind of panel and tile, after these are defined (and it undefines them). It
 * makes
 *
 *   inline void PANEL_NAME(const struct matmul_item *item, size_t block_bytes,
 *                          void (*decode)(bytes, stride, panel))
 *
 * which PANEL_KERNEL gives the weight types that such panels serve: block_bytes
 * of a super-block in the file, and what decodes PANEL_ROWS of them that are
 * stride apart. Each type has a copy, in which both are constants: a panel is met
 * in less than a microsecond, so that branches that are guessed wrong count.
 *
 *   PANEL_NAME         the function
 *   PANEL_TYPE         struct of a decoded panel, at most PANEL_BYTES
 *   PANEL_FINISH(panel)
 *                      what is to be done to a panel after decode, or nothing
 *   PANEL_TILE(panel, in, at, sums, n)
 *                      adds the panel's part to sums [n][PANEL_ROWS] for the n
 *                      tokens whose records start at index `at` of `in`
 *   PANEL_TOKENS       most tokens of a tile, 1..8
 *
 * and, before this file is first included,
 *   CUTS_WIDTH         1: several panels of rows meet a part of the width before the
 *                      next part (panel.h); 0 or not defined: one after the other
 *
 * Tokens are cut into tiles of equal size, give or take one, since a tile of
 * few tokens waits for the latency of its sums; the larger ones come first.
 */
#ifndef PANEL_LOOP_H
#define PANEL_LOOP_H
#ifndef CUTS_WIDTH
#define CUTS_WIDTH 0
#endif
/* The rows of panels of an item, and of one: its first row, its super-blocks from FIRST up to END,
 * where its sums are, and what follows super-block b. */
#if CUTS_WIDTH
#define FOR_ROWS_OF_PANELS                                                                         \
    struct panel_walk walk = panel_walk_of(item);                                                  \
    for (panel_walk_on(&walk); walk.at.row < item->rows; panel_walk_on(&walk))
#define ROW      walk.at.row
#define FIRST    walk.at.block
#define END      walk.end
#define SUMS     walk.sums
#define AFTER(b) panel_walk_next(&walk, b, block_bytes)
#else
#define FOR_ROWS_OF_PANELS for (int row = 0; row < item->rows; row += PANEL_ROWS)
#define ROW                row
#define FIRST              0
#define END                in->blocks
#define SUMS               scratch->sums
#define AFTER(b)           panel_next(item, row, b, block_bytes)
#endif
#endif

#define PANEL_CASE(n)                                                                              \
    case n:                                                                                        \
        PANEL_TILE(panel, in, at, sums, n);                                                        \
        break;

ALWAYS_INLINE void PANEL_NAME(const struct matmul_item *item, const size_t block_bytes,
                              void (*decode)(const uint8_t *bytes, size_t stride,
                                             PANEL_TYPE *panel))
{
    const struct activations *in = item->in;
    struct panel_scratch *scratch = item->scratch;
    PANEL_TYPE *panel = (PANEL_TYPE *)scratch->panel;
    const int tiles = DIV_UP(item->tokens, PANEL_TOKENS);
    const int size = item->tokens / tiles, larger = item->tokens % tiles;
    _Static_assert(sizeof(PANEL_TYPE) <= PANEL_BYTES, "a panel has a fixed place in scratch");

    FOR_ROWS_OF_PANELS
    {
        if (FIRST == 0) {
            memset(SUMS, 0, (size_t)item->tokens * PANEL_ROWS * sizeof(float));
        }
        for (int b = FIRST; b < END; b++) {
            const struct panel_source next = AFTER(b);
            const struct panel_source from = panel_complete(panel_source(item, ROW, b, block_bytes),
                                                            b, block_bytes, scratch->stage);
            decode(from.bytes, from.stride, panel);
            PANEL_FINISH(panel);
            for (int n = 0, t = 0; n < tiles; n++) {
                const int end = t + size + (n < larger);
                const size_t at = (size_t)b * (size_t)in->tokens + (size_t)(item->first_token + t);
                float *sums = SUMS + (size_t)t * PANEL_ROWS;
                panel_prefetch(&next, n, tiles, block_bytes);
                if (b == in->blocks - 1) {
                    panel_prefetch_out(item, ROW, t, end);
                }
                switch (end - t) {
                    PANEL_CASE(1)
#if PANEL_TOKENS >= 2
                    PANEL_CASE(2)
#endif
#if PANEL_TOKENS >= 3
                    PANEL_CASE(3)
#endif
#if PANEL_TOKENS >= 4
                    PANEL_CASE(4)
#endif
#if PANEL_TOKENS >= 5
                    PANEL_CASE(5)
#endif
#if PANEL_TOKENS >= 6
                    PANEL_CASE(6)
#endif
#if PANEL_TOKENS >= 7
                    PANEL_CASE(7)
#endif
#if PANEL_TOKENS >= 8
                    PANEL_CASE(8)
#endif
                }
                t = end;
            }
        }
        if (END < in->blocks) {
            continue;
        }
        if (item->rows - ROW >= PANEL_ROWS) {
            panel_store(item, ROW, PANEL_ROWS, SUMS);
        } else {
            panel_store(item, ROW, item->rows - ROW, SUMS);
        }
    }
}

#undef PANEL_NAME
#undef PANEL_TYPE
#undef PANEL_FINISH
#undef PANEL_TILE
#undef PANEL_TOKENS
#undef PANEL_CASE
