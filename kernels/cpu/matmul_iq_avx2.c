/*
 * matmul_iq_avx2.c: IQ4_XS and the codebook types against int8 without VNNI.
 *
 * IQ4_XS has a tile of its own here, eight rows of a panel at a time. vpmaddubsw
 * wants one unsigned side: |w| times x with the sign of w, at most 2 * 127 * 127 =
 * 32,258 for the sum of two, which fits int16; vpmaddwd by the scale makes it int32.
 */
#include "matmul_table.h"

#define TOKENS       5
#define TOKENS_Q6    TOKENS
#define TOKENS_IQ2   TOKENS
#define TOKENS_I32   4
#define LEVEL_FLIP   0
#define IQ2_XXS_TYPE K_IQ2
#define IQ2_XXS_RUN  run_iq2
#include "panel_iq_large.h"
#include "panel_iq_small.h"
#include "tile_k_avx2.h"

/* A panel, its scales as vpmaddwd wants them: each twice, beside the weights that
 * they belong to. */
ALWAYS_INLINE __m256i scales_of_half(const struct k_panel *p, int i, int e, int half)
{
    __m256i pairs = _mm256_load_si256((const __m256i *)p->scale[i] + e);
    return half ? _mm256_unpackhi_epi16(pairs, pairs) : _mm256_unpacklo_epi16(pairs, pairs);
}

/* Adds pair i of rows 8e.. to total[n][row half]. */
ALWAYS_INLINE void i32_add_pair(const struct k_panel *p, const int8_t *q, int e, int i,
                                __m256i (*total)[2], const int n)
{
    const int steps = k_steps(K_I32);
    UNROLL(2)
    for (int h = 0; h < 2; h++) {
        const __m256i scale = scales_of_half(p, i, e, h);
        UNROLL(8)
        for (int g = 0; g < steps; g++) {
            const __m256i w = _mm256_load_si256((const __m256i *)p->weight[i * steps + g][h] + e);
            const __m256i magnitude = _mm256_abs_epi8(w);
            UNROLL(8)
            for (int t = 0; t < n; t++) {
                __m256i x = _mm256_set1_epi64x(load_64(q + t * SUPER_BLOCK + 8 * (i * steps + g)));
                __m256i twos = _mm256_maddubs_epi16(magnitude, _mm256_sign_epi8(x, w));
                total[t][h] = _mm256_add_epi32(total[t][h], _mm256_madd_epi16(twos, scale));
                KEEP(total[t][h]);
            }
        }
    }
}

/* Rows 8e..8e+7 of a tile. */
ALWAYS_INLINE void i32_tile_rows(const struct k_panel *p, const struct activations_q8_256 *in,
                                 size_t at, int e, float *sums, const int n)
{
    __m256i total[TOKENS_I32][2];
    UNROLL(8)
    for (int t = 0; t < n; t++) {
        total[t][0] = total[t][1] = _mm256_setzero_si256();
    }
    UNROLL(1)
    for (int i = 0; i < k_pairs(K_I32); i++) {
        i32_add_pair(p, in->q + at * SUPER_BLOCK, e, i, total, n);
    }
    UNROLL(8)
    for (int t = 0; t < n; t++) {
        /* Adds first and second of each pair and restores the order of rows. */
        __m256i sum = _mm256_hadd_epi32(total[t][0], total[t][1]);
        __m256 v = _mm256_mul_ps(_mm256_load_ps(p->d + 8 * e), _mm256_cvtepi32_ps(sum));
        float *to = sums + t * PANEL_ROWS + 8 * e;
        __m256 scale = _mm256_set1_ps(in->scale[at + (size_t)t]);
        _mm256_store_ps(to, _mm256_fmadd_ps(scale, v, _mm256_load_ps(to)));
    }
}

ALWAYS_INLINE void i32_tile(const struct k_panel *p, const struct activations *in, size_t at,
                            float *sums, const int n)
{
    for (int e = 0; e < 2; e++) {
        i32_tile_rows(p, &in->q8_256, at, e, sums, n);
    }
}

BASE_DECODER(iq3_s)
BASE_DECODER(iq3_xxs)
BASE_DECODER(iq2_s)
BASE_DECODER(iq2_xs)
BASE_DECODER(iq2_xxs)
BASE_DECODER(iq1_s)
BASE_DECODER(iq1_m)

#define LEVEL(type)                        matmul_##type##_avx2
#define K_PANEL                            struct k_panel_avx2
#define K_FINISH(p, type)                  spread_scales(p, type)
#define K_DECODER(name)                    decode_##name
#define K_TILE                             k_tile
#define I32_TILE(p, in, at, sums, n, type) i32_tile(p, in, at, sums, n)
#include "kernels_iq.h"
