/*
 * matmul_k_avxvnni.c: Q4_K, Q5_K and Q6_K against int8 for processors with
 * VNNI but without AVX-512: the pair scheme of matmul_k_avx512vnni.c, eight
 * rows of a panel at a time.
 */
#include "matmul_table.h"
#include "panel_k.h"

#define TOKENS 6

/* Where the sums of pair i start that flush at steps g0, g0 + flush, ...: Q6_K
 * weights are 32 too large. */
ALWAYS_INLINE __m256i start(const struct activations_q8_256 *in, size_t row, enum k_type type,
                            int i, int g0, int flush)
{
    if (type != K_Q6) {
        return _mm256_setzero_si256();
    }
    const int32_t *from =
        flush == 4 ? in->start16 + row * 16 + 2 * i : in->start8 + row * 32 + 4 * i + g0;
    return _mm256_set1_epi64x(load_64(from));
}

/* Adds pair i of rows 8e.. to total[n]; packs after every `flush` steps. */
ALWAYS_INLINE void add_pair(const struct k_panel *p, const struct activations_q8_256 *in, size_t at,
                            int e, int i, __m256i *total, const int n, enum k_type type,
                            const int flush)
{
    const int steps = k_steps(type);
    const int8_t *q = in->q + at * SUPER_BLOCK + 8 * steps * i;
    const __m256i scale = _mm256_load_si256((const __m256i *)p->scale[i] + e);
    __m256i a[TOKENS], b[TOKENS];
    UNROLL(8)
    for (int g0 = 0; g0 < steps; g0 += flush) {
        UNROLL(8)
        for (int t = 0; t < n; t++) {
            a[t] = b[t] = start(in, at + (size_t)t, type, i, g0, flush);
        }
        UNROLL(8)
        for (int g = g0; g < g0 + flush; g++) {
            const __m256i *w = (const __m256i *)p->weight[i * steps + g] + e;
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
            total[t] = _mm256_dpwssd_avx_epi32(total[t], _mm256_packs_epi32(a[t], b[t]), scale);
        }
    }
}

/* sum of minimum * sum of 32 activations over the eight sub-blocks. */
ALWAYS_INLINE __m256i minimums(const struct k_panel *p, int e, const int16_t sums32[8])
{
    __m256i m = _mm256_setzero_si256();
    UNROLL(8)
    for (int i = 0; i < 4; i++) {
        m = _mm256_dpwssd_avx_epi32(m, _mm256_load_si256((const __m256i *)p->minimum[i] + e),
                                    _mm256_set1_epi32(load_32(sums32 + 2 * i)));
    }
    return m;
}

/* Rows 8e..8e+7 of a tile. */
ALWAYS_INLINE void tile_rows(const struct k_panel *p, const struct activations_q8_256 *in,
                             size_t at, int e, float *sums, const int n, enum k_type type,
                             const int flush)
{
    __m256i total[TOKENS];
    UNROLL(8)
    for (int t = 0; t < n; t++) {
        total[t] = _mm256_setzero_si256();
    }
    UNROLL(1)
    for (int i = 0; i < k_pairs(type); i++) {
        add_pair(p, in, at, e, i, total, n, type, flush);
    }
    UNROLL(8)
    for (int t = 0; t < n; t++) {
        __m256 v = _mm256_mul_ps(_mm256_load_ps(p->d + 8 * e), _mm256_cvtepi32_ps(total[t]));
        if (type != K_Q6) {
            __m256i m = minimums(p, e, in->sums32 + (at + (size_t)t) * 8);
            v = _mm256_fnmadd_ps(_mm256_load_ps(p->dmin + 8 * e), _mm256_cvtepi32_ps(m), v);
        }
        float *to = sums + t * PANEL_ROWS + 8 * e;
        __m256 scale = _mm256_set1_ps(in->scale[at + (size_t)t]);
        _mm256_store_ps(to, _mm256_fmadd_ps(scale, v, _mm256_load_ps(to)));
    }
}

ALWAYS_INLINE void tile(const struct k_panel *p, const struct activations *acts, size_t at,
                        float *sums, const int n, enum k_type type)
{
    const struct activations_q8_256 *in = &acts->q8_256;
    const bool wide = k_any_wide(in->wide + at, n, k_wide_bit(type));
    for (int e = 0; e < 2; e++) {
        if (wide) {
            tile_rows(p, in, at, e, sums, n, type, k_wide_steps(type));
        } else {
            tile_rows(p, in, at, e, sums, n, type, k_steps(type));
        }
    }
}

#define PANEL_NAME                     matmul_q4_k_avxvnni
#define PANEL_TYPE                     struct k_panel
#define PANEL_BLOCK_BYTES              sizeof(struct block_q4_k)
#define PANEL_DECODE                   k_decode_q4
#define PANEL_TILE(p, in, at, sums, n) tile(p, in, at, sums, n, K_Q4)
#define PANEL_TOKENS                   TOKENS
#include "panel_loop.h"

#define PANEL_NAME                     matmul_q5_k_avxvnni
#define PANEL_TYPE                     struct k_panel
#define PANEL_BLOCK_BYTES              sizeof(struct block_q5_k)
#define PANEL_DECODE                   k_decode_q5
#define PANEL_TILE(p, in, at, sums, n) tile(p, in, at, sums, n, K_Q5)
#define PANEL_TOKENS                   TOKENS
#include "panel_loop.h"

#define PANEL_NAME                     matmul_q6_k_avxvnni
#define PANEL_TYPE                     struct k_panel
#define PANEL_BLOCK_BYTES              sizeof(struct block_q6_k)
#define PANEL_DECODE                   k_decode_q6
#define PANEL_TILE(p, in, at, sums, n) tile(p, in, at, sums, n, K_Q6)
#define PANEL_TOKENS                   TOKENS
#include "panel_loop.h"
