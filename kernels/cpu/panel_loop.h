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
 * Tokens are cut into tiles of equal size, give or take one, since a tile of
 * few tokens waits for the latency of its sums; the larger ones come first.
 */
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

    for (int r = 0; r < item->rows; r += PANEL_ROWS) {
        memset(scratch->sums, 0, (size_t)item->tokens * PANEL_ROWS * sizeof(float));
        for (int b = 0; b < in->blocks; b++) {
            const struct panel_source next = panel_next(item, r, b, block_bytes);
            const struct panel_source from = panel_complete(panel_source(item, r, b, block_bytes),
                                                            b, block_bytes, scratch->stage);
            decode(from.bytes, from.stride, panel);
            PANEL_FINISH(panel);
            for (int n = 0, t = 0; n < tiles; n++) {
                const int end = t + size + (n < larger);
                const size_t at = (size_t)b * (size_t)in->tokens + (size_t)(item->first_token + t);
                float *sums = scratch->sums + (size_t)t * PANEL_ROWS;
                panel_prefetch(&next, n, tiles, block_bytes);
                if (b == in->blocks - 1) {
                    panel_prefetch_out(item, r, t, end);
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
        if (item->rows - r >= PANEL_ROWS) {
            panel_store(item, r, PANEL_ROWS, scratch->sums);
        } else {
            panel_store(item, r, item->rows - r, scratch->sums);
        }
    }
}

#undef PANEL_NAME
#undef PANEL_TYPE
#undef PANEL_FINISH
#undef PANEL_TILE
#undef PANEL_TOKENS
#undef PANEL_CASE
