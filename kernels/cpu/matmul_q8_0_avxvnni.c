/*
 * matmul_q8_0_avxvnni.c: Q8_0 against int8 for processors with VNNI but without
 * AVX-512, both row halves of a panel together. Weights count from -128; the
 * sums start from the difference.
 */
#include "matmul_table.h"
#include "panel_q8_0.h"

enum { TOKENS = 4 };

/* Block j: y[n][row half] += scale * (d * sum). */
ALWAYS_INLINE void add_block(const struct q8_0_panel *p, const struct activations_q8_32 *in,
                             size_t at, int j, __m256 (*y)[2], const int n)
{
    const int8_t *q = in->q + at * SUPER_BLOCK + 32 * j;
    __m256i sum[TOKENS][2];
    UNROLL(4)
    for (int t = 0; t < n; t++) {
        sum[t][0] = _mm256_set1_epi32(in->start32[(at + (size_t)t) * 8 + (size_t)j]);
        sum[t][1] = sum[t][0];
    }
    UNROLL(8)
    for (int g = 0; g < 8; g++) {
        const __m256i *w = (const __m256i *)p->weight[8 * j + g];
        __m256i w0 = _mm256_load_si256(w), w1 = _mm256_load_si256(w + 1);
        UNROLL(4)
        for (int t = 0; t < n; t++) {
            __m256i x = _mm256_set1_epi32(load_32(q + t * SUPER_BLOCK + 4 * g));
            sum[t][0] = _mm256_dpbusd_avx_epi32(sum[t][0], w0, x);
            sum[t][1] = _mm256_dpbusd_avx_epi32(sum[t][1], w1, x);
        }
    }
    UNROLL(4)
    for (int t = 0; t < n; t++) {
        __m256 scale = _mm256_set1_ps(in->scale[(at + (size_t)t) * 8 + (size_t)j]);
        UNROLL(2)
        for (int e = 0; e < 2; e++) {
            __m256 d = _mm256_load_ps(p->d[j] + 8 * e);
            __m256 v = _mm256_mul_ps(d, _mm256_cvtepi32_ps(sum[t][e]));
            y[t][e] = _mm256_fmadd_ps(scale, v, y[t][e]);
        }
    }
}

ALWAYS_INLINE void tile(const struct q8_0_panel *p, const struct activations *acts, size_t at,
                        float *sums, const int n)
{
    __m256 y[TOKENS][2];
    UNROLL(4)
    for (int t = 0; t < n; t++) {
        y[t][0] = _mm256_load_ps(sums + t * PANEL_ROWS);
        y[t][1] = _mm256_load_ps(sums + t * PANEL_ROWS + 8);
    }
    UNROLL(1)
    for (int j = 0; j < 8; j++) {
        add_block(p, &acts->q8_32, at, j, y, n);
    }
    UNROLL(4)
    for (int t = 0; t < n; t++) {
        _mm256_store_ps(sums + t * PANEL_ROWS, y[t][0]);
        _mm256_store_ps(sums + t * PANEL_ROWS + 8, y[t][1]);
    }
}

#define PANEL_NAME                     matmul_q8_0_avxvnni
#define PANEL_TYPE                     struct q8_0_panel
#define PANEL_BLOCK_BYTES              (8 * sizeof(struct block_q8_0))
#define PANEL_DECODE(bytes, stride, p) q8_0_decode(bytes, stride, p, 0x80)
#define PANEL_TILE                     tile
#define PANEL_TOKENS                   4
#include "panel_loop.h"
