/*
 * matmul_k_avx512vnni.c: Q4_K, Q5_K and Q6_K against int8, 16 rows a vector.
 *
 * What bounds these kernels are the two ports that multiply. Sums of two
 * sub-blocks are packed to int16 pairs, so that one vpdpwssd applies two scales
 * to sixteen rows: half the multiplications of scaling every sub-block by
 * itself. That needs sub-block sums within int16, which `wide` tells of: a tile
 * with a wide token packs after k_wide_steps, which always fits. Integer sums
 * are exact either way (bounds of totals: matmul_ref.c).
 */
#include "matmul_table.h"
#include "panel_k.h"

#define TOKENS 6

/* Where the sums of pair i start that flush at steps g0, g0 + flush, ...: Q6_K
 * weights are 32 too large. */
ALWAYS_INLINE __m512i start(const struct activations_q8_256 *in, size_t row, enum k_type type,
                            int i, int g0, int flush)
{
    if (type != K_Q6) {
        return _mm512_setzero_si512();
    }
    const int32_t *from =
        flush == 4 ? in->start16 + row * 16 + 2 * i : in->start8 + row * 32 + 4 * i + g0;
    return _mm512_set1_epi64(load_64(from));
}

/* Adds pair i to total[n]; packs after every `flush` steps. */
ALWAYS_INLINE void add_pair(const struct k_panel *p, const struct activations_q8_256 *in, size_t at,
                            int i, __m512i *total, const int n, enum k_type type, const int flush)
{
    const int steps = k_steps(type);
    const int8_t *q = in->q + at * SUPER_BLOCK + 8 * steps * i;
    const __m512i scale = _mm512_load_si512(p->scale[i]);
    __m512i a[TOKENS], b[TOKENS];
    UNROLL(8)
    for (int g0 = 0; g0 < steps; g0 += flush) {
        UNROLL(8)
        for (int t = 0; t < n; t++) {
            a[t] = b[t] = start(in, at + (size_t)t, type, i, g0, flush);
        }
        UNROLL(8)
        for (int g = g0; g < g0 + flush; g++) {
            __m512i w0 = _mm512_load_si512(p->weight[i * steps + g][0]);
            __m512i w1 = _mm512_load_si512(p->weight[i * steps + g][1]);
            UNROLL(8)
            for (int t = 0; t < n; t++) {
                __m512i x = _mm512_set1_epi64(load_64(q + t * SUPER_BLOCK + 8 * g));
                a[t] = _mm512_dpbusd_epi32(a[t], w0, x);
                b[t] = _mm512_dpbusd_epi32(b[t], w1, x);
            }
        }
        UNROLL(8)
        for (int t = 0; t < n; t++) {
            total[t] = _mm512_dpwssd_epi32(total[t], _mm512_packs_epi32(a[t], b[t]), scale);
        }
    }
}

/* sum of minimum * sum of 32 activations over the eight sub-blocks. */
ALWAYS_INLINE __m512i minimums(const struct k_panel *p, const int16_t sums32[8])
{
    __m512i m = _mm512_setzero_si512();
    UNROLL(8)
    for (int i = 0; i < 4; i++) {
        m = _mm512_dpwssd_epi32(m, _mm512_load_si512(p->minimum[i]),
                                _mm512_set1_epi32(load_32(sums32 + 2 * i)));
    }
    return m;
}

ALWAYS_INLINE void tile_flush(const struct k_panel *p, const struct activations_q8_256 *in,
                              size_t at, float *sums, const int n, enum k_type type,
                              const int flush)
{
    __m512i total[TOKENS];
    UNROLL(8)
    for (int t = 0; t < n; t++) {
        total[t] = _mm512_setzero_si512();
    }
    UNROLL(1)
    for (int i = 0; i < k_pairs(type); i++) {
        add_pair(p, in, at, i, total, n, type, flush);
    }
    UNROLL(8)
    for (int t = 0; t < n; t++) {
        __m512 v = _mm512_mul_ps(_mm512_load_ps(p->d), _mm512_cvtepi32_ps(total[t]));
        if (type != K_Q6) {
            __m512i m = minimums(p, in->sums32 + (at + (size_t)t) * 8);
            v = _mm512_fnmadd_ps(_mm512_load_ps(p->dmin), _mm512_cvtepi32_ps(m), v);
        }
        float *sum = sums + t * PANEL_ROWS;
        __m512 scale = _mm512_set1_ps(in->scale[at + (size_t)t]);
        _mm512_store_ps(sum, _mm512_fmadd_ps(scale, v, _mm512_load_ps(sum)));
    }
}

ALWAYS_INLINE void tile(const struct k_panel *p, const struct activations *acts, size_t at,
                        float *sums, const int n, enum k_type type)
{
    const struct activations_q8_256 *in = &acts->q8_256;
    if (k_any_wide(in->wide + at, n, k_wide_bit(type))) {
        tile_flush(p, in, at, sums, n, type, k_wide_steps(type));
    } else {
        tile_flush(p, in, at, sums, n, type, k_steps(type));
    }
}

#define PANEL_NAME                     matmul_q4_k_avx512vnni
#define PANEL_TYPE                     struct k_panel
#define PANEL_BLOCK_BYTES              sizeof(struct block_q4_k)
#define PANEL_DECODE                   k_decode_q4
#define PANEL_TILE(p, in, at, sums, n) tile(p, in, at, sums, n, K_Q4)
#define PANEL_TOKENS                   TOKENS
#include "panel_loop.h"

#define PANEL_NAME                     matmul_q5_k_avx512vnni
#define PANEL_TYPE                     struct k_panel
#define PANEL_BLOCK_BYTES              sizeof(struct block_q5_k)
#define PANEL_DECODE                   k_decode_q5
#define PANEL_TILE(p, in, at, sums, n) tile(p, in, at, sums, n, K_Q5)
#define PANEL_TOKENS                   TOKENS
#include "panel_loop.h"

#define PANEL_NAME                     matmul_q6_k_avx512vnni
#define PANEL_TYPE                     struct k_panel
#define PANEL_BLOCK_BYTES              sizeof(struct block_q6_k)
#define PANEL_DECODE                   k_decode_q6
#define PANEL_TILE(p, in, at, sums, n) tile(p, in, at, sums, n, K_Q6)
#define PANEL_TOKENS                   TOKENS
#include "panel_loop.h"
