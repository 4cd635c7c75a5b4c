/*
 * panel_k_large.h: Q4_K, Q5_K and Q6_K as panels of panel_k.h.
 */
#ifndef PANEL_K_LARGE_H
#define PANEL_K_LARGE_H

#include "panel_k.h"

/* Bytes 0..3 of each dword as two pairs of int16. */
ALWAYS_INLINE void k_store_bytes(int16_t (*to)[PANEL_ROWS][2], int e, __m256i bytes)
{
    const __m256i low =
        _mm256_setr_epi32((int)0x80018000, (int)0x80058004, (int)0x80098008, (int)0x800d800c,
                          (int)0x80018000, (int)0x80058004, (int)0x80098008, (int)0x800d800c);
    const __m256i high = _mm256_add_epi8(low, _mm256_set1_epi32(0x00020002));
    _mm256_store_si256((__m256i *)to[0] + e, _mm256_shuffle_epi8(bytes, low));
    _mm256_store_si256((__m256i *)to[1] + e, _mm256_shuffle_epi8(bytes, high));
}

/* d, dmin and the twelve bytes of 6-bit scales and minimums of Q4_K and Q5_K,
 * for rows 8e..8e+7. */
ALWAYS_INLINE void k_decode_scales(const uint8_t *bytes, size_t stride, struct k_panel *p, int e)
{
    const __m256i m15 = _mm256_set1_epi8(15), m63 = _mm256_set1_epi8(63);
    const __m256i m48 = _mm256_set1_epi8(48);
    __m256i v[4];
    turn_rows(bytes, stride, v);
    _mm256_store_ps(p->d + 8 * e, low_halves_to_float(v[0]));
    _mm256_store_ps(p->dmin + 8 * e, low_halves_to_float(_mm256_srli_epi32(v[0], 16)));
    k_store_bytes(p->scale, e, _mm256_and_si256(v[1], m63));
    k_store_bytes(p->scale + 2, e, merge_bits(v[3], m15, _mm256_srli_epi16(v[1], 2), m48));
    k_store_bytes(p->minimum, e, _mm256_and_si256(v[2], m63));
    k_store_bytes(p->minimum + 2, e,
                  merge_bits(_mm256_srli_epi16(v[3], 4), m15, _mm256_srli_epi16(v[2], 2), m48));
}

static void k_decode_q4_k(const uint8_t *bytes, size_t stride, struct k_panel *p)
{
    const __m256i m15 = _mm256_set1_epi8(15);
    for (int e = 0; e < 2; e++, bytes += 8 * stride) {
        k_decode_scales(bytes, stride, p, e);
        UNROLL(8)
        for (int c = 0; c < 8; c++) {
            __m256i v[4];
            turn_rows(bytes + 16 + 16 * c, stride, v);
            UNROLL(4)
            for (int k = 0; k < 4; k++) {
                pair_store_step(p->weight[4 * c + k], e, _mm256_and_si256(v[k], m15),
                                _mm256_and_si256(_mm256_srli_epi16(v[k], 4), m15));
            }
        }
    }
}

/* Bit `bit` of every byte at the place of 16; other bits are rubbish. */
ALWAYS_INLINE __m256i k_bit_to_16(__m256i v, int bit)
{
    return bit < 4 ? _mm256_slli_epi16(v, 4 - bit) : _mm256_srli_epi16(v, bit - 4);
}

static void k_decode_q5_k(const uint8_t *bytes, size_t stride, struct k_panel *p)
{
    const __m256i m15 = _mm256_set1_epi8(15), m16 = _mm256_set1_epi8(16);
    for (int e = 0; e < 2; e++, bytes += 8 * stride) {
        __m256i high[8];
        k_decode_scales(bytes, stride, p, e);
        turn_rows(bytes + 16, stride, high);
        turn_rows(bytes + 32, stride, high + 4);
        UNROLL(8)
        for (int c = 0; c < 8; c++) {
            __m256i v[4];
            turn_rows(bytes + 48 + 16 * c, stride, v);
            UNROLL(4)
            for (int k = 0; k < 4; k++) {
                __m256i u = high[c % 2 * 4 + k];
                pair_store_step(p->weight[4 * c + k], e,
                                merge_bits(v[k], m15, k_bit_to_16(u, c / 2 * 2), m16),
                                merge_bits(_mm256_srli_epi16(v[k], 4), m15,
                                           k_bit_to_16(u, c / 2 * 2 + 1), m16));
            }
        }
    }
}

/* Scales and d of Q6_K for rows 8e..8e+7. Dword h of the scales holds groups
 * 4h..4h+3: pair 2h is its bytes 0 and 2, pair 2h + 1 bytes 1 and 3. */
ALWAYS_INLINE void k_decode_q6_scales(const uint8_t *bytes, size_t stride, struct k_panel *p, int e)
{
    __m256i v[4];
    turn_rows(bytes + 194, stride, v); /* the last 16 bytes of a block end in d */
    _mm256_store_ps(p->d + 8 * e, low_halves_to_float(_mm256_srli_epi32(v[3], 16)));
    turn_rows(bytes + 192, stride, v);
    UNROLL(4)
    for (int h = 0; h < 4; h++) {
        __m256i first = _mm256_srai_epi16(_mm256_slli_epi16(v[h], 8), 8);
        _mm256_store_si256((__m256i *)p->scale[2 * h] + e, first);
        _mm256_store_si256((__m256i *)p->scale[2 * h + 1] + e, _mm256_srai_epi16(v[h], 8));
    }
}

/* Weights of half n (0, 1) of a Q6_K block for rows 8e..8e+7. Low bytes
 * 64n + 16c.. hold groups c (low nibbles) and c + 4 (high), the 32 behind them
 * groups c + 2 and c + 6; bit pairs of the high bytes belong to groups c, c + 2,
 * c + 4 and c + 6 from the lowest up. */
ALWAYS_INLINE void k_decode_q6_half(const uint8_t *bytes, size_t stride, struct k_panel *p, int e,
                                    int n)
{
    const __m256i m15 = _mm256_set1_epi8(15), m48 = _mm256_set1_epi8(48);
    UNROLL(2)
    for (int c = 0; c < 2; c++) {
        __m256i v[4], z[4], high[4];
        turn_rows(bytes + 128 + 32 * n + 16 * c, stride, high);
        turn_rows(bytes + 64 * n + 16 * c, stride, v);
        turn_rows(bytes + 64 * n + 32 + 16 * c, stride, z);
        UNROLL(4)
        for (int k = 0; k < 4; k++) {
            __m256i u = high[k], low_v = v[k], low_z = z[k];
            pair_store_step(p->weight[16 * n + 4 * c + k], e,
                            merge_bits(low_v, m15, _mm256_slli_epi16(u, 4), m48),
                            merge_bits(low_z, m15, _mm256_slli_epi16(u, 2), m48));
            pair_store_step(
                p->weight[16 * n + 8 + 4 * c + k], e,
                merge_bits(_mm256_srli_epi16(low_v, 4), m15, u, m48),
                merge_bits(_mm256_srli_epi16(low_z, 4), m15, _mm256_srli_epi16(u, 2), m48));
        }
    }
}

static void k_decode_q6_k(const uint8_t *bytes, size_t stride, struct k_panel *p)
{
    for (int e = 0; e < 2; e++, bytes += 8 * stride) {
        k_decode_q6_scales(bytes, stride, p, e);
        k_decode_q6_half(bytes, stride, p, e, 0);
        k_decode_q6_half(bytes, stride, p, e, 1);
    }
}

#endif
