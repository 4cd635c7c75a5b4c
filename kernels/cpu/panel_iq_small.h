/*
 * panel_iq_small.h: IQ3 and IQ1 as panels of panel_k.h with weights counted from
 * -32: IQ3_S (-15..15) and IQ1 (-9..9) as K_Q3, IQ3_XXS as K_Q6, with its entries, even
 * and up to 62, halved and d doubled. A scale per 32 weights is the scale of two
 * groups.
 */
#ifndef PANEL_IQ_SMALL_H
#define PANEL_IQ_SMALL_H

#include "panel_grid.h"

/* Scales of sub-blocks 2h and 2h + 1, two int16 a row. */
ALWAYS_INLINE void iq_store_scales(struct k_panel *p, int e, int h, dwords scales)
{
    dwords_store(p->scale[2 * h], e, scales);
    dwords_store(p->scale[2 * h + 1], e, scales);
}

/* Gives the magnitudes of steps 8h.. their signs, and counts them from -32; each is first
 * shifted right by `halve` bits. */
ALWAYS_INLINE void iq3_finish(struct k_panel *p, int e, int h, dwords first_signs,
                              dwords second_signs, int halve)
{
    dwords signs[2];
    grid_interleave(first_signs, second_signs, signs);
    UNROLL(8)
    for (int k = 0; k < 8; k++) {
        UNROLL(2)
        for (int half = 0; half < 2; half++) {
            uint8_t *at = p->weight[8 * h + k][half];
            dwords m = dwords_right_16(dwords_load(at, e), halve);
            dwords_store(at, e,
                         dwords_signed(dwords_set_8(32), m, grid_spread_bits(signs[half], k),
                                       grid_bits_of(k)));
        }
    }
}

/* The magnitudes of all steps. */
ALWAYS_INLINE void iq3_s_look_up(const uint8_t *bytes, size_t stride, struct k_panel *p, int e)
{
    dwords high[4];
    turn_rows(FIELD(iq3_s, high), stride, high); /* 8 bytes, and what follows */
    for (int h = 0; h < 4; h++) {
        _Alignas(64) grid_indices index[2][2][2]; /* [sub-block][entries 4..][n] */
        dwords q[4];
        turn_rows(FIELD(iq3_s, q) + 16 * h, stride, q);
        dwords two = h % 2 ? dwords_right_32(high[h / 2], 16) : high[h / 2];
        UNROLL(4)
        for (int i = 0; i < 4; i++) {
            grid_store_indices(index[i / 2][i % 2], q[i], dwords_right_32(two, i / 2 * 8),
                               i % 2 * 4, 1, 1);
        }
        for (int k = 0; k < 8; k++) {
            grid_look_up_4(grid_iq3_s, index[0][k / 4][k % 2], index[1][k / 4][k % 2], k / 2 % 2,
                           INDEX_16, p->weight[8 * h + k], e);
        }
    }
}

static void k_decode_iq3_s(const uint8_t *bytes, size_t stride, struct k_panel *p)
{
    for (int e = 0; e < DECODE_PARTS; e++, bytes += DECODE_ROWS * stride) {
        dwords signs[8], last[4];
        iq3_s_look_up(bytes, stride, p, e);
        grid_store_d(bytes, stride, p, e, 1.0f);
        turn_rows(FIELD(iq3_s, signs), stride, signs);
        turn_rows(FIELD(iq3_s, signs) + 16, stride, signs + 4);
        turn_rows(bytes + sizeof(struct block_iq3_s) - 16, stride, last);
        UNROLL(4)
        for (int h = 0; h < 4; h++) {
            dwords byte = dwords_right_32(last[3], 8 * h);
            iq_store_scales(p, e, h,
                            grid_odd(merge_bits(byte, dwords_set_32(15), dwords_left_32(byte, 12),
                                                dwords_set_32(15 << 16))));
            iq3_finish(p, e, h, signs[2 * h], signs[2 * h + 1], 0);
        }
    }
}

static void k_decode_iq3_xxs(const uint8_t *bytes, size_t stride, struct k_panel *p)
{
    for (int e = 0; e < DECODE_PARTS; e++, bytes += DECODE_ROWS * stride) {
        dwords tail[8];
        for (int h = 0; h < 4; h++) {
            _Alignas(64) grid_indices index[4];
            dwords q[4];
            turn_rows(FIELD(iq3_xxs, q) + 16 * h, stride, q);
            UNROLL(4)
            for (int i = 0; i < 4; i++) {
                dwords_store(index[i], 0, q[i]);
            }
            for (int k = 0; k < 8; k++) {
                grid_look_up_4(grid_iq3_xxs, index[k / 4], index[2 + k / 4], k % 4, INDEX_8,
                               p->weight[8 * h + k], e);
            }
        }
        grid_store_d(bytes, stride, p, e, 0.5f);
        turn_rows(FIELD(iq3_xxs, tail), stride, tail);
        turn_rows(FIELD(iq3_xxs, tail) + 16, stride, tail + 4);
        UNROLL(4)
        for (int h = 0; h < 4; h++) {
            const dwords first = tail[2 * h], second = tail[2 * h + 1];
            iq_store_scales(p, e, h, grid_odd(grid_tail_scales(first, second)));
            iq3_finish(p, e, h, grid_even_signs(first), grid_even_signs(second), 1);
        }
    }
}

/* Two steps of digits, entries of the first sub-block in one and of the second in the other, as
 * eighths of what they stand for, counted from -32: 8 * digit + 25, or 23 for those moved down,
 * which bit `bit` of two int16 says, one a sub-block. */
ALWAYS_INLINE void iq1_finish(struct k_panel *p, int e, int step, dwords high, int bit)
{
    dwords down = dwords_signed_right_16(dwords_left_16(high, 15 - bit), 15);
    dwords add = dwords_sub_8(dwords_set_8(25), dwords_and(down, dwords_set_8(2)));
    const dwords adds[2] = {dwords_unpack_low_16(add, add), dwords_unpack_high_16(add, add)};
    UNROLL(2)
    for (int half = 0; half < 2; half++) {
        uint8_t *low = p->weight[step][half], *upper = p->weight[step + 1][half];
        dwords first = dwords_left_16(dwords_load(low, e), 3);
        dwords second = dwords_left_16(dwords_load(upper, e), 3);
        dwords_store(low, e, dwords_add_8(dwords_even(first, second), adds[half]));
        dwords_store(upper, e, dwords_add_8(dwords_odd(first, second), adds[half]));
    }
}

/* Looks up steps 8h..: q and high of sub-blocks 2h and 2h + 1, the bits of an index `apart`. */
ALWAYS_INLINE void iq1_look_up(const dwords q[2], dwords high, int apart, struct k_panel *p, int e,
                               int h)
{
    _Alignas(64) grid_indices index[2][2]; /* [sub-block][n] */
    grid_store_indices(index[0], q[0], high, 0, apart, 3);
    grid_store_indices(index[1], q[1], dwords_right_32(high, 16), 0, apart, 3);
    for (int k = 0; k < 8; k++) {
        grid_look_up_8(grid_iq1, index[k % 2][k / 2 % 2], k / 4, INDEX_16, p->weight[8 * h + k], e);
    }
}

static void k_decode_iq1_s(const uint8_t *bytes, size_t stride, struct k_panel *p)
{
    for (int e = 0; e < DECODE_PARTS; e++, bytes += DECODE_ROWS * stride) {
        dwords high[4], q[8];
        grid_store_d(bytes, stride, p, e, 0.125f);
        turn_rows(FIELD(iq1_s, high), stride, high);
        turn_rows(FIELD(iq1_s, q), stride, q);
        turn_rows(FIELD(iq1_s, q) + 16, stride, q + 4);
        for (int h = 0; h < 4; h++) {
            iq1_look_up(q + 2 * h, high[h], 3, p, e, h);
        }
        UNROLL(4)
        for (int h = 0; h < 4; h++) {
            iq_store_scales(p, e, h,
                            grid_odd(dwords_and(dwords_right_16(high[h], 12), dwords_set_16(7))));
            UNROLL(4)
            for (int m = 0; m < 4; m++) {
                iq1_finish(p, e, 8 * h + 2 * m, high[h], 15);
            }
        }
    }
}

/* d of IQ1_M: the upper nibbles of the four int16 in two dwords, the lowest first. */
ALWAYS_INLINE dwords iq1_m_half(dwords low, dwords high)
{
    dwords first = merge_bits(dwords_right_32(low, 12), dwords_set_32(0xf),
                              dwords_right_32(low, 24), dwords_set_32(0xf0));
    dwords second = merge_bits(dwords_right_32(high, 4), dwords_set_32(0xf00),
                               dwords_right_32(high, 16), dwords_set_32(0xf000));
    return dwords_or(first, second);
}

/* Scales of pair 2h + c: groups 4h + c and 4h + c + 2, three bits each of an int16, the low one of
 * `four`. */
ALWAYS_INLINE dwords iq1_m_scales(dwords four, int c)
{
    return grid_odd(merge_bits(dwords_right_32(four, 3 * c), dwords_set_32(7),
                               dwords_left_32(four, 10 - 3 * c), dwords_set_32(7 << 16)));
}

static void k_decode_iq1_m(const uint8_t *bytes, size_t stride, struct k_panel *p)
{
    for (int e = 0; e < DECODE_PARTS; e++, bytes += DECODE_ROWS * stride) {
        dwords high[4], q[8], last[4];
        turn_rows(FIELD(iq1_m, high), stride, high);
        turn_rows(FIELD(iq1_m, q), stride, q);
        turn_rows(FIELD(iq1_m, q) + 16, stride, q + 4);
        for (int h = 0; h < 4; h++) {
            iq1_look_up(q + 2 * h, high[h], 4, p, e, h);
        }
        turn_rows(bytes + sizeof(struct block_iq1_m) - 16, stride, last);
        dword_floats_store(p->d + DECODE_ROWS * e,
                           dword_floats_mul(low_halves_to_float(iq1_m_half(last[2], last[3])),
                                            dword_floats_set(0.125f)));
        UNROLL(4)
        for (int h = 0; h < 4; h++) {
            dwords four = h % 2 ? dwords_right_32(last[2 + h / 2], 16) : last[2 + h / 2];
            dwords_store(p->scale[2 * h], e, iq1_m_scales(four, 0));
            dwords_store(p->scale[2 * h + 1], e, iq1_m_scales(four, 1));
            UNROLL(4)
            for (int m = 0; m < 4; m++) {
                iq1_finish(p, e, 8 * h + 2 * m, high[h], 4 * m + 3);
            }
        }
    }
}

#endif
