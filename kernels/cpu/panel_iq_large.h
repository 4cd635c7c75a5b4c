/*
 * panel_iq_large.h: IQ2 as K_IQ2 panels and IQ4_XS as K_I32 panels of panel_k.h.
 * IQ2_XXS, which has a scale per 32 weights, is what IQ2_XXS_TYPE says: K_I32 where
 * sums of such panels are split, which spares half of the packing.
 */
#ifndef PANEL_IQ_LARGE_H
#define PANEL_IQ_LARGE_H

#include "panel_grid.h"

/* Scales of pair i, two int16 a row, and what takes 11 of the 43 back that weights are counted
 * from; sums start at -32 times their inputs. */
ALWAYS_INLINE void iq2_store_scales(struct k_panel *p, int e, int i, dwords scales)
{
    dwords_store(p->scale[i], e, scales);
    dwords_store(p->minimum[i], e, dwords_multiply_16(scales, dwords_set_16(-11)));
}

/* Scales of sub-blocks 2h and 2h + 1: of both pairs of groups, or as IQ2_XXS_TYPE has them. */
ALWAYS_INLINE void iq2_store_scales_32(struct k_panel *p, int e, int h, dwords scales)
{
    if (IQ2_XXS_TYPE == K_IQ2) {
        iq2_store_scales(p, e, 2 * h, scales);
        iq2_store_scales(p, e, 2 * h + 1, scales);
    } else {
        dwords_store(p->scale[h], e, scales);
        dwords_store(p->minimum[h], e, dwords_multiply_16(scales, dwords_set_16(-43)));
    }
}

/* Of steps 8h.., in turns entries of the first and of the second sub-block, makes steps of
 * weights counted from -43. */
ALWAYS_INLINE void iq2_finish(struct k_panel *p, int e, int h, dwords first_signs,
                              dwords second_signs)
{
    const dwords base = dwords_set_8(43);
    dwords signs[2];
    grid_interleave(first_signs, second_signs, signs);
    UNROLL(8)
    for (int k = 0; k < 8; k += 2) {
        UNROLL(2)
        for (int half = 0; half < 2; half++) {
            uint8_t *low = p->weight[8 * h + k][half], *upper = p->weight[8 * h + k + 1][half];
            const dwords first = dwords_load(low, e), second = dwords_load(upper, e);
            const dwords bits = grid_spread_bits(signs[half], k);
            dwords_store(low, e,
                         dwords_signed(base, dwords_even(first, second), bits, grid_bits_of(k)));
            dwords_store(upper, e,
                         dwords_signed(base, dwords_odd(first, second), bits, grid_bits_of(k + 1)));
        }
    }
}

/* Scales of groups of 16, in nibbles: two dwords. */
ALWAYS_INLINE void iq2_store_nibbles(struct k_panel *p, int e, const dwords nibbles[2])
{
    UNROLL(8)
    for (int i = 0; i < 8; i++) {
        dwords four = i / 2 % 2 ? dwords_right_32(nibbles[i / 4], 16) : nibbles[i / 4];
        iq2_store_scales(p, e, i, grid_odd(grid_nibbles_of_pair(four, i % 2)));
    }
}

static void k_decode_iq2_s(const uint8_t *bytes, size_t stride, struct k_panel *p)
{
    for (int e = 0; e < DECODE_PARTS; e++, bytes += DECODE_ROWS * stride) {
        dwords q[8], last[4], signs[8]; /* last: high, scales */
        turn_rows(FIELD(iq2_s, high), stride, last);
        turn_rows(FIELD(iq2_s, q), stride, q);
        turn_rows(FIELD(iq2_s, q) + 16, stride, q + 4);
        for (int h = 0; h < 4; h++) {
            _Alignas(64) grid_indices index[2][2]; /* [sub-block][n] */
            dwords two = h % 2 ? dwords_right_32(last[h / 2], 16) : last[h / 2];
            grid_store_indices(index[0], q[2 * h], two, 0, 2, 2);
            grid_store_indices(index[1], q[2 * h + 1], dwords_right_32(two, 8), 0, 2, 2);
            for (int k = 0; k < 8; k++) {
                grid_look_up_8(grid_iq2_s, index[k % 2][k / 2 % 2], k / 4, INDEX_16,
                               p->weight[8 * h + k], e);
            }
        }
        grid_store_d(bytes, stride, p, e, 0.125f);
        turn_rows(FIELD(iq2_s, signs), stride, signs);
        turn_rows(FIELD(iq2_s, signs) + 16, stride, signs + 4);
        iq2_store_nibbles(p, e, last + 2);
        UNROLL(4)
        for (int h = 0; h < 4; h++) {
            iq2_finish(p, e, h, signs[2 * h], signs[2 * h + 1]);
        }
    }
}

/* Four times seven sign bits of two dwords, each the upper bits of two int16. */
ALWAYS_INLINE dwords iq2_xs_sevens(dwords low, dwords high)
{
    dwords two = merge_bits(dwords_right_32(low, 9), dwords_set_32(0x7f), dwords_right_32(low, 18),
                            dwords_set_32(0x7f << 7));
    dwords four = merge_bits(dwords_left_32(high, 5), dwords_set_32(0x7f << 14),
                             dwords_right_32(high, 4), dwords_set_32(0x7f << 21));
    return dwords_or(two, four);
}

static void k_decode_iq2_xs(const uint8_t *bytes, size_t stride, struct k_panel *p)
{
    for (int e = 0; e < DECODE_PARTS; e++, bytes += DECODE_ROWS * stride) {
        dwords signs[8], last[4];
        for (int h = 0; h < 4; h++) {
            _Alignas(64) grid_indices index[2][2]; /* [sub-block][entries 2.. of four] */
            dwords q[4];
            turn_rows(FIELD(iq2_xs, q) + 16 * h, stride, q);
            UNROLL(4)
            for (int i = 0; i < 4; i++) {
                dwords_store(index[i / 2][i % 2], 0, dwords_and(q[i], dwords_set_16(511)));
            }
            signs[2 * h] = grid_even_signs(iq2_xs_sevens(q[0], q[1]));
            signs[2 * h + 1] = grid_even_signs(iq2_xs_sevens(q[2], q[3]));
            for (int k = 0; k < 8; k++) {
                grid_look_up_8(grid_iq2_xs, index[k % 2][k / 4], k / 2 % 2, INDEX_16,
                               p->weight[8 * h + k], e);
            }
        }
        grid_store_d(bytes, stride, p, e, 0.125f);
        turn_rows(bytes + sizeof(struct block_iq2_xs) - 16, stride, last);
        iq2_store_nibbles(p, e, last + 2);
        UNROLL(4)
        for (int h = 0; h < 4; h++) {
            iq2_finish(p, e, h, signs[2 * h], signs[2 * h + 1]);
        }
    }
}

static void k_decode_iq2_xxs(const uint8_t *bytes, size_t stride, struct k_panel *p)
{
    for (int e = 0; e < DECODE_PARTS; e++, bytes += DECODE_ROWS * stride) {
        dwords tail[8];
        for (int h = 0; h < 4; h++) {
            _Alignas(64) grid_indices index[2]; /* [sub-block] */
            dwords v[4];
            turn_rows(FIELD(iq2_xxs, part) + 16 * h, stride, v);
            dwords_store(index[0], 0, v[0]);
            dwords_store(index[1], 0, v[2]);
            tail[2 * h] = v[1];
            tail[2 * h + 1] = v[3];
            for (int k = 0; k < 8; k++) {
                grid_look_up_8(grid_iq2_xxs, index[k % 2], k / 2, INDEX_8, p->weight[8 * h + k], e);
            }
        }
        grid_store_d(bytes, stride, p, e, 0.125f);
        UNROLL(4)
        for (int h = 0; h < 4; h++) {
            const dwords first = tail[2 * h], second = tail[2 * h + 1];
            const dwords scales = grid_odd(grid_tail_scales(first, second));
            iq2_store_scales_32(p, e, h, scales);
            iq2_finish(p, e, h, grid_even_signs(first), grid_even_signs(second));
        }
    }
}

/* Scales of sub-blocks 2h and 2h + 1 of IQ4_XS, six bits each of which `low` has four and `high`
 * two; and what takes LEVEL_FLIP back where that is 128. */
ALWAYS_INLINE void iq4_xs_store_scales(struct k_panel *p, int e, int h, dwords low, dwords high)
{
    low = dwords_right_32(low, 8 * h);
    high = dwords_right_32(high, 4 * h);
    dwords first = merge_bits(low, dwords_set_32(15), dwords_left_32(high, 4), dwords_set_32(48));
    dwords second = merge_bits(dwords_left_32(low, 12), dwords_set_32(15 << 16),
                               dwords_left_32(high, 18), dwords_set_32(48 << 16));
    dwords scales = dwords_sub_16(dwords_or(first, second), dwords_set_16(32));
    dwords_store(p->scale[h], e, scales);
    dwords_store(p->minimum[h], e, dwords_sub_16(dwords_zero(), dwords_left_16(scales, 7)));
}

ALWAYS_INLINE dwords iq4_xs_weights(dwords nibbles)
{
    const __m128i levels = _mm_loadu_si128((const __m128i *)iq4_levels);
    dwords level = dwords_shuffle_8(dwords_repeat(levels), dwords_and(nibbles, dwords_set_8(15)));
    return dwords_xor(level, dwords_set_8((char)LEVEL_FLIP));
}

static void k_decode_iq4_xs(const uint8_t *bytes, size_t stride, struct k_panel *p)
{
    for (int e = 0; e < DECODE_PARTS; e++, bytes += DECODE_ROWS * stride) {
        dwords head[4]; /* d and scales_high, scales_low */
        turn_rows(bytes, stride, head);
        store_low_halves(p->d + DECODE_ROWS * e, head[0]);
        UNROLL(4)
        for (int h = 0; h < 4; h++) {
            dwords first[4], second[4];
            iq4_xs_store_scales(p, e, h, head[1], dwords_right_32(head[0], 16));
            turn_rows(FIELD(iq4_xs, q) + 32 * h, stride, first);
            turn_rows(FIELD(iq4_xs, q) + 32 * h + 16, stride, second);
            UNROLL(8)
            for (int k = 0; k < 8; k++) {
                pair_store_step(p->weight[8 * h + k], e,
                                iq4_xs_weights(dwords_right_16(first[k % 4], k / 4 * 4)),
                                iq4_xs_weights(dwords_right_16(second[k % 4], k / 4 * 4)));
            }
        }
    }
}

#endif
