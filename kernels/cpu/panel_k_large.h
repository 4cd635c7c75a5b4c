/*
 * panel_k_large.h: Q4_K, Q5_K and Q6_K as panels of panel_k.h.
 */
#ifndef PANEL_K_LARGE_H
#define PANEL_K_LARGE_H

#include "panel_k.h"

/* Bytes 0..3 of each dword as two pairs of int16. */
ALWAYS_INLINE void k_store_bytes(int16_t (*to)[PANEL_ROWS][2], int e, dwords bytes)
{
    const dwords low = dwords_repeat(
        _mm_setr_epi32((int)0x80018000, (int)0x80058004, (int)0x80098008, (int)0x800d800c));
    const dwords high = dwords_add_8(low, dwords_set_32(0x00020002));
    dwords_store(to[0], e, dwords_shuffle_8(bytes, low));
    dwords_store(to[1], e, dwords_shuffle_8(bytes, high));
}

/* d, dmin and the twelve bytes of 6-bit scales and minimums of Q4_K and Q5_K,
 * for part e of the rows. */
ALWAYS_INLINE void k_decode_scales(const uint8_t *bytes, size_t stride, struct k_panel *p, int e)
{
    const dwords m15 = dwords_set_8(15), m63 = dwords_set_8(63);
    const dwords m48 = dwords_set_8(48);
    dwords v[4];
    turn_rows(bytes, stride, v);
    store_low_halves(p->d + DECODE_ROWS * e, v[0]);
    store_low_halves(p->dmin + DECODE_ROWS * e, dwords_right_32(v[0], 16));
    k_store_bytes(p->scale, e, dwords_and(v[1], m63));
    k_store_bytes(p->scale + 2, e, merge_bits(v[3], m15, dwords_right_16(v[1], 2), m48));
    k_store_bytes(p->minimum, e, dwords_and(v[2], m63));
    k_store_bytes(p->minimum + 2, e,
                  merge_bits(dwords_right_16(v[3], 4), m15, dwords_right_16(v[2], 2), m48));
}

static void k_decode_q4_k(const uint8_t *bytes, size_t stride, struct k_panel *p)
{
    const dwords m15 = dwords_set_8(15);
    for (int e = 0; e < DECODE_PARTS; e++, bytes += DECODE_ROWS * stride) {
        k_decode_scales(bytes, stride, p, e);
        UNROLL(8)
        for (int c = 0; c < 8; c++) {
            dwords v[4];
            turn_rows(bytes + 16 + 16 * c, stride, v);
            UNROLL(4)
            for (int k = 0; k < 4; k++) {
                pair_store_step(p->weight[4 * c + k], e, dwords_and(v[k], m15),
                                dwords_and(dwords_right_16(v[k], 4), m15));
            }
        }
    }
}

/* Bit `bit` of every byte at the place of 16; other bits are rubbish. */
ALWAYS_INLINE dwords k_bit_to_16(dwords v, int bit)
{
    return bit < 4 ? dwords_left_16(v, 4 - bit) : dwords_right_16(v, bit - 4);
}

static void k_decode_q5_k(const uint8_t *bytes, size_t stride, struct k_panel *p)
{
    const dwords m15 = dwords_set_8(15), m16 = dwords_set_8(16);
    for (int e = 0; e < DECODE_PARTS; e++, bytes += DECODE_ROWS * stride) {
        dwords high[8];
        k_decode_scales(bytes, stride, p, e);
        turn_rows(bytes + 16, stride, high);
        turn_rows(bytes + 32, stride, high + 4);
        UNROLL(8)
        for (int c = 0; c < 8; c++) {
            dwords v[4];
            turn_rows(bytes + 48 + 16 * c, stride, v);
            UNROLL(4)
            for (int k = 0; k < 4; k++) {
                dwords u = high[c % 2 * 4 + k];
                pair_store_step(
                    p->weight[4 * c + k], e, merge_bits(v[k], m15, k_bit_to_16(u, c / 2 * 2), m16),
                    merge_bits(dwords_right_16(v[k], 4), m15, k_bit_to_16(u, c / 2 * 2 + 1), m16));
            }
        }
    }
}

/* Scales and d of Q6_K for part e of the rows. Dword h of the scales holds groups
 * 4h..4h+3: pair 2h is its bytes 0 and 2, pair 2h + 1 bytes 1 and 3. */
ALWAYS_INLINE void k_decode_q6_scales(const uint8_t *bytes, size_t stride, struct k_panel *p, int e)
{
    dwords v[4];
    turn_rows(bytes + 194, stride, v); /* the last 16 bytes of a block end in d */
    store_low_halves(p->d + DECODE_ROWS * e, dwords_right_32(v[3], 16));
    turn_rows(bytes + 192, stride, v);
    UNROLL(4)
    for (int h = 0; h < 4; h++) {
        dwords first = dwords_signed_right_16(dwords_left_16(v[h], 8), 8);
        dwords_store(p->scale[2 * h], e, first);
        dwords_store(p->scale[2 * h + 1], e, dwords_signed_right_16(v[h], 8));
    }
}

/* Weights of half n (0, 1) of a Q6_K block for part e of the rows. Low bytes
 * 64n + 16c.. hold groups c (low nibbles) and c + 4 (high), the 32 behind them
 * groups c + 2 and c + 6; bit pairs of the high bytes belong to groups c, c + 2,
 * c + 4 and c + 6 from the lowest up. */
ALWAYS_INLINE void k_decode_q6_half(const uint8_t *bytes, size_t stride, struct k_panel *p, int e,
                                    int n)
{
    const dwords m15 = dwords_set_8(15), m48 = dwords_set_8(48);
    UNROLL(2)
    for (int c = 0; c < 2; c++) {
        dwords v[4], z[4], high[4];
        turn_rows(bytes + 128 + 32 * n + 16 * c, stride, high);
        turn_rows(bytes + 64 * n + 16 * c, stride, v);
        turn_rows(bytes + 64 * n + 32 + 16 * c, stride, z);
        UNROLL(4)
        for (int k = 0; k < 4; k++) {
            dwords u = high[k], low_v = v[k], low_z = z[k];
            pair_store_step(p->weight[16 * n + 4 * c + k], e,
                            merge_bits(low_v, m15, dwords_left_16(u, 4), m48),
                            merge_bits(low_z, m15, dwords_left_16(u, 2), m48));
            pair_store_step(p->weight[16 * n + 8 + 4 * c + k], e,
                            merge_bits(dwords_right_16(low_v, 4), m15, u, m48),
                            merge_bits(dwords_right_16(low_z, 4), m15, dwords_right_16(u, 2), m48));
        }
    }
}

static void k_decode_q6_k(const uint8_t *bytes, size_t stride, struct k_panel *p)
{
    for (int e = 0; e < DECODE_PARTS; e++, bytes += DECODE_ROWS * stride) {
        k_decode_q6_scales(bytes, stride, p, e);
        k_decode_q6_half(bytes, stride, p, e, 0);
        k_decode_q6_half(bytes, stride, p, e, 1);
    }
}

#endif
