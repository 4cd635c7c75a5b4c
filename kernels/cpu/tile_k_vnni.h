/*
 * tile_k_vnni.h: tiles of the types with blocks of 256 weights against int8, a
 * template on the vectors of panel_vnni.h; TOKENS is the most tokens of a tile.
 *
 * What bounds these kernels are the two ports that multiply. Sums of two
 * sub-blocks are packed to int16 pairs, so that one vpdpwssd applies two scales
 * to every row: half the multiplications of scaling each sub-block by itself.
 * That needs sub-block sums within int16, which `wide` tells of: a tile with a
 * wide token packs after so few steps that they always fit. IQ2 packs after two
 * anyway, which fits if no token is wide, and K_I32 rarely would: there the low
 * byte of a sum and the rest are packed and scaled apart, with 256 times the scale
 * (at most 32) for the rest. Integer sums are exact either way (bounds of totals:
 * matmul_ref.c).
 */
#ifndef TILE_K_VNNI_H
#define TILE_K_VNNI_H

#include "panel_k.h"
#include "panel_vnni.h"

/* How sums become scaled: after how many steps, and whether in two parts. */
struct k_packing {
    int steps;
    bool split;
};

/* Any sums fit int16 after so many steps: 16 * 15 * 127 = 30,480 (Q4_K), 8 * 31 * 127 = 31,496
 * (Q5_K), 8 * 32 * 127 = 32,512 (Q6_K); or are split: 8 * 54 * 127 = 54,864 (IQ2). */
ALWAYS_INLINE struct k_packing k_packing_of(enum k_type type, bool wide)
{
    switch (type) {
    case K_I32:
        return (struct k_packing){8, true};
    case K_IQ2:
        return (struct k_packing){2, wide};
    default:
        return (struct k_packing){!wide ? k_steps(type) : type == K_Q4 ? 4 : 2, false};
    }
}

/* Where the sums of pair i start that are packed after steps g0..g0+flush-1: weights of these
 * types are 32 too large. */
ALWAYS_INLINE ints k_start(const struct activations_q8_256 *in, size_t row, enum k_type type, int i,
                           int g0, int flush)
{
    if (!k_starts_below(type)) {
        return ints_zero();
    }
    const int32_t *from =
        flush == 4 ? in->start16 + row * 16 + 2 * i : in->start8 + row * 32 + 4 * i + g0;
    return ints_broadcast_64(load_64(from));
}

/* total + scale * sums; a and b: sums of both row halves. */
ALWAYS_INLINE ints k_add_scaled(ints total, ints a, ints b, ints scale, const bool split)
{
    if (!split) {
        return ints_dot_16(total, ints_pack(a, b), scale);
    }
    const ints low = ints_broadcast_32(0xff);
    total = ints_dot_16(total, ints_pack(ints_and(a, low), ints_and(b, low)), scale);
    return ints_dot_16(total, ints_pack(ints_shift_right(a, 8), ints_shift_right(b, 8)),
                       ints_shift_left_16(scale, 8));
}

/* One part of a panel against the n tokens at index `at`. */
struct k_part {
    const struct k_panel *panel;
    const struct activations_q8_256 *in;
    size_t at;
    int part;
};

/* Adds pair i to total[n]. */
ALWAYS_INLINE void k_add_pair(const struct k_part s, int i, ints *total, const int n,
                              enum k_type type, const struct k_packing packing)
{
    const int steps = k_steps(type), flush = packing.steps;
    const int8_t *q = s.in->q + s.at * SUPER_BLOCK + 8 * steps * i;
    const ints scale = ints_load(s.panel->scale[i], s.part);
    ints a[TOKENS], b[TOKENS];
    UNROLL(4)
    for (int g0 = 0; g0 < steps; g0 += flush) {
        UNROLL(8)
        for (int t = 0; t < n; t++) {
            a[t] = b[t] = k_start(s.in, s.at + (size_t)t, type, i, g0, flush);
        }
        UNROLL(8)
        for (int g = g0; g < g0 + flush; g++) {
            ints w0 = ints_load(s.panel->weight[i * steps + g][0], s.part);
            ints w1 = ints_load(s.panel->weight[i * steps + g][1], s.part);
            UNROLL(8)
            for (int t = 0; t < n; t++) {
                ints x = ints_broadcast_64(load_64(q + t * SUPER_BLOCK + 8 * g));
                a[t] = ints_dot_8(a[t], w0, x);
                b[t] = ints_dot_8(b[t], w1, x);
            }
        }
        UNROLL(8)
        for (int t = 0; t < n; t++) {
            total[t] = k_add_scaled(total[t], a[t], b[t], scale, packing.split);
        }
    }
}

/* sum of minimum * sum of inputs over all sub-blocks or groups. */
ALWAYS_INLINE ints k_minimums(const struct k_panel *p, int part, const int16_t *sums,
                              enum k_type type)
{
    ints m = ints_zero();
    UNROLL(8)
    for (int i = 0; i < k_pairs(type); i++) {
        m = ints_dot_16(m, ints_load(p->minimum[i], part),
                        ints_broadcast_32(load_32(sums + 2 * i)));
    }
    return m;
}

/* Adds the part to sums [n][PANEL_ROWS]. */
ALWAYS_INLINE void k_tile_part(const struct k_part s, float *sums, const int n, enum k_type type,
                               const struct k_packing packing)
{
    const int row = PART_ROWS * s.part;
    ints total[TOKENS];
    UNROLL(8)
    for (int t = 0; t < n; t++) {
        const int16_t *inputs = k_sums(s.in, s.at + (size_t)t, type);
        total[t] =
            k_totals_minimums(type) ? k_minimums(s.panel, s.part, inputs, type) : ints_zero();
    }
    UNROLL(1)
    for (int i = 0; i < k_pairs(type); i++) {
        k_add_pair(s, i, total, n, type, packing);
    }
    UNROLL(8)
    for (int t = 0; t < n; t++) {
        const size_t at = s.at + (size_t)t;
        floats v = floats_mul(floats_load(s.panel->d + row), ints_to_floats(total[t]));
        if (k_has_minimums(type)) {
            ints m = k_minimums(s.panel, s.part, k_sums(s.in, at, type), type);
            v = floats_neg_fma(floats_load(s.panel->dmin + row), ints_to_floats(m), v);
        }
        float *sum = sums + t * PANEL_ROWS + row;
        floats_store(sum, floats_fma(floats_broadcast(s.in->scale[at]), v, floats_load(sum)));
    }
}

/* PANEL_TILE of panel_loop.h. */
ALWAYS_INLINE void k_tile(const struct k_panel *panel, const struct activations *in, size_t at,
                          float *sums, const int n, enum k_type type)
{
    const bool wide = k_any_wide(in->q8_256.wide + at, n, k_wide_bit(type));
    for (int part = 0; part < PANEL_PARTS; part++) {
        const struct k_part s = {panel, &in->q8_256, at, part};
        if (wide) {
            k_tile_part(s, sums, n, type, k_packing_of(type, true));
        } else {
            k_tile_part(s, sums, n, type, k_packing_of(type, false));
        }
    }
}

#endif
