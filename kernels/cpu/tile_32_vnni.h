/*
 * tile_q8_0_vnni.h: tiles of Q8_0 against int8, a template on the vectors of
 * panel_vnni.h; TOKENS is the most tokens of a tile. Weights count from -128 so
 * that vpdpbusd takes them as unsigned; sums start from the difference.
 */
#ifndef TILE_Q8_0_VNNI_H
#define TILE_Q8_0_VNNI_H

#include "panel_q8_0.h"
#include "panel_vnni.h"

/* y + scale * (d * sum). */
ALWAYS_INLINE floats q8_0_add_scaled(floats y, float scale, const float *d, ints sum)
{
    floats v = floats_mul(floats_load(d), ints_to_floats(sum));
    return floats_fma(floats_broadcast(scale), v, y);
}

/* Blocks 2i and 2i + 1 of a part to y[n]. */
ALWAYS_INLINE void q8_0_add_pair(const struct q8_0_panel *p, const struct activations_q8_32 *in,
                                 size_t at, int part, int i, floats *y, const int n)
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
        const float *scale = in->scale + (at + (size_t)t) * 8 + 2 * i;
        const float *d = p->d[2 * i] + PART_ROWS * part;
        y[t] = q8_0_add_scaled(y[t], scale[0], d, ints_dwords(a[t], b[t], 0x88));
        y[t] = q8_0_add_scaled(y[t], scale[1], d + PANEL_ROWS, ints_dwords(a[t], b[t], 0xdd));
    }
}

/* PANEL_TILE of panel_loop.h. */
ALWAYS_INLINE void q8_0_tile(const struct q8_0_panel *panel, const struct activations *in,
                             size_t at, float *sums, const int n)
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
            q8_0_add_pair(panel, &in->q8_32, at, part, i, y, n);
        }
        UNROLL(8)
        for (int t = 0; t < n; t++) {
            floats_store(to + t * PANEL_ROWS, y[t]);
        }
    }
}

#endif
