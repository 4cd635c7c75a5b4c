/*
 * panel_32.h: panels of the types with blocks of 32 weights: 32 steps of pairs
 * (panel_simd.h) of blocks 2i and 2i + 1, a scale per row and block, and for Q4_1
 * and Q5_1 an m. A super-block is eight blocks. Whatever its type, a weight is a
 * byte here: signed, or counted from -128 where LEVEL_FLIP is 0x80.
 */
#ifndef PANEL_32_H
#define PANEL_32_H

#include "blocks.h"
#include "panel.h"
#include "panel_simd.h"
#include "unpack.h"

struct panel_32 {
    _Alignas(64) uint8_t weight[32][2][64]; /* [step][row half] */
    _Alignas(64) float d[8][PANEL_ROWS];    /* [block] */
    _Alignas(64) float m[8][PANEL_ROWS];    /* -m / 128; Q4_1 and Q5_1 only */
};

/* How the nibbles of a type become weights. */
enum nibbles { NIBBLES_ADD, NIBBLES_FIVE_BITS, NIBBLES_LEVELS };

/* What the scales of a block are, from its first byte on. */
enum scales_32 { SCALE_D, SCALES_D_M, SCALE_EXPONENT };

/* Where the parts of a block lie. */
struct form_32 {
    size_t bytes, q, high;
    enum nibbles nibbles;
    int offset;           /* added to q */
    const int8_t *levels; /* or what stands for q */
    enum scales_32 scales;
};

/* 2^(e - 128) of the lowest byte e of each dword, as the product of two powers of nearly
 * the same exponent: both are normal floats, the product may be subnormal. */
ALWAYS_INLINE dword_floats p32_powers(dwords v)
{
    const dwords bias = dwords_set_32(63); /* 127 - 64 */
    dwords exponent = dwords_and(v, dwords_set_32(255)), half = dwords_right_32(exponent, 1);
    dwords first = dwords_add_8(half, bias);
    dwords second = dwords_add_8(dwords_sub_8(exponent, half), bias);
    return dword_floats_mul(dwords_as_floats(dwords_left_32(first, 23)),
                            dwords_as_floats(dwords_left_32(second, 23)));
}

/* d and m of block j for part e of the rows, which starts at bytes in the first row.
 * -m / 128 is exact: it multiplies start32, which is -128 times a sum. */
ALWAYS_INLINE void p32_decode_scales(const uint8_t *bytes, size_t stride, struct panel_32 *p, int e,
                                     int j, enum scales_32 scales)
{
    dwords v[4];
    turn_rows(bytes, stride, v);
    if (scales == SCALE_EXPONENT) {
        dword_floats_store(p->d[j] + DECODE_ROWS * e, p32_powers(v[0]));
        return;
    }
    store_low_halves(p->d[j] + DECODE_ROWS * e, v[0]);
    if (scales == SCALES_D_M) {
        dword_floats m = low_halves_to_float(dwords_right_32(v[0], 16));
        dword_floats_store(p->m[j] + DECODE_ROWS * e,
                           dword_floats_mul(m, dword_floats_set(-0x1p-7f)));
    }
}

/* 16 in each byte of a dword whose bit of four is set: bits first..first + 3 of
 * `high`, first a multiple of 4. */
ALWAYS_INLINE dwords p32_fifth_bits(dwords high, int first)
{
    const dwords byte =
        dwords_add_8(dwords_set_8((char)(first / 8)),
                     dwords_repeat(_mm_setr_epi32(0, 0x04040404, 0x08080808, 0x0c0c0c0c)));
    const dwords bit = dwords_set_32(first % 8 ? (int)0x80402010 : 0x08040201);
    dwords spread = dwords_and(dwords_shuffle_8(high, byte), bit);
    return dwords_and(dwords_equal_8(spread, bit), dwords_set_8(16));
}

/* Nibbles (in the low halves of bytes) of weights first..first + 3 as weights. */
ALWAYS_INLINE dwords p32_weights(dwords nibbles, dwords high, int first, const struct form_32 f)
{
    nibbles = dwords_and(nibbles, dwords_set_8(15));
    if (f.nibbles == NIBBLES_LEVELS) {
        const __m128i levels = _mm_loadu_si128((const __m128i *)f.levels);
        const dwords flip = dwords_set_8((char)LEVEL_FLIP);
        return dwords_xor(dwords_shuffle_8(dwords_repeat(levels), nibbles), flip);
    }
    if (f.nibbles == NIBBLES_FIVE_BITS) {
        nibbles = dwords_or(nibbles, p32_fifth_bits(high, first));
    }
    return dwords_add_8(nibbles, dwords_set_8((char)(f.offset + LEVEL_FLIP)));
}

/* Blocks 2i and 2i + 1, part e of the rows, of a type with nibbles. */
ALWAYS_INLINE void p32_decode_pair(const uint8_t *bytes, size_t stride, struct panel_32 *p, int e,
                                   int i, const struct form_32 f)
{
    const uint8_t *first = bytes + (size_t)(2 * i) * f.bytes, *second = first + f.bytes;
    dwords v[4], z[4], high_v[4], high_z[4];
    p32_decode_scales(first, stride, p, e, 2 * i, f.scales);
    p32_decode_scales(second, stride, p, e, 2 * i + 1, f.scales);
    turn_rows(first + f.q, stride, v);
    turn_rows(second + f.q, stride, z);
    if (f.nibbles == NIBBLES_FIVE_BITS) {
        turn_rows(first + f.high, stride, high_v);
        turn_rows(second + f.high, stride, high_z);
    } else {
        high_v[0] = high_z[0] = dwords_zero();
    }
    UNROLL(4)
    for (int k = 0; k < 4; k++) {
        pair_store_step(p->weight[8 * i + k], e, p32_weights(v[k], high_v[0], 4 * k, f),
                        p32_weights(z[k], high_z[0], 4 * k, f));
        dwords upper_v = dwords_right_16(v[k], 4), upper_z = dwords_right_16(z[k], 4);
        pair_store_step(p->weight[8 * i + 4 + k], e, p32_weights(upper_v, high_v[0], 16 + 4 * k, f),
                        p32_weights(upper_z, high_z[0], 16 + 4 * k, f));
    }
}

ALWAYS_INLINE void p32_decode(const uint8_t *bytes, size_t stride, struct panel_32 *p,
                              const struct form_32 f)
{
    for (int e = 0; e < DECODE_PARTS; e++, bytes += DECODE_ROWS * stride) {
        UNROLL(4)
        for (int i = 0; i < 4; i++) {
            p32_decode_pair(bytes, stride, p, e, i, f);
        }
    }
}

/* Blocks of nibbles q and bits `high`, which a type without them has at q as well. */
#define P32_DECODE(type, high, nibbles, offset, levels, scales)                                    \
    static void p32_decode_##type(const uint8_t *bytes, size_t stride, struct panel_32 *p)         \
    {                                                                                              \
        const struct form_32 f = {sizeof(struct block_##type),                                     \
                                  offsetof(struct block_##type, q),                                \
                                  offsetof(struct block_##type, high),                             \
                                  nibbles,                                                         \
                                  offset,                                                          \
                                  levels,                                                          \
                                  scales};                                                         \
        p32_decode(bytes, stride, p, f);                                                           \
    }

P32_DECODE(q4_0, q, NIBBLES_ADD, -8, NULL, SCALE_D)
P32_DECODE(q4_1, q, NIBBLES_ADD, 0, NULL, SCALES_D_M)
P32_DECODE(q5_0, high, NIBBLES_FIVE_BITS, -16, NULL, SCALE_D)
P32_DECODE(q5_1, high, NIBBLES_FIVE_BITS, 0, NULL, SCALES_D_M)
P32_DECODE(iq4_nl, q, NIBBLES_LEVELS, 0, iq4_levels, SCALE_D)
P32_DECODE(mxfp4, q, NIBBLES_LEVELS, 0, mxfp4_levels, SCALE_EXPONENT)

static void p32_decode_q8_0(const uint8_t *bytes, size_t stride, struct panel_32 *p)
{
    const dwords flip = dwords_set_8((char)LEVEL_FLIP);
    for (int e = 0; e < DECODE_PARTS; e++, bytes += DECODE_ROWS * stride) {
        UNROLL(4)
        for (int i = 0; i < 4; i++) {
            const uint8_t *first = bytes + (size_t)(2 * i) * sizeof(struct block_q8_0);
            const uint8_t *second = first + sizeof(struct block_q8_0);
            p32_decode_scales(first, stride, p, e, 2 * i, SCALE_D);
            p32_decode_scales(second, stride, p, e, 2 * i + 1, SCALE_D);
            UNROLL(2)
            for (int c = 0; c < 2; c++) {
                dwords v[4], z[4];
                turn_rows(first + 2 + 16 * c, stride, v);
                turn_rows(second + 2 + 16 * c, stride, z);
                UNROLL(4)
                for (int k = 0; k < 4; k++) {
                    pair_store_step(p->weight[8 * i + 4 * c + k], e, dwords_xor(v[k], flip),
                                    dwords_xor(z[k], flip));
                }
            }
        }
    }
}

#endif
