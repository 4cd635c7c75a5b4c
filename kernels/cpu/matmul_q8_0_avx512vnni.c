/*
 * matmul_q8_0_avx512vnni.c: Q8_0 against int8, 16 rows a vector. Weights count
 * from -128 so that vpdpbusd takes them as unsigned; the sums start from the
 * difference.
 */
#include "matmul_table.h"
#include "panel_q8_0.h"

enum { TOKENS = 4 };

/* sum + products of w with four activations, broadcast by the instruction
 * itself: gcc 12 does not fold the broadcast, and a separate one costs 4 %. */
ALWAYS_INLINE __m512i dot4(__m512i sum, __m512i w, const int8_t *x)
{
    __asm__("vpdpbusd %2%{1to16%}, %1, %0"
            : "+v"(sum)
            : "v"(w), "m"(*(const int32_t(*)[1])(const void *)x));
    return sum;
}

ALWAYS_INLINE void tile(const struct q8_0_panel *p, const struct activations *acts, size_t at,
                        float *sums, const int n)
{
    const struct activations_q8_32 *in = &acts->q8_32;
    const int8_t *q = in->q + at * SUPER_BLOCK;
    __m512 y[TOKENS];
    UNROLL(4)
    for (int t = 0; t < n; t++) {
        y[t] = _mm512_load_ps(sums + t * PANEL_ROWS);
    }
    UNROLL(1)
    for (int j = 0; j < 8; j++) {
        __m512i sum[TOKENS];
        UNROLL(4)
        for (int t = 0; t < n; t++) {
            sum[t] = _mm512_set1_epi32(in->start32[(at + (size_t)t) * 8 + (size_t)j]);
        }
        UNROLL(8)
        for (int g = 0; g < 8; g++) {
            __m512i w = _mm512_load_si512(p->weight[8 * j + g]);
            UNROLL(4)
            for (int t = 0; t < n; t++) {
                sum[t] = dot4(sum[t], w, q + t * SUPER_BLOCK + 32 * j + 4 * g);
            }
        }
        UNROLL(4)
        for (int t = 0; t < n; t++) {
            __m512 v = _mm512_mul_ps(_mm512_load_ps(p->d[j]), _mm512_cvtepi32_ps(sum[t]));
            __m512 scale = _mm512_set1_ps(in->scale[(at + (size_t)t) * 8 + (size_t)j]);
            y[t] = _mm512_fmadd_ps(scale, v, y[t]);
        }
    }
    UNROLL(4)
    for (int t = 0; t < n; t++) {
        _mm512_store_ps(sums + t * PANEL_ROWS, y[t]);
    }
}

#define PANEL_NAME                     matmul_q8_0_avx512vnni
#define PANEL_TYPE                     struct q8_0_panel
#define PANEL_BLOCK_BYTES              (8 * sizeof(struct block_q8_0))
#define PANEL_DECODE(bytes, stride, p) q8_0_decode(bytes, stride, p, 0x80)
#define PANEL_TILE                     tile
#define PANEL_TOKENS                   4
#include "panel_loop.h"
