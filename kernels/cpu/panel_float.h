/*
 * panel_float.h: panels of float weights: f32 [256 weights][16 rows].
 */
#ifndef PANEL_FLOAT_H
#define PANEL_FLOAT_H

#include "panel.h"
#include "panel_simd.h"

struct float_panel {
    _Alignas(64) float weight[SUPER_BLOCK][PANEL_ROWS];
};

static void float_decode_f32(const uint8_t *bytes, size_t stride, struct float_panel *p)
{
    for (int e = 0; e < 2; e++, bytes += 8 * stride) {
        for (int c = 0; c < SUPER_BLOCK / 4; c++) {
            __m256i v[4];
            turn_rows(bytes + 16 * c, stride, v);
            UNROLL(4)
            for (int k = 0; k < 4; k++) {
                _mm256_store_si256((__m256i *)p->weight[4 * c + k] + e, v[k]);
            }
        }
    }
}

static void float_decode_f16(const uint8_t *bytes, size_t stride, struct float_panel *p)
{
    for (int e = 0; e < 2; e++, bytes += 8 * stride) {
        for (int c = 0; c < SUPER_BLOCK / 8; c++) {
            __m256i v[4];
            turn_rows(bytes + 16 * c, stride, v);
            UNROLL(4)
            for (int k = 0; k < 4; k++) {
                float *to = p->weight[8 * c + 2 * k] + 8 * e;
                _mm256_store_ps(to, low_halves_to_float(v[k]));
                _mm256_store_ps(to + PANEL_ROWS, low_halves_to_float(_mm256_srli_epi32(v[k], 16)));
            }
        }
    }
}

static void float_decode_bf16(const uint8_t *bytes, size_t stride, struct float_panel *p)
{
    const __m256i upper = _mm256_set1_epi32((int)0xffff0000);
    for (int e = 0; e < 2; e++, bytes += 8 * stride) {
        for (int c = 0; c < SUPER_BLOCK / 8; c++) {
            __m256i v[4];
            turn_rows(bytes + 16 * c, stride, v);
            UNROLL(4)
            for (int k = 0; k < 4; k++) {
                __m256i *to = (__m256i *)p->weight[8 * c + 2 * k] + e;
                _mm256_store_si256(to, _mm256_slli_epi32(v[k], 16));
                _mm256_store_si256(to + 2, _mm256_and_si256(v[k], upper));
            }
        }
    }
}

#endif
