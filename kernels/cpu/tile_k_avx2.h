/*
 * tile_k_avx2.h: tiles of the types with blocks of 256 weights against int8
 * without VNNI, eight rows of a panel at a time; TOKENS is the most tokens of a
 * tile. vpmaddubsw gives sums of two products in int16 (at most 2 * 86 * 127, no
 * saturation), which are added in int16 over a sub-block; one vpmaddwd by the
 * scale then gives int32.
 *
 * An int16 lane meets half of a sub-block's weights:
 *   Q4_K 16 * 15 * 127 = 30,480 always fits, Q2_K 8 * 3 * 127 = 3,048;
 *   Q6_K 8 * 32 * 127 = 32,512 fits at the end: sums start at -32 * (sum of
 *        their activations) and may wrap on the way, which addition undoes; so
 *        do Q3_K, the ternary types, IQ3 and IQ1;
 *   Q5_K 16 * 31 * 127 does not: a token whose sub-block sums are wide is
 *        flushed after four steps, 8 * 31 * 127 = 31,496;
 *   IQ2  8 * 54 * 127 does not: with a wide token what sums start at and every
 *        step, at most 2 * 86 * 127 = 21,844, are scaled by themselves.
 */
#ifndef TILE_K_AVX2_H
#define TILE_K_AVX2_H

#include "panel_k.h"

/* A panel and its scales as vpmaddwd wants them: each twice, beside the
 * weights that they belong to. */
struct k_panel_avx2 {
    struct k_panel base;
    _Alignas(64) int16_t scale[8][2][2][16]; /* [pair][rows 8e..][row half][...] */
};

/* decode_NAME: a decoder that fills the base of a panel. */
#define BASE_DECODER(name)                                                                         \
    static void decode_##name(const uint8_t *bytes, size_t stride, struct k_panel_avx2 *p)         \
    {                                                                                              \
        k_decode_##name(bytes, stride, &p->base);                                                  \
    }

ALWAYS_INLINE void spread_scales(struct k_panel_avx2 *p, enum k_type type)
{
    for (int i = 0; i < k_pairs(type); i++) {
        for (int e = 0; e < 2; e++) {
            __m256i pairs = _mm256_load_si256((const __m256i *)p->base.scale[i] + e);
            _mm256_store_si256((__m256i *)p->scale[i][e][0], _mm256_unpacklo_epi16(pairs, pairs));
            _mm256_store_si256((__m256i *)p->scale[i][e][1], _mm256_unpackhi_epi16(pairs, pairs));
        }
    }
}

/* What the sums of pair i of a token start at. */
ALWAYS_INLINE __m256i start_of(const struct activations_q8_256 *in, size_t row, int i,
                               enum k_type type)
{
    return k_starts_below(type) ? _mm256_set1_epi64x(load_64(in->start2 + row * 32 + 4 * i))
                                : _mm256_setzero_si256();
}

/* total[row half] + scale * sum. */
ALWAYS_INLINE void add_scaled(__m256i total[2], const __m256i sum[2], const __m256i scale[2])
{
    UNROLL(2)
    for (int h = 0; h < 2; h++) {
        __m256i scaled = _mm256_madd_epi16(sum[h], _mm256_load_si256(scale + h));
        total[h] = _mm256_add_epi32(total[h], scaled);
    }
}

/* Adds pair i of rows 8e.. to total[n][row half]; leaves int16 after every
 * `flush` steps. Sums that start below 0 and are not whole do so by themselves. */
ALWAYS_INLINE void add_pair(const struct k_panel_avx2 *p, const struct activations_q8_256 *in,
                            size_t at, int e, int i, __m256i (*total)[2], const int n,
                            enum k_type type, const int flush)
{
    const int steps = k_steps(type);
    const int8_t *q = in->q + at * SUPER_BLOCK + 8 * steps * i;
    const __m256i *scale = (const __m256i *)p->scale[i][e];
    __m256i sum[TOKENS][2];
    UNROLL(4)
    for (int g0 = 0; g0 < steps; g0 += flush) {
        UNROLL(8)
        for (int t = 0; t < n; t++) {
            sum[t][0] = sum[t][1] =
                g0 == 0 ? start_of(in, at + (size_t)t, i, type) : _mm256_setzero_si256();
            if (k_starts_below(type) && flush < steps && g0 == 0) {
                add_scaled(total[t], sum[t], scale);
                sum[t][0] = sum[t][1] = _mm256_setzero_si256();
            }
        }
        UNROLL(8)
        for (int g = g0; g < g0 + flush; g++) {
            const __m256i *w = (const __m256i *)p->base.weight[i * steps + g] + e;
            UNROLL(8)
            for (int t = 0; t < n; t++) {
                __m256i x = _mm256_set1_epi64x(load_64(q + t * SUPER_BLOCK + 8 * g));
                UNROLL(2)
                for (int h = 0; h < 2; h++) {
                    __m256i products = _mm256_maddubs_epi16(_mm256_load_si256(w + 2 * h), x);
                    sum[t][h] = _mm256_add_epi16(sum[t][h], products);
                    KEEP(sum[t][h]);
                }
            }
        }
        UNROLL(8)
        for (int t = 0; t < n; t++) {
            add_scaled(total[t], sum[t], scale);
        }
    }
}

/* sum of minimum * sum of inputs over all sub-blocks or groups. */
ALWAYS_INLINE __m256i minimums(const struct k_panel *p, int e, const int16_t *inputs,
                               enum k_type type)
{
    __m256i m = _mm256_setzero_si256();
    UNROLL(8)
    for (int i = 0; i < k_pairs(type); i++) {
        __m256i minimum = _mm256_load_si256((const __m256i *)p->minimum[i] + e);
        __m256i sums = _mm256_set1_epi32(load_32(inputs + 2 * i));
        m = _mm256_add_epi32(m, _mm256_madd_epi16(minimum, sums));
    }
    return m;
}

/* Rows 8e..8e+7 of a tile. */
ALWAYS_INLINE void tile_rows(const struct k_panel_avx2 *p, const struct activations_q8_256 *in,
                             size_t at, int e, float *sums, const int n, enum k_type type,
                             const int flush)
{
    __m256i total[TOKENS][2];
    UNROLL(8)
    for (int t = 0; t < n; t++) {
        total[t][0] = total[t][1] = _mm256_setzero_si256();
    }
    UNROLL(1)
    for (int i = 0; i < k_pairs(type); i++) {
        add_pair(p, in, at, e, i, total, n, type, flush);
    }
    UNROLL(8)
    for (int t = 0; t < n; t++) {
        /* Adds first and second of each pair and restores the order of rows. */
        __m256i sum = _mm256_hadd_epi32(total[t][0], total[t][1]);
        if (k_totals_minimums(type)) {
            const int16_t *inputs = k_sums(in, at + (size_t)t, type);
            sum = _mm256_add_epi32(sum, minimums(&p->base, e, inputs, type));
        }
        __m256 v = _mm256_mul_ps(_mm256_load_ps(p->base.d + 8 * e), _mm256_cvtepi32_ps(sum));
        if (k_has_minimums(type)) {
            __m256i m = minimums(&p->base, e, k_sums(in, at + (size_t)t, type), type);
            v = _mm256_fnmadd_ps(_mm256_load_ps(p->base.dmin + 8 * e), _mm256_cvtepi32_ps(m), v);
        }
        float *to = sums + t * PANEL_ROWS + 8 * e;
        __m256 scale = _mm256_set1_ps(in->scale[at + (size_t)t]);
        _mm256_store_ps(to, _mm256_fmadd_ps(scale, v, _mm256_load_ps(to)));
    }
}

/* PANEL_TILE of panel_loop.h. */
ALWAYS_INLINE void k_tile(const struct k_panel_avx2 *p, const struct activations *acts, size_t at,
                          float *sums, const int n, enum k_type type)
{
    const struct activations_q8_256 *in = &acts->q8_256;
    const bool flushes = type == K_Q5 || type == K_IQ2;
    const bool wide = flushes && k_any_wide(in->wide + at, n, k_wide_bit(type));
    for (int e = 0; e < 2; e++) {
        if (wide) {
            tile_rows(p, in, at, e, sums, n, type, type == K_Q5 ? 4 : 1);
        } else {
            tile_rows(p, in, at, e, sums, n, type, k_steps(type));
        }
    }
}

#endif
