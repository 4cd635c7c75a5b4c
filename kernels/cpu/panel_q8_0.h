/*
 * panel_q8_0.h: panels of Q8_0: 64 steps of four weights of 16 rows, one dword
 * a row in plain order, and a scale per row and block of 32. A super-block is
 * eight blocks.
 */
#ifndef PANEL_Q8_0_H
#define PANEL_Q8_0_H

#include "blocks.h"
#include "panel.h"
#include "panel_simd.h"

struct q8_0_panel {
    _Alignas(64) uint8_t weight[64][64];
    _Alignas(64) float d[8][PANEL_ROWS];
};

/* Weights are stored with `flip` XORed in: 0 keeps them signed, 0x80 makes them
 * count from -128. */
ALWAYS_INLINE void q8_0_decode(const uint8_t *bytes, size_t stride, struct q8_0_panel *p,
                               const uint8_t flip)
{
    const __m256i mask = _mm256_set1_epi8((char)flip);
    for (int e = 0; e < 2; e++, bytes += 8 * stride) {
        UNROLL(8)
        for (int j = 0; j < 8; j++) {
            const uint8_t *block = bytes + (size_t)j * sizeof(struct block_q8_0);
            __m256i v[4];
            turn_rows(block, stride, v); /* its first half dword is the scale */
            _mm256_store_ps(p->d[j] + 8 * e, low_halves_to_float(v[0]));
            UNROLL(2)
            for (int c = 0; c < 2; c++) {
                turn_rows(block + 2 + 16 * c, stride, v);
                UNROLL(4)
                for (int k = 0; k < 4; k++) {
                    __m256i *to = (__m256i *)p->weight[8 * j + 4 * c + k] + e;
                    _mm256_store_si256(to, _mm256_xor_si256(v[k], mask));
                }
            }
        }
    }
}

#endif
