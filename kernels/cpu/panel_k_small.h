/*
 * panel_k_small.h: Q2_K, Q3_K and the ternary types as panels of panel_k.h. Q3_K
 * and the ternary types are K_Q6 panels: weights within -32..31 in groups of 16,
 * counted from -32.
 */
#ifndef PANEL_K_SMALL_H
#define PANEL_K_SMALL_H

#include "panel_k.h"

/* Scales of groups 4h..4h+3 (bytes 0..3 of each dword, signed) for rows
 * 8e..8e+7: pair 2h is bytes 0 and 2, pair 2h + 1 bytes 1 and 3. */
ALWAYS_INLINE void k_store_groups(int16_t (*to)[PANEL_ROWS][2], int e, int h, __m256i bytes)
{
    __m256i first = _mm256_srai_epi16(_mm256_slli_epi16(bytes, 8), 8);
    _mm256_store_si256((__m256i *)to[2 * h] + e, first);
    _mm256_store_si256((__m256i *)to[2 * h + 1] + e, _mm256_srai_epi16(bytes, 8));
}

/* Bits 2n and 2n + 1 of every byte. */
ALWAYS_INLINE __m256i k_two_bits(__m256i v, int n)
{
    return _mm256_and_si256(_mm256_srli_epi16(v, 2 * n), _mm256_set1_epi8(3));
}

/* Two-bit weights in the order of Q2_K, `offset` added, rows 8e..8e+7. Byte
 * 32n + 16c + l of q has weights of groups 8n + c, + 2, + 4 and + 6, from the
 * lowest bits up. */
ALWAYS_INLINE void k_decode_two_bits(const uint8_t *q, size_t stride, struct k_panel *p, int e,
                                     int offset)
{
    const __m256i add = _mm256_set1_epi8((char)offset);
    UNROLL(4)
    for (int nc = 0; nc < 4; nc++) {
        __m256i v[4];
        turn_rows(q + 16 * nc, stride, v);
        UNROLL(2)
        for (int j = 0; j < 2; j++) {
            const int step = 4 * (nc / 2 * 4 + 2 * j + nc % 2);
            UNROLL(4)
            for (int k = 0; k < 4; k++) {
                pair_store_step(p->weight[step + k], e,
                                _mm256_add_epi8(k_two_bits(v[k], 2 * j), add),
                                _mm256_add_epi8(k_two_bits(v[k], 2 * j + 1), add));
            }
        }
    }
}

static void k_decode_q2_k(const uint8_t *bytes, size_t stride, struct k_panel *p)
{
    const __m256i m15 = _mm256_set1_epi8(15);
    for (int e = 0; e < 2; e++, bytes += 8 * stride) {
        __m256i v[4];
        turn_rows(bytes + sizeof(struct block_q2_k) - 16, stride, v);
        _mm256_store_ps(p->d + 8 * e, low_halves_to_float(v[3]));
        _mm256_store_ps(p->dmin + 8 * e, low_halves_to_float(_mm256_srli_epi32(v[3], 16)));
        turn_rows(bytes, stride, v);
        UNROLL(4)
        for (int h = 0; h < 4; h++) {
            k_store_groups(p->scale, e, h, _mm256_and_si256(v[h], m15));
            k_store_groups(p->minimum, e, h, _mm256_and_si256(_mm256_srli_epi16(v[h], 4), m15));
        }
        k_decode_two_bits(bytes + offsetof(struct block_q2_k, q), stride, p, e, 0);
    }
}

/* Bytes 2..5 of the eight in two neighbouring dwords. */
ALWAYS_INLINE __m256i k_middle(__m256i low, __m256i high)
{
    return _mm256_or_si256(_mm256_srli_epi32(low, 16), _mm256_slli_epi32(high, 16));
}

/* Scales and d of Q3_K: the last 14 bytes of a block. */
ALWAYS_INLINE void k_decode_q3_scales(const uint8_t *bytes, size_t stride, struct k_panel *p, int e)
{
    const __m256i m15 = _mm256_set1_epi8(15), m48 = _mm256_set1_epi8(48);
    const __m256i offset = _mm256_set1_epi8(32);
    __m256i v[4];
    turn_rows(bytes + sizeof(struct block_q3_k) - 16, stride, v);
    _mm256_store_ps(p->d + 8 * e, low_halves_to_float(_mm256_srli_epi32(v[3], 16)));
    const __m256i low[2] = {k_middle(v[0], v[1]), k_middle(v[1], v[2])};
    const __m256i high = k_middle(v[2], v[3]);
    UNROLL(4)
    for (int h = 0; h < 4; h++) {
        __m256i nibbles = h < 2 ? low[h] : _mm256_srli_epi16(low[h - 2], 4);
        __m256i upper =
            h < 2 ? _mm256_slli_epi16(high, 4 - 2 * h) : _mm256_srli_epi16(high, 2 * h - 4);
        k_store_groups(p->scale, e, h,
                       _mm256_sub_epi8(merge_bits(nibbles, m15, upper, m48), offset));
    }
}

/* Bit `bit` of every byte at the place of 4; other bits are rubbish. */
ALWAYS_INLINE __m256i k_bit_to_4(__m256i v, int bit)
{
    return bit < 2 ? _mm256_slli_epi16(v, 2 - bit) : _mm256_srli_epi16(v, bit - 2);
}

/* q as -4..3 counted from -32. */
ALWAYS_INLINE __m256i k_q3_weights(__m256i low, __m256i high, int n, int bit)
{
    const __m256i m3 = _mm256_set1_epi8(3), m4 = _mm256_set1_epi8(4);
    __m256i q = merge_bits(_mm256_srli_epi16(low, 2 * n), m3, k_bit_to_4(high, bit), m4);
    return _mm256_add_epi8(q, _mm256_set1_epi8(28));
}

static void k_decode_q3_k(const uint8_t *bytes, size_t stride, struct k_panel *p)
{
    for (int e = 0; e < 2; e++, bytes += 8 * stride) {
        k_decode_q3_scales(bytes, stride, p, e);
        UNROLL(2)
        for (int c = 0; c < 2; c++) {
            __m256i high[4];
            turn_rows(bytes + 16 * c, stride, high);
            UNROLL(2)
            for (int n = 0; n < 2; n++) {
                __m256i v[4];
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
        _mm256_store_si256((__m256i *)p->scale[i], _mm256_set1_epi16(1));
        _mm256_store_si256((__m256i *)p->scale[i] + 1, _mm256_set1_epi16(1));
    }
}

static void k_decode_tq2_0(const uint8_t *bytes, size_t stride, struct k_panel *p)
{
    k_store_ones(p);
    for (int e = 0; e < 2; e++, bytes += 8 * stride) {
        __m256i v[4];
        turn_rows(bytes + sizeof(struct block_tq2_0) - 16, stride, v);
        _mm256_store_ps(p->d + 8 * e, low_halves_to_float(_mm256_srli_epi32(v[3], 16)));
        k_decode_two_bits(bytes, stride, p, e, 31);
    }
}

/* The first ternary digit of every byte as -1..1 counted from -32: three times
 * a byte passes 256 from 86 on and 512 from 171 on. */
ALWAYS_INLINE __m256i k_ternary(__m256i v)
{
    const __m256i one = _mm256_set1_epi8(86), two = _mm256_set1_epi8((char)171);
    __m256i digit = _mm256_add_epi8(_mm256_cmpeq_epi8(_mm256_max_epu8(v, one), v),
                                    _mm256_cmpeq_epi8(_mm256_max_epu8(v, two), v));
    return _mm256_sub_epi8(_mm256_set1_epi8(31), digit);
}

ALWAYS_INLINE __m256i k_times_3(__m256i v)
{
    return _mm256_add_epi8(v, _mm256_add_epi8(v, v));
}

/* The digits of 16 bytes (v: turned) to groups first, first + step, ...; five. */
ALWAYS_INLINE void k_ternary_groups(__m256i v[4], __m256i (*group)[4], int first, int step)
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
    for (int e = 0; e < 2; e++, bytes += 8 * stride) {
        __m256i v[4], group[16][4];
        turn_rows(bytes, stride, v);
        k_ternary_groups(v, group, 0, 2);
        turn_rows(bytes + 16, stride, v);
        k_ternary_groups(v, group, 1, 2);
        turn_rows(bytes + 32, stride, v);
        k_ternary_groups(v, group, 10, 1);
        /* The last 16 bytes of a block end in four bytes of digits and d. */
        turn_rows(bytes + sizeof(struct block_tq1_0) - 16, stride, v);
        _mm256_store_ps(p->d + 8 * e, low_halves_to_float(_mm256_srli_epi32(v[3], 16)));
        __m256i high = k_middle(v[2], v[3]);
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
