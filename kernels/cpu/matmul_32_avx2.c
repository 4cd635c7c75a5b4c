/*
 * matmul_32_avx2.c: the types with blocks of 32 weights against int8 without
 * VNNI, eight rows of a panel at a time. vpmaddubsw wants one unsigned side: |w| times x with the
 * sign of w, at most 2 * 128 * 127 = 32,512 for the sum of two, which fits int16.
 */
#include "matmul_table.h"

#define LEVEL_FLIP 0
#include "panel_32.h"

#define TOKENS 4

/* Adds block j: y + scale * (d * sum + m * inputs), sum as int32; at: of the
 * token, d and m: of eight rows. */
ALWAYS_INLINE __m256 add_block(__m256 y, const struct activations_q8_32 *in, size_t at, int j,
                               const float *d, const float *m, __m256 sum, const bool has_m)
{
    __m256 v = _mm256_mul_ps(_mm256_load_ps(d), _mm256_cvtepi32_ps(_mm256_castps_si256(sum)));
    if (has_m) {
        __m256 inputs = _mm256_set1_ps((float)in->start32[at * 8 + (size_t)j]);
        v = _mm256_fmadd_ps(_mm256_load_ps(m), inputs, v);
    }
    return _mm256_fmadd_ps(_mm256_set1_ps(in->scale[at * 8 + (size_t)j]), v, y);
}

/* sum + products of w with x by fours, magnitude = |w|. */
ALWAYS_INLINE __m256i dot4(__m256i sum, __m256i w, __m256i magnitude, __m256i x)
{
    __m256i twos = _mm256_maddubs_epi16(magnitude, _mm256_sign_epi8(x, w));
    sum = _mm256_add_epi32(sum, _mm256_madd_epi16(twos, _mm256_set1_epi16(1)));
    KEEP(sum);
    return sum;
}

/* Blocks 2i and 2i + 1 of rows 8e.. to y[n]. */
ALWAYS_INLINE void add_pair(const struct panel_32 *p, const struct activations_q8_32 *in, size_t at,
                            int e, int i, __m256 *y, const int n, const bool has_m)
{
    const int8_t *q = in->q + at * SUPER_BLOCK + 64 * i;
    __m256i a[TOKENS], b[TOKENS];
    UNROLL(8)
    for (int t = 0; t < n; t++) {
        a[t] = b[t] = _mm256_setzero_si256();
    }
    UNROLL(8)
    for (int g = 0; g < 8; g++) {
        const __m256i *w = (const __m256i *)p->weight[8 * i + g] + e;
        __m256i w0 = _mm256_load_si256(w), w1 = _mm256_load_si256(w + 2);
        __m256i m0 = _mm256_abs_epi8(w0), m1 = _mm256_abs_epi8(w1);
        UNROLL(8)
        for (int t = 0; t < n; t++) {
            __m256i x = _mm256_set1_epi64x(load_64(q + t * SUPER_BLOCK + 8 * g));
            a[t] = dot4(a[t], w0, m0, x);
            b[t] = dot4(b[t], w1, m1, x);
        }
    }
    UNROLL(8)
    for (int t = 0; t < n; t++) {
        const float *d = p->d[2 * i] + 8 * e, *m = p->m[2 * i] + 8 * e;
        __m256 f = _mm256_castsi256_ps(a[t]), s = _mm256_castsi256_ps(b[t]);
        __m256 even = _mm256_shuffle_ps(f, s, 0x88), odd = _mm256_shuffle_ps(f, s, 0xdd);
        y[t] = add_block(y[t], in, at + (size_t)t, 2 * i, d, m, even, has_m);
        y[t] = add_block(y[t], in, at + (size_t)t, 2 * i + 1, d + PANEL_ROWS, m + PANEL_ROWS, odd,
                         has_m);
    }
}

ALWAYS_INLINE void tile(const struct panel_32 *p, const struct activations *acts, size_t at,
                        float *sums, const int n, const bool has_m)
{
    for (int e = 0; e < 2; e++) {
        __m256 y[TOKENS];
        UNROLL(8)
        for (int t = 0; t < n; t++) {
            y[t] = _mm256_load_ps(sums + t * PANEL_ROWS + 8 * e);
        }
        UNROLL(1)
        for (int i = 0; i < 4; i++) {
            add_pair(p, &acts->q8_32, at, e, i, y, n, has_m);
        }
        UNROLL(8)
        for (int t = 0; t < n; t++) {
            _mm256_store_ps(sums + t * PANEL_ROWS + 8 * e, y[t]);
        }
    }
}

#define LEVEL(type) matmul_##type##_avx2
#define TILE_32     tile
#include "kernels_32.h"
