/*
 * matmul_float_avx2.c: F32, F16 and BF16 weights against f32: one fma chain
 * along the width per row and token, both row halves of a panel together.
 */
#include "matmul_table.h"
#include "panel_float.h"

#define TOKENS 6

ALWAYS_INLINE void tile(const struct float_panel *p, const struct activations *in, size_t at,
                        float *sums, const int n)
{
    const float *x = in->f32 + at * SUPER_BLOCK;
    __m256 y[TOKENS][2];
    UNROLL(8)
    for (int t = 0; t < n; t++) {
        y[t][0] = _mm256_load_ps(sums + t * PANEL_ROWS);
        y[t][1] = _mm256_load_ps(sums + t * PANEL_ROWS + 8);
    }
    UNROLL(8)
    for (int k = 0; k < SUPER_BLOCK; k++) {
        __m256 w0 = _mm256_load_ps(p->weight[k]), w1 = _mm256_load_ps(p->weight[k] + 8);
        UNROLL(8)
        for (int t = 0; t < n; t++) {
            __m256 value = _mm256_set1_ps(x[t * SUPER_BLOCK + k]);
            y[t][0] = _mm256_fmadd_ps(w0, value, y[t][0]);
            y[t][1] = _mm256_fmadd_ps(w1, value, y[t][1]);
        }
    }
    UNROLL(8)
    for (int t = 0; t < n; t++) {
        _mm256_store_ps(sums + t * PANEL_ROWS, y[t][0]);
        _mm256_store_ps(sums + t * PANEL_ROWS + 8, y[t][1]);
    }
}

#define PANEL_NAME run
#define PANEL_TYPE struct float_panel
#define PANEL_FINISH(panel)
#define PANEL_TILE   tile
#define PANEL_TOKENS TOKENS
#include "panel_loop.h"

PANEL_KERNEL(matmul_f32_avx2, run, SUPER_BLOCK * 4, float_decode_f32)
PANEL_KERNEL(matmul_f16_avx2, run, SUPER_BLOCK * 2, float_decode_f16)
PANEL_KERNEL(matmul_bf16_avx2, run, SUPER_BLOCK * 2, float_decode_bf16)
