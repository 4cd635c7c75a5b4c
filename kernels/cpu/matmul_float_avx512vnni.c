/*
 * matmul_float_avx512vnni.c: F32, F16 and BF16 weights against f32, 16 rows a
 * vector: one fma chain along the width per row and token.
 */
#include "matmul_table.h"
#include "panel_float.h"

#define TOKENS 8

ALWAYS_INLINE void tile(const struct float_panel *p, const struct activations *in, size_t at,
                        float *sums, const int n)
{
    const float *x = in->f32 + at * SUPER_BLOCK;
    __m512 y[TOKENS];
    UNROLL(8)
    for (int t = 0; t < n; t++) {
        y[t] = _mm512_load_ps(sums + t * PANEL_ROWS);
    }
    UNROLL(8)
    for (int k = 0; k < SUPER_BLOCK; k++) {
        __m512 w = _mm512_load_ps(p->weight[k]);
        UNROLL(8)
        for (int t = 0; t < n; t++) {
            y[t] = _mm512_fmadd_ps(w, _mm512_set1_ps(x[t * SUPER_BLOCK + k]), y[t]);
        }
    }
    UNROLL(8)
    for (int t = 0; t < n; t++) {
        _mm512_store_ps(sums + t * PANEL_ROWS, y[t]);
    }
}

#define PANEL_NAME run
#define PANEL_TYPE struct float_panel
#define PANEL_FINISH(panel)
#define PANEL_TILE   tile
#define PANEL_TOKENS TOKENS
#include "panel_loop.h"

PANEL_KERNEL(matmul_f32_avx512vnni, run, SUPER_BLOCK * 4, float_decode_f32)
PANEL_KERNEL(matmul_f16_avx512vnni, run, SUPER_BLOCK * 2, float_decode_f16)
PANEL_KERNEL(matmul_bf16_avx512vnni, run, SUPER_BLOCK * 2, float_decode_bf16)
