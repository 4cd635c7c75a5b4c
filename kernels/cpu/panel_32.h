/*
 * panel_q8_0.h: panels of Q8_0: 32 steps of pairs (panel_simd.h) of blocks 2i
 * and 2i + 1, and a scale per row and block. A super-block is eight blocks.
 */
#ifndef PANEL_Q8_0_H
#define PANEL_Q8_0_H

#include "blocks.h"
#include "panel.h"
#include "panel_simd.h"

struct q8_0_panel {
    _Alignas(64) uint8_t weight[32][2][64]; /* [step][row half] */
    _Alignas(64) float d[8][PANEL_ROWS];    /* [block] */
};

/* The scale of block j for rows 8e..8e+7; bytes: that block of the first row. */
ALWAYS_INLINE void q8_0_decode_scale(const uint8_t *bytes, size_t stride, struct q8_0_panel *p,
                                     int e, int j)
{
    __m256i v[4];
    turn_rows(bytes, stride, v);
    _mm256_store_ps(p->d[j] + 8 * e, low_halves_to_float(v[0]));
}

/* Weights are stored with `flip` XORed in: 0 keeps them signed, 0x80 makes them
 * count from -128. */
ALWAYS_INLINE void q8_0_decode(const uint8_t *bytes, size_t stride, struct q8_0_panel *p,
                               const uint8_t flip)
{
    const __m256i mask = _mm256_set1_epi8((char)flip);
    for (int e = 0; e < 2; e++, bytes += 8 * stride) {
        UNROLL(4)
        for (int i = 0; i < 4; i++) {
            const uint8_t *first = bytes + (size_t)(2 * i) * sizeof(struct block_q8_0);
            const uint8_t *second = first + sizeof(struct block_q8_0);
            q8_0_decode_scale(first, stride, p, e, 2 * i);
            q8_0_decode_scale(second, stride, p, e, 2 * i + 1);
            UNROLL(2)
            for (int c = 0; c < 2; c++) {
                __m256i v[4], z[4];
                turn_rows(first + 2 + 16 * c, stride, v);
                turn_rows(second + 2 + 16 * c, stride, z);
                UNROLL(4)
                for (int k = 0; k < 4; k++) {
                    pair_store_step(p->weight[8 * i + 4 * c + k], e, _mm256_xor_si256(v[k], mask),
                                    _mm256_xor_si256(z[k], mask));
                }
            }
        }
    }
}

#endif
