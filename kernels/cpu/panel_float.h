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
    for (int e = 0; e < DECODE_PARTS; e++, bytes += DECODE_ROWS * stride) {
        for (int c = 0; c < SUPER_BLOCK / 4; c++) {
            dwords v[4];
            turn_rows(bytes + 16 * c, stride, v);
            UNROLL(4)
            for (int k = 0; k < 4; k++) {
                dwords_store(p->weight[4 * c + k], e, v[k]);
            }
        }
    }
}

static void float_decode_f16(const uint8_t *bytes, size_t stride, struct float_panel *p)
{
    for (int e = 0; e < DECODE_PARTS; e++, bytes += DECODE_ROWS * stride) {
        for (int c = 0; c < SUPER_BLOCK / 8; c++) {
            dwords v[4];
            turn_rows(bytes + 16 * c, stride, v);
            UNROLL(4)
            for (int k = 0; k < 4; k++) {
                float *to = p->weight[8 * c + 2 * k] + DECODE_ROWS * e;
                store_low_halves(to, v[k]);
                store_low_halves(to + PANEL_ROWS, dwords_right_32(v[k], 16));
            }
        }
    }
}

static void float_decode_bf16(const uint8_t *bytes, size_t stride, struct float_panel *p)
{
    const dwords upper = dwords_set_32((int)0xffff0000);
    for (int e = 0; e < DECODE_PARTS; e++, bytes += DECODE_ROWS * stride) {
        for (int c = 0; c < SUPER_BLOCK / 8; c++) {
            dwords v[4];
            turn_rows(bytes + 16 * c, stride, v);
            UNROLL(4)
            for (int k = 0; k < 4; k++) {
                dwords_store(p->weight[8 * c + 2 * k], e, dwords_left_32(v[k], 16));
                dwords_store(p->weight[8 * c + 2 * k + 1], e, dwords_and(v[k], upper));
            }
        }
    }
}

#endif
