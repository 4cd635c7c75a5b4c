/*
 * matmul_q8_0_avx2.c: Q8_0 against int8 without VNNI, eight rows of a panel at
 * a time. vpmaddubsw wants one unsigned side: |w| times x with the sign of w,
 * at most 2 * 128 * 127 = 32,512 for the sum of two, which fits int16.
 */
#include "matmul_table.h"
#include "panel_q8_0.h"

enum { TOKENS = 4 };

/* Block j of rows 8e..: y[n] += scale * (d * sum). */
ALWAYS_INLINE void add_block(const struct q8_0_panel *p, const struct activations_q8_32 *in,
                             size_t at, int e, int j, __m256 *y, const int n)
{
    const __m256i ones = _mm256_set1_epi16(1);
    const int8_t *q = in->q + at * SUPER_BLOCK + 32 * j;
    __m256i sum[TOKENS];
    UNROLL(4)
    for (int t = 0; t < n; t++) {
        sum[t] = _mm256_setzero_si256();
    }
    UNROLL(8)
    for (int g = 0; g < 8; g++) {
        __m256i w = _mm256_load_si256((const __m256i *)p->weight[8 * j + g] + e);
        __m256i magnitude = _mm256_abs_epi8(w);
        UNROLL(4)
        for (int t = 0; t < n; t++) {
            __m256i x = _mm256_set1_epi32(load_32(q + t * SUPER_BLOCK + 4 * g));
            __m256i twos = _mm256_maddubs_epi16(magnitude, _mm256_sign_epi8(x, w));
            sum[t] = _mm256_add_epi32(sum[t], _mm256_madd_epi16(twos, ones));
        }
    }
    UNROLL(4)
    for (int t = 0; t < n; t++) {
        __m256 v = _mm256_mul_ps(_mm256_load_ps(p->d[j] + 8 * e), _mm256_cvtepi32_ps(sum[t]));
        __m256 scale = _mm256_set1_ps(in->scale[(at + (size_t)t) * 8 + (size_t)j]);
        y[t] = _mm256_fmadd_ps(scale, v, y[t]);
    }
}

ALWAYS_INLINE void tile(const struct q8_0_panel *p, const struct activations *acts, size_t at,
                        float *sums, const int n)
{
    for (int e = 0; e < 2; e++) {
        __m256 y[TOKENS];
        UNROLL(4)
        for (int t = 0; t < n; t++) {
            y[t] = _mm256_load_ps(sums + t * PANEL_ROWS + 8 * e);
        }
        UNROLL(1)
        for (int j = 0; j < 8; j++) {
            add_block(p, &acts->q8_32, at, e, j, y, n);
        }
        UNROLL(4)
        for (int t = 0; t < n; t++) {
            _mm256_store_ps(sums + t * PANEL_ROWS + 8 * e, y[t]);
        }
    }
}

#define PANEL_NAME                     matmul_q8_0_avx2
#define PANEL_TYPE                     struct q8_0_panel
#define PANEL_BLOCK_BYTES              (8 * sizeof(struct block_q8_0))
#define PANEL_DECODE(bytes, stride, p) q8_0_decode(bytes, stride, p, 0)
#define PANEL_TILE                     tile
#define PANEL_TOKENS                   4
#include "panel_loop.h"
