/*
 * tile_32_vnni.h: tiles of the types with blocks of 32 weights against int8, a
 * template on the vectors of panel_vnni.h; TOKENS is the most tokens of a tile.
 * Weights count from -128 so that vpdpbusd takes them as unsigned; sums start
 * from the difference.
 */
#ifndef TILE_32_VNNI_H
#define TILE_32_VNNI_H

#define LEVEL_FLIP 0x80
#include "panel_32.h"
#include "panel_vnni.h"

/* Adds block j: y + scale * (d * sum + m * inputs); at: of the token, d and m: of
 * the part's rows. */
ALWAYS_INLINE floats p32_add_block(floats y, const struct activations_q8_32 *in, size_t at, int j,
                                   const float *d, const float *m, ints sum, const bool has_m)
{
    floats v = floats_mul(floats_load(d), ints_to_floats(sum));
    if (has_m) {
        v = floats_fma(floats_load(m), floats_broadcast((float)in->start32[at * 8 + (size_t)j]), v);
    }
    return floats_fma(floats_broadcast(in->scale[at * 8 + (size_t)j]), v, y);
}

/* Blocks 2i and 2i + 1 of a part to y[n]. */
ALWAYS_INLINE void p32_add_pair(const struct panel_32 *p, const struct activations_q8_32 *in,
                                size_t at, int part, int i, floats *y, const int n,
                                const bool has_m)
{
    const int8_t *q = in->q + at * SUPER_BLOCK + 64 * i;
    ints a[TOKENS], b[TOKENS];
    UNROLL(8)
    for (int t = 0; t < n; t++) {
        a[t] = b[t] = ints_broadcast_64(load_64(in->start32 + (at + (size_t)t) * 8 + 2 * i));
    }
    UNROLL(8)
    for (int g = 0; g < 8; g++) {
        ints w0 = ints_load(p->weight[8 * i + g][0], part);
        ints w1 = ints_load(p->weight[8 * i + g][1], part);
        UNROLL(8)
        for (int t = 0; t < n; t++) {
            ints x = ints_broadcast_64(load_64(q + t * SUPER_BLOCK + 8 * g));
            a[t] = ints_dot_8(a[t], w0, x);
            b[t] = ints_dot_8(b[t], w1, x);
        }
    }
    UNROLL(8)
    for (int t = 0; t < n; t++) {
        const float *d = p->d[2 * i] + PART_ROWS * part, *m = p->m[2 * i] + PART_ROWS * part;
        ints even = ints_dwords(a[t], b[t], 0x88), odd = ints_dwords(a[t], b[t], 0xdd);
        y[t] = p32_add_block(y[t], in, at + (size_t)t, 2 * i, d, m, even, has_m);
        y[t] = p32_add_block(y[t], in, at + (size_t)t, 2 * i + 1, d + PANEL_ROWS, m + PANEL_ROWS,
                             odd, has_m);
    }
}

/* PANEL_TILE of panel_loop.h. */
ALWAYS_INLINE void p32_tile(const struct panel_32 *panel, const struct activations *in, size_t at,
                            float *sums, const int n, const bool has_m)
{
    for (int part = 0; part < PANEL_PARTS; part++) {
        float *to = sums + PART_ROWS * part;
        floats y[TOKENS];
        UNROLL(8)
        for (int t = 0; t < n; t++) {
            y[t] = floats_load(to + t * PANEL_ROWS);
        }
        UNROLL(1)
        for (int i = 0; i < 4; i++) {
            p32_add_pair(panel, &in->q8_32, at, part, i, y, n, has_m);
        }
        UNROLL(8)
        for (int t = 0; t < n; t++) {
            floats_store(to + t * PANEL_ROWS, y[t]);
        }
    }
}

#endif
