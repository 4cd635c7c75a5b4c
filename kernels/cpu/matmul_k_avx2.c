/*
 * matmul_k_avx2.c: the types with blocks of 256 weights but IQ ones against int8
 * without VNNI, eight rows of a panel at a time. vpmaddubsw gives sums of two products in int16 (at
 * most 2 * 63 * 127, no saturation), which are added in int16 over a sub-block; one vpmaddwd by the
 * scale then gives int32.
 *
 * An int16 lane meets half of a sub-block's weights:
 *   Q4_K 16 * 15 * 127 = 30,480 always fits, Q2_K 8 * 3 * 127 = 3,048;
 *   Q6_K 8 * 32 * 127 = 32,512 fits at the end: sums start at -32 * (sum of
 *        their activations) and may wrap on the way, which addition undoes; so
 *        do Q3_K and the ternary types;
 *   Q5_K 16 * 31 * 127 does not: a token whose sub-block sums are wide is
 *        flushed after four steps, 8 * 31 * 127 = 31,496.
 */
#include "matmul_table.h"
#include "panel_k_large.h"
#include "panel_k_small.h"

#define TOKENS    5
#define TOKENS_Q2 TOKENS
#define TOKENS_Q6 TOKENS

/* A panel and its scales as vpmaddwd wants them: each twice, beside the
 * weights that they belong to. */
struct k_panel_avx2 {
    struct k_panel base;
    _Alignas(64) int16_t scale[8][2][2][16]; /* [pair][rows 8e..][row half][...] */
};

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

/* Adds pair i of rows 8e.. to total[n][row half]; leaves int16 after every
 * `flush` steps. */
ALWAYS_INLINE void add_pair(const struct k_panel_avx2 *p, const struct activations_q8_256 *in,
                            size_t at, int e, int i, __m256i (*total)[2], const int n,
                            enum k_type type, const int flush)
{
    const int steps = k_steps(type);
    const int8_t *q = in->q + at * SUPER_BLOCK + 8 * steps * i;
    const __m256i *scale = (const __m256i *)p->scale[i][e];
    __m256i sum[TOKENS][2];
    UNROLL(2)
    for (int g0 = 0; g0 < steps; g0 += flush) {
        UNROLL(8)
        for (int t = 0; t < n; t++) {
            const int16_t *from = in->start2 + (at + (size_t)t) * 32 + 4 * i;
            sum[t][0] = type == K_Q6 ? _mm256_set1_epi64x(load_64(from)) : _mm256_setzero_si256();
            sum[t][1] = sum[t][0];
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
            UNROLL(2)
            for (int h = 0; h < 2; h++) {
                __m256i scaled = _mm256_madd_epi16(sum[t][h], _mm256_load_si256(scale + h));
                total[t][h] = _mm256_add_epi32(total[t][h], scaled);
            }
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

ALWAYS_INLINE void tile(const struct k_panel_avx2 *p, const struct activations *acts, size_t at,
                        float *sums, const int n, enum k_type type)
{
    const struct activations_q8_256 *in = &acts->q8_256;
    for (int e = 0; e < 2; e++) {
        if (type == K_Q5 && k_any_wide(in->wide + at, n, WIDE_Q5_K)) {
            tile_rows(p, in, at, e, sums, n, type, 4);
        } else {
            tile_rows(p, in, at, e, sums, n, type, k_steps(type));
        }
    }
}

/* A decoder fills the base of a panel. */
#define BASE_DECODER(name)                                                                         \
    static void decode_##name(const uint8_t *bytes, size_t stride, struct k_panel_avx2 *p)         \
    {                                                                                              \
        k_decode_##name(bytes, stride, &p->base);                                                  \
    }

BASE_DECODER(q2_k)
BASE_DECODER(q3_k)
BASE_DECODER(q4_k)
BASE_DECODER(q5_k)
BASE_DECODER(q6_k)
BASE_DECODER(tq1_0)
BASE_DECODER(tq2_0)

#define LEVEL(type)       matmul_##type##_avx2
#define K_PANEL           struct k_panel_avx2
#define K_FINISH(p, type) spread_scales(p, type)
#define K_DECODER(name)   decode_##name
#define K_TILE            tile
#include "kernels_k.h"
