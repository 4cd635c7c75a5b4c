/*
 * matmul_q8_0_avxvnni.c: Q8_0 against int8 for processors with VNNI but without
 * AVX-512, eight rows of a panel at a time. Weights count from -128; the sums
 * start from the difference.
 */
#include "matmul_table.h"
#include "panel_q8_0.h"

#define TOKENS 6

/* y + scale * (d * sum), sum as int32. */
ALWAYS_INLINE __m256 add_scaled(__m256 y, float scale, const float *d, __m256 sum)
{
    __m256 v = _mm256_mul_ps(_mm256_load_ps(d), _mm256_cvtepi32_ps(_mm256_castps_si256(sum)));
    return _mm256_fmadd_ps(_mm256_set1_ps(scale), v, y);
}

/* Blocks 2i and 2i + 1 of rows 8e.. to y[n]. */
ALWAYS_INLINE void add_pair(const struct q8_0_panel *p, const struct activations_q8_32 *in,
                            size_t at, int e, int i, __m256 *y, const int n)
{
    const int8_t *q = in->q + at * SUPER_BLOCK + 64 * i;
    __m256i a[TOKENS], b[TOKENS];
    UNROLL(8)
    for (int t = 0; t < n; t++) {
        a[t] = _mm256_set1_epi64x(load_64(in->start32 + (at + (size_t)t) * 8 + 2 * i));
        b[t] = a[t];
    }
    UNROLL(8)
    for (int g = 0; g < 8; g++) {
        const __m256i *w = (const __m256i *)p->weight[8 * i + g] + e;
        __m256i w0 = _mm256_load_si256(w), w1 = _mm256_load_si256(w + 2);
        UNROLL(8)
        for (int t = 0; t < n; t++) {
            __m256i x = _mm256_set1_epi64x(load_64(q + t * SUPER_BLOCK + 8 * g));
            a[t] = _mm256_dpbusd_avx_epi32(a[t], w0, x);
            b[t] = _mm256_dpbusd_avx_epi32(b[t], w1, x);
        }
    }
    UNROLL(8)
    for (int t = 0; t < n; t++) {
        const float *scale = in->scale + (at + (size_t)t) * 8 + 2 * i, *d = p->d[2 * i] + 8 * e;
        __m256 f = _mm256_castsi256_ps(a[t]), s = _mm256_castsi256_ps(b[t]);
        y[t] = add_scaled(y[t], scale[0], d, _mm256_shuffle_ps(f, s, 0x88));
        y[t] = add_scaled(y[t], scale[1], d + PANEL_ROWS, _mm256_shuffle_ps(f, s, 0xdd));
    }
}

ALWAYS_INLINE void tile(const struct q8_0_panel *p, const struct activations *acts, size_t at,
                        float *sums, const int n)
{
    for (int e = 0; e < 2; e++) {
        __m256 y[TOKENS];
        UNROLL(8)
        for (int t = 0; t < n; t++) {
            y[t] = _mm256_load_ps(sums + t * PANEL_ROWS + 8 * e);
        }
        UNROLL(1)
        for (int i = 0; i < 4; i++) {
            add_pair(p, &acts->q8_32, at, e, i, y, n);
        }
        UNROLL(8)
        for (int t = 0; t < n; t++) {
            _mm256_store_ps(sums + t * PANEL_ROWS + 8 * e, y[t]);
        }
    }
}

#define PANEL_NAME                     matmul_q8_0_avxvnni
#define PANEL_TYPE                     struct q8_0_panel
#define PANEL_BLOCK_BYTES              (8 * sizeof(struct block_q8_0))
#define PANEL_DECODE(bytes, stride, p) q8_0_decode(bytes, stride, p, 0x80)
#define PANEL_TILE                     tile
#define PANEL_TOKENS                   TOKENS
#include "panel_loop.h"
