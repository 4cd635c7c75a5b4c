/*
 * matmul_q8_0_avx512vnni.c: Q8_0 against int8, 16 rows a vector. Weights count
 * from -128 so that vpdpbusd takes them as unsigned; the sums start from the
 * difference.
 */
#include "matmul_table.h"
#include "panel_q8_0.h"

#define TOKENS 6

/* y + scale * (d * sum), sum as int32. */
ALWAYS_INLINE __m512 add_scaled(__m512 y, float scale, const float *d, __m512 sum)
{
    __m512 v = _mm512_mul_ps(_mm512_load_ps(d), _mm512_cvtepi32_ps(_mm512_castps_si512(sum)));
    return _mm512_fmadd_ps(_mm512_set1_ps(scale), v, y);
}

/* Blocks 2i and 2i + 1 to y[n]. */
ALWAYS_INLINE void add_pair(const struct q8_0_panel *p, const struct activations_q8_32 *in,
                            size_t at, int i, __m512 *y, const int n)
{
    const int8_t *q = in->q + at * SUPER_BLOCK + 64 * i;
    __m512i a[TOKENS], b[TOKENS];
    UNROLL(8)
    for (int t = 0; t < n; t++) {
        a[t] = _mm512_set1_epi64(load_64(in->start32 + (at + (size_t)t) * 8 + 2 * i));
        b[t] = a[t];
    }
    UNROLL(8)
    for (int g = 0; g < 8; g++) {
        __m512i w0 = _mm512_load_si512(p->weight[8 * i + g][0]);
        __m512i w1 = _mm512_load_si512(p->weight[8 * i + g][1]);
        UNROLL(8)
        for (int t = 0; t < n; t++) {
            __m512i x = _mm512_set1_epi64(load_64(q + t * SUPER_BLOCK + 8 * g));
            a[t] = _mm512_dpbusd_epi32(a[t], w0, x);
            b[t] = _mm512_dpbusd_epi32(b[t], w1, x);
        }
    }
    UNROLL(8)
    for (int t = 0; t < n; t++) {
        const float *scale = in->scale + (at + (size_t)t) * 8 + 2 * i;
        __m512 f = _mm512_castsi512_ps(a[t]), s = _mm512_castsi512_ps(b[t]);
        y[t] = add_scaled(y[t], scale[0], p->d[2 * i], _mm512_shuffle_ps(f, s, 0x88));
        y[t] = add_scaled(y[t], scale[1], p->d[2 * i + 1], _mm512_shuffle_ps(f, s, 0xdd));
    }
}

ALWAYS_INLINE void tile(const struct q8_0_panel *p, const struct activations *acts, size_t at,
                        float *sums, const int n)
{
    __m512 y[TOKENS];
    UNROLL(8)
    for (int t = 0; t < n; t++) {
        y[t] = _mm512_load_ps(sums + t * PANEL_ROWS);
    }
    UNROLL(1)
    for (int i = 0; i < 4; i++) {
        add_pair(p, &acts->q8_32, at, i, y, n);
    }
    UNROLL(8)
    for (int t = 0; t < n; t++) {
        _mm512_store_ps(sums + t * PANEL_ROWS, y[t]);
    }
}

#define PANEL_NAME                     matmul_q8_0_avx512vnni
#define PANEL_TYPE                     struct q8_0_panel
#define PANEL_BLOCK_BYTES              (8 * sizeof(struct block_q8_0))
#define PANEL_DECODE(bytes, stride, p) q8_0_decode(bytes, stride, p, 0x80)
#define PANEL_TILE                     tile
#define PANEL_TOKENS                   TOKENS
#include "panel_loop.h"
