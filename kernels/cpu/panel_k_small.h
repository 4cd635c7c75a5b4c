/*
 * panel_k_small.h: Q2_K, Q3_K and the ternary types as panels of panel_k.h. Q3_K
 * and the ternary types are K_Q3 panels: small weights in groups of 16, counted from
 * -32.
 */
#ifndef PANEL_K_SMALL_H
#define PANEL_K_SMALL_H

#include "panel_k.h"

/* Scales of groups 4h..4h+3 (bytes 0..3 of each dword, signed) for rows
 * 8e..8e+7: pair 2h is bytes 0 and 2, pair 2h + 1 bytes 1 and 3. */
ALWAYS_INLINE void k_store_groups(int16_t (*to)[PANEL_ROWS][2], int e, int h, dwords bytes)
{
    dwords first = dwords_signed_right_16(dwords_left_16(bytes, 8), 8);
    dwords_store(to[2 * h], e, first);
    dwords_store(to[2 * h + 1], e, dwords_signed_right_16(bytes, 8));
}

/* Bits 2n and 2n + 1 of every byte. */
ALWAYS_INLINE dwords k_two_bits(dwords v, int n)
{
    return dwords_and(dwords_right_16(v, 2 * n), dwords_set_8(3));
}

/* Two-bit weights in the order of Q2_K, `offset` added, part e of the rows. Byte
 * 32n + 16c + l of q has weights of groups 8n + c, + 2, + 4 and + 6, from the
 * lowest bits up. */
ALWAYS_INLINE void k_decode_two_bits(const uint8_t *q, size_t stride, struct k_panel *p, int e,
                                     int offset)
{
    const dwords add = dwords_set_8((char)offset);
    UNROLL(4)
    for (int nc = 0; nc < 4; nc++) {
        dwords v[4];
        turn_rows(q + 16 * nc, stride, v);
        UNROLL(2)
        for (int j = 0; j < 2; j++) {
            const int step = 4 * (nc / 2 * 4 + 2 * j + nc % 2);
            UNROLL(4)
            for (int k = 0; k < 4; k++) {
                pair_store_step(p->weight[step + k], e, dwords_add_8(k_two_bits(v[k], 2 * j), add),
                                dwords_add_8(k_two_bits(v[k], 2 * j + 1), add));
            }
        }
    }
}

static void k_decode_q2_k(const uint8_t *bytes, size_t stride, struct k_panel *p)
{
    const dwords m15 = dwords_set_8(15);
    for (int e = 0; e < DECODE_PARTS; e++, bytes += DECODE_ROWS * stride) {
        dwords v[4];
        turn_rows(bytes + sizeof(struct block_q2_k) - 16, stride, v);
        store_low_halves(p->d + DECODE_ROWS * e, v[3]);
        store_low_halves(p->dmin + DECODE_ROWS * e, dwords_right_32(v[3], 16));
        turn_rows(bytes, stride, v);
        UNROLL(4)
        for (int h = 0; h < 4; h++) {
            k_store_groups(p->scale, e, h, dwords_and(v[h], m15));
            k_store_groups(p->minimum, e, h, dwords_and(dwords_right_16(v[h], 4), m15));
        }
        k_decode_two_bits(bytes + offsetof(struct block_q2_k, q), stride, p, e, 0);
    }
}

/* Bytes 2..5 of the eight in two neighbouring dwords. */
ALWAYS_INLINE dwords k_middle(dwords low, dwords high)
{
    return dwords_or(dwords_right_32(low, 16), dwords_left_32(high, 16));
}

/* Scales and d of Q3_K: the last 14 bytes of a block. */
ALWAYS_INLINE void k_decode_q3_scales(const uint8_t *bytes, size_t stride, struct k_panel *p, int e)
{
    const dwords m15 = dwords_set_8(15), m48 = dwords_set_8(48);
    const dwords offset = dwords_set_8(32);
    dwords v[4];
    turn_rows(bytes + sizeof(struct block_q3_k) - 16, stride, v);
    store_low_halves(p->d + DECODE_ROWS * e, dwords_right_32(v[3], 16));
    const dwords low[2] = {k_middle(v[0], v[1]), k_middle(v[1], v[2])};
    const dwords high = k_middle(v[2], v[3]);
    UNROLL(4)
    for (int h = 0; h < 4; h++) {
        dwords nibbles = h < 2 ? low[h] : dwords_right_16(low[h - 2], 4);
        dwords upper = h < 2 ? dwords_left_16(high, 4 - 2 * h) : dwords_right_16(high, 2 * h - 4);
        k_store_groups(p->scale, e, h, dwords_sub_8(merge_bits(nibbles, m15, upper, m48), offset));
    }
}

/* Bit `bit` of every byte at the place of 4; other bits are rubbish. */
ALWAYS_INLINE dwords k_bit_to_4(dwords v, int bit)
{
    return bit < 2 ? dwords_left_16(v, 2 - bit) : dwords_right_16(v, bit - 2);
}

/* q as -4..3 counted from -32. */
ALWAYS_INLINE dwords k_q3_weights(dwords low, dwords high, int n, int bit)
{
    const dwords m3 = dwords_set_8(3), m4 = dwords_set_8(4);
    dwords q = merge_bits(dwords_right_16(low, 2 * n), m3, k_bit_to_4(high, bit), m4);
    return dwords_add_8(q, dwords_set_8(28));
}

static void k_decode_q3_k(const uint8_t *bytes, size_t stride, struct k_panel *p)
{
    for (int e = 0; e < DECODE_PARTS; e++, bytes += DECODE_ROWS * stride) {
        k_decode_q3_scales(bytes, stride, p, e);
        UNROLL(2)
        for (int c = 0; c < 2; c++) {
            dwords high[4];
            turn_rows(bytes + 16 * c, stride, high);
            UNROLL(2)
            for (int n = 0; n < 2; n++) {
                dwords v[4];
                turn_rows(bytes + offsetof(struct block_q3_k, q) + 32 * n + 16 * c, stride, v);
                UNROLL(8)
                for (int jk = 0; jk < 8; jk++) {
                    const int j = jk / 4 * 2, k = jk % 4;
                    pair_store_step(p->weight[4 * (4 * n + j + c) + k], e,
                                    k_q3_weights(v[k], high[k], j, 4 * n + j),
                                    k_q3_weights(v[k], high[k], j + 1, 4 * n + j + 1));
                }
            }
        }
    }
}

/* The scale of a type that has one per block: 1 for each group. */
ALWAYS_INLINE void k_store_ones(struct k_panel *p)
{
    for (int i = 0; i < 8; i++) {
        for (int e = 0; e < DECODE_PARTS; e++) {
            dwords_store(p->scale[i], e, dwords_set_16(1));
        }
    }
}

static void k_decode_tq2_0(const uint8_t *bytes, size_t stride, struct k_panel *p)
{
    k_store_ones(p);
    for (int e = 0; e < DECODE_PARTS; e++, bytes += DECODE_ROWS * stride) {
        dwords v[4];
        turn_rows(bytes + sizeof(struct block_tq2_0) - 16, stride, v);
        store_low_halves(p->d + DECODE_ROWS * e, dwords_right_32(v[3], 16));
        k_decode_two_bits(bytes, stride, p, e, 31);
    }
}

/* The first ternary digit of every byte as -1..1 counted from -32: three times
 * a byte passes 256 from 86 on and 512 from 171 on. */
ALWAYS_INLINE dwords k_ternary(dwords v)
{
    const dwords one = dwords_set_8(86), two = dwords_set_8((char)171);
    dwords digit = dwords_add_8(dwords_equal_8(dwords_max_u8(v, one), v),
                                dwords_equal_8(dwords_max_u8(v, two), v));
    return dwords_sub_8(dwords_set_8(31), digit);
}

ALWAYS_INLINE dwords k_times_3(dwords v)
{
    return dwords_add_8(v, dwords_add_8(v, v));
}

/* The digits of 16 bytes (v: turned) to groups first, first + step, ...; five. */
ALWAYS_INLINE void k_ternary_groups(dwords v[4], dwords (*group)[4], int first, int step)
{
    UNROLL(5)
    for (int n = 0; n < 5; n++) {
        UNROLL(4)
        for (int k = 0; k < 4; k++) {
            group[first + step * n][k] = k_ternary(v[k]);
            v[k] = k_times_3(v[k]);
        }
    }
}

static void k_decode_tq1_0(const uint8_t *bytes, size_t stride, struct k_panel *p)
{
    k_store_ones(p);
    for (int e = 0; e < DECODE_PARTS; e++, bytes += DECODE_ROWS * stride) {
        dwords v[4], group[16][4];
        turn_rows(bytes, stride, v);
        k_ternary_groups(v, group, 0, 2);
        turn_rows(bytes + 16, stride, v);
        k_ternary_groups(v, group, 1, 2);
        turn_rows(bytes + 32, stride, v);
        k_ternary_groups(v, group, 10, 1);
        /* The last 16 bytes of a block end in four bytes of digits and d. */
        turn_rows(bytes + sizeof(struct block_tq1_0) - 16, stride, v);
        store_low_halves(p->d + DECODE_ROWS * e, dwords_right_32(v[3], 16));
        dwords high = k_middle(v[2], v[3]);
        UNROLL(4)
        for (int k = 0; k < 4; k++) {
            group[15][k] = k_ternary(high);
            high = k_times_3(high);
        }
        for (int i = 0; i < 8; i++) {
            const int g = i / 2 * 4 + i % 2;
            UNROLL(4)
            for (int k = 0; k < 4; k++) {
                pair_store_step(p->weight[4 * i + k], e, group[g][k], group[g + 2][k]);
            }
        }
    }
}

#endif
