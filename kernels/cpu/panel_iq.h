/*
 * panel_iq.h: IQ4_XS and the codebook types as K_I32 and K_I16 panels of
 * panel_k.h. A row is first written out as 256 signed bytes and its scales, since
 * a grid is looked up per row; then DECODE_ROWS rows are turned. Where LEVEL_FLIP is
 * 0x80, weights are counted from -128, and minimum * inputs, with minimum =
 * -128 * scale, takes that back.
 */
#ifndef PANEL_IQ_H
#define PANEL_IQ_H

#include "dtype.h"
#include "grids.h"
#include "half.h"
#include "panel_k.h"
#include "unpack.h"

/* A row of a super-block; scales in order, per 32 or per 16 weights. */
struct iq_row {
    _Alignas(32) int8_t weight[SUPER_BLOCK];
    _Alignas(16) int8_t scale[16];
    float d;
};

/* Where a field of the block at `bytes` starts; blocks have no alignment. */
#define FIELD(type, name) (bytes + offsetof(struct block_##type, name))

typedef void iq_write_row(const uint8_t *bytes, struct iq_row *out);

/* Stores 32 magnitudes, negative where a bit of signs is 1. */
ALWAYS_INLINE void iq_store_signed(int8_t *to, __m256i magnitudes, uint32_t signs)
{
    const __m256i byte =
        _mm256_setr_epi64x(0, 0x0101010101010101, 0x0202020202020202, 0x0303030303030303);
    const __m256i bit = _mm256_set1_epi64x((long long)0x8040201008040201);
    __m256i spread = _mm256_shuffle_epi8(_mm256_set1_epi32((int)signs), byte);
    __m256i minus = _mm256_cmpeq_epi8(_mm256_and_si256(spread, bit), bit);
    _mm256_store_si256((__m256i *)to, _mm256_sub_epi8(_mm256_xor_si256(magnitudes, minus), minus));
}

/* Four times seven sign bits to four bytes of eight. */
ALWAYS_INLINE uint32_t iq_signs_of_tail(uint32_t tail)
{
    return even_signs(tail) | even_signs(tail >> 7) << 8 | even_signs(tail >> 14) << 16 |
           even_signs(tail >> 21) << 24;
}

/* 32 magnitudes, or digits, from four entries of eight. */
ALWAYS_INLINE __m256i iq_entries_8(const uint64_t *grid, const unsigned index[4])
{
    return _mm256_setr_epi64x((long long)grid[index[0]], (long long)grid[index[1]],
                              (long long)grid[index[2]], (long long)grid[index[3]]);
}

/* 32 magnitudes from eight entries of four: q and a ninth bit each. */
ALWAYS_INLINE __m256i iq_entries_4(const uint32_t *grid, const uint8_t q[8], unsigned high)
{
    unsigned entry[8];
    UNROLL(8)
    for (int i = 0; i < 8; i++) {
        entry[i] = grid[q[i] | (high << (8 - i) & 256)];
    }
    return _mm256_setr_epi32((int)entry[0], (int)entry[1], (int)entry[2], (int)entry[3],
                             (int)entry[4], (int)entry[5], (int)entry[6], (int)entry[7]);
}

/* The odd scales of `count` nibbles. */
ALWAYS_INLINE void iq_odd_scales(const uint8_t *nibbles, int count, int8_t *out)
{
    for (int j = 0; j < count; j++) {
        out[j] = (int8_t)(2 * (nibbles[j / 2] >> (j % 2 * 4) & 15) + 1);
    }
}

ALWAYS_INLINE void iq_row_iq4_xs(const uint8_t *bytes, struct iq_row *out)
{
    const __m128i levels = _mm_loadu_si128((const __m128i *)iq4_levels);
    const __m128i m15 = _mm_set1_epi8(15);
    unsigned high = load_16(FIELD(iq4_xs, scales_high));
    out->d = half_to_float(load_16(FIELD(iq4_xs, d)));
    for (int j = 0; j < 8; j++) {
        int low = FIELD(iq4_xs, scales_low)[j / 2] >> (j % 2 * 4) & 15;
        __m128i q = _mm_loadu_si128((const __m128i *)(FIELD(iq4_xs, q) + 16 * j));
        __m128i *to = (__m128i *)(out->weight + 32 * j);
        _mm_store_si128(to, _mm_shuffle_epi8(levels, _mm_and_si128(q, m15)));
        _mm_store_si128(to + 1, _mm_shuffle_epi8(levels, _mm_and_si128(_mm_srli_epi16(q, 4), m15)));
        out->scale[j] = (int8_t)((low | (high >> 2 * j & 3) << 4) - 32);
    }
}

ALWAYS_INLINE void iq_row_iq3_s(const uint8_t *bytes, struct iq_row *out)
{
    out->d = half_to_float(load_16(FIELD(iq3_s, d)));
    iq_odd_scales(FIELD(iq3_s, scales), 8, out->scale);
    for (int j = 0; j < 8; j++) {
        iq_store_signed(out->weight + 32 * j,
                        iq_entries_4(grid_iq3_s, FIELD(iq3_s, q) + 8 * j, FIELD(iq3_s, high)[j]),
                        (uint32_t)load_32(FIELD(iq3_s, signs) + 4 * j));
    }
}

ALWAYS_INLINE void iq_row_iq3_xxs(const uint8_t *bytes, struct iq_row *out)
{
    out->d = 0.25f * half_to_float(load_16(FIELD(iq3_xxs, d)));
    for (int j = 0; j < 8; j++) {
        uint32_t tail = (uint32_t)load_32(FIELD(iq3_xxs, tail) + 4 * j);
        iq_store_signed(out->weight + 32 * j,
                        iq_entries_4(grid_iq3_xxs, FIELD(iq3_xxs, q) + 8 * j, 0),
                        iq_signs_of_tail(tail));
        out->scale[j] = (int8_t)(2 * (tail >> 28) + 1);
    }
}

ALWAYS_INLINE void iq_row_iq2_s(const uint8_t *bytes, struct iq_row *out)
{
    out->d = 0.125f * half_to_float(load_16(FIELD(iq2_s, d)));
    iq_odd_scales(FIELD(iq2_s, scales), 16, out->scale);
    for (int j = 0; j < 8; j++) {
        unsigned index[4];
        UNROLL(4)
        for (int i = 0; i < 4; i++) {
            index[i] = FIELD(iq2_s, q)[4 * j + i] | (FIELD(iq2_s, high)[j] << (8 - 2 * i) & 0x300);
        }
        iq_store_signed(out->weight + 32 * j, iq_entries_8(grid_iq2_s, index),
                        (uint32_t)load_32(FIELD(iq2_s, signs) + 4 * j));
    }
}

ALWAYS_INLINE void iq_row_iq2_xs(const uint8_t *bytes, struct iq_row *out)
{
    out->d = 0.125f * half_to_float(load_16(FIELD(iq2_xs, d)));
    iq_odd_scales(FIELD(iq2_xs, scales), 16, out->scale);
    for (int j = 0; j < 8; j++) {
        unsigned index[4];
        uint32_t signs = 0;
        UNROLL(4)
        for (int i = 0; i < 4; i++) {
            uint16_t q = load_16(FIELD(iq2_xs, q) + 2 * (4 * j + i));
            index[i] = q & 511;
            signs |= even_signs(q >> 9) << 8 * i;
        }
        iq_store_signed(out->weight + 32 * j, iq_entries_8(grid_iq2_xs, index), signs);
    }
}

ALWAYS_INLINE void iq_row_iq2_xxs(const uint8_t *bytes, struct iq_row *out)
{
    out->d = 0.125f * half_to_float(load_16(FIELD(iq2_xxs, d)));
    for (int j = 0; j < 8; j++) {
        const uint8_t *q = FIELD(iq2_xxs, part) + 8 * j;
        const unsigned index[4] = {q[0], q[1], q[2], q[3]};
        uint32_t tail = (uint32_t)load_32(FIELD(iq2_xxs, part) + 8 * j + 4);
        iq_store_signed(out->weight + 32 * j, iq_entries_8(grid_iq2_xxs, index),
                        iq_signs_of_tail(tail));
        out->scale[j] = (int8_t)(2 * (tail >> 28) + 1);
    }
}

/* Stores 32 digits as eighths of what they stand for: 8 * digit less 7, or less 9 for
 * those moved down. */
ALWAYS_INLINE void iq_store_digits(int8_t *to, __m256i digits, __m256i less)
{
    _mm256_store_si256((__m256i *)to, _mm256_sub_epi8(_mm256_slli_epi16(digits, 3), less));
}

ALWAYS_INLINE void iq_row_iq1_s(const uint8_t *bytes, struct iq_row *out)
{
    out->d = 0.125f * half_to_float(load_16(FIELD(iq1_s, d)));
    for (int j = 0; j < 8; j++) {
        unsigned index[4], high = load_16(FIELD(iq1_s, high) + 2 * j);
        UNROLL(4)
        for (int i = 0; i < 4; i++) {
            index[i] = FIELD(iq1_s, q)[4 * j + i] | (high >> 3 * i & 7) << 8;
        }
        iq_store_digits(out->weight + 32 * j, iq_entries_8(grid_iq1, index),
                        _mm256_set1_epi8(high >> 15 ? 9 : 7));
        out->scale[j] = (int8_t)(2 * (high >> 12 & 7) + 1);
    }
}

/* What a nibble of IQ1_M takes from each of its eight digits. */
ALWAYS_INLINE long long iq1_m_less(unsigned high)
{
    return high & 8 ? 0x0909090909090909 : 0x0707070707070707;
}

ALWAYS_INLINE void iq_row_iq1_m(const uint8_t *bytes, struct iq_row *out)
{
    out->d = 0.125f * half_to_float(dtype_half_of_nibbles(FIELD(iq1_m, scales)));
    for (int g = 0; g < 16; g++) {
        unsigned scales = load_16(FIELD(iq1_m, scales) + g / 4 * 2);
        out->scale[g] = (int8_t)(2 * (scales >> (g % 4 * 3) & 7) + 1);
    }
    for (int j = 0; j < 8; j++) {
        unsigned index[4], high = load_16(FIELD(iq1_m, high) + 2 * j);
        UNROLL(4)
        for (int i = 0; i < 4; i++) {
            index[i] = FIELD(iq1_m, q)[4 * j + i] | (high >> 4 * i & 7) << 8;
        }
        iq_store_digits(out->weight + 32 * j, iq_entries_8(grid_iq1, index),
                        _mm256_setr_epi64x(iq1_m_less(high), iq1_m_less(high >> 4),
                                           iq1_m_less(high >> 8), iq1_m_less(high >> 12)));
    }
}

/* Stores the scales of pair i of part e of the rows, two int16 a row, and what takes
 * the flip back. */
ALWAYS_INLINE void iq_store_scales(struct k_panel *p, int i, int e, dwords scales)
{
    dwords_store(p->scale[i], e, scales);
    dwords_store(p->minimum[i], e, dwords_sub_16(dwords_zero(), dwords_left_16(scales, 7)));
}

/* Four scales of eight rows (bytes of each dword) to their two pairs. */
ALWAYS_INLINE void iq_turn_scales(struct k_panel *p, int h, int e, dwords bytes, enum k_type type)
{
    if (type == K_I32) { /* pairs are bytes 0, 1 and 2, 3: now 0, 2 and 1, 3 */
        const dwords order =
            dwords_repeat(_mm_setr_epi32(0x03010200, 0x07050604, 0x0b090a08, 0x0f0d0e0c));
        bytes = dwords_shuffle_8(bytes, order);
    }
    iq_store_scales(p, 2 * h, e, dwords_signed_right_16(dwords_left_16(bytes, 8), 8));
    iq_store_scales(p, 2 * h + 1, e, dwords_signed_right_16(bytes, 8));
}

/* Part e of the rows of a panel. */
ALWAYS_INLINE void iq_turn(const struct iq_row rows[DECODE_ROWS], struct k_panel *p, int e,
                           enum k_type type)
{
    const dwords flip = dwords_set_8((char)LEVEL_FLIP);
    dwords v[4], z[4];
    turn_rows((const uint8_t *)rows->scale, sizeof(*rows), v);
    for (int h = 0; h < k_pairs(type) / 2; h++) {
        iq_turn_scales(p, h, e, v[h], type);
    }
    for (int r = 0; r < DECODE_ROWS; r++) {
        p->d[DECODE_ROWS * e + r] = rows[r].d;
    }
    for (int s = 0; s < 8; s++) {
        const uint8_t *from = (const uint8_t *)rows->weight + s / 2 * 64 + s % 2 * 16;
        turn_rows(from, sizeof(*rows), v);
        turn_rows(from + 32, sizeof(*rows), z);
        UNROLL(4)
        for (int k = 0; k < 4; k++) {
            pair_store_step(p->weight[4 * s + k], e, dwords_xor(v[k], flip),
                            dwords_xor(z[k], flip));
        }
    }
}

ALWAYS_INLINE void iq_decode(const uint8_t *bytes, size_t stride, struct k_panel *p,
                             enum k_type type, iq_write_row *write_row)
{
    for (int e = 0; e < DECODE_PARTS; e++) {
        struct iq_row rows[DECODE_ROWS];
        for (int r = 0; r < DECODE_ROWS; r++, bytes += stride) {
            write_row(bytes, &rows[r]);
        }
        iq_turn(rows, p, e, type);
    }
}

#define IQ_DECODE(name, type)                                                                      \
    static void k_decode_##name(const uint8_t *bytes, size_t stride, struct k_panel *p)            \
    {                                                                                              \
        iq_decode(bytes, stride, p, type, iq_row_##name);                                          \
    }

IQ_DECODE(iq4_xs, K_I32)
IQ_DECODE(iq3_s, K_I32)
IQ_DECODE(iq3_xxs, K_I32)
IQ_DECODE(iq2_s, K_I16)
IQ_DECODE(iq2_xs, K_I16)
IQ_DECODE(iq2_xxs, K_I32)
IQ_DECODE(iq1_s, K_I32)
IQ_DECODE(iq1_m, K_I16)

#endif
