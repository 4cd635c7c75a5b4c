/*
 * unpack_iq_ref.c: IQ4_XS and the codebook types as integers. Eight weights at
 * a time: a grid gives their magnitudes, a byte their signs.
 */
#include "unpack.h"

#include "blocks.h"
#include "dtype.h"
#include "grids.h"
#include "half.h"

#include <stdbool.h>
#include <string.h>

void unpack_iq4_xs(const void *bytes, struct unpacked_256 *out)
{
    struct block_iq4_xs block;
    memcpy(&block, bytes, sizeof(block));
    *out = (struct unpacked_256){.d = half_to_float(block.d)};
    for (int i = 0; i < SUPER_BLOCK; i++) {
        int j = i / 32;
        int low = block.scales_low[j / 2] >> (j % 2 * 4) & 15;
        int scale = (low | (block.scales_high >> 2 * j & 3) << 4) - 32;
        int q = block.q[16 * j + i % 16] >> (i % 32 / 16 * 4) & 15;
        out->weight[i] = (int16_t)(scale * iq4_levels[q]);
    }
}

/* Weights 8i..8i+7: scale times the bytes of grid, the first lowest, negative
 * where a bit of signs is 1. */
static void put_eight(struct unpacked_256 *out, int i, int scale, uint64_t grid, unsigned signs)
{
    for (int k = 0; k < 8; k++) {
        int magnitude = scale * (int)(grid >> 8 * k & 255);
        out->weight[8 * i + k] = (int16_t)(signs >> k & 1 ? -magnitude : magnitude);
    }
}

/* The odd scale of a nibble: 1, 3, ..., 31. */
static int odd_scale(const uint8_t *scales, int j)
{
    return 2 * (scales[j / 2] >> (j % 2 * 4) & 15) + 1;
}

static uint32_t tail_of(const uint8_t tail[4])
{
    uint32_t value;
    memcpy(&value, tail, sizeof(value));
    return value;
}

void unpack_iq3_s(const void *bytes, struct unpacked_256 *out)
{
    struct block_iq3_s block;
    memcpy(&block, bytes, sizeof(block));
    *out = (struct unpacked_256){.d = half_to_float(block.d)};
    for (int i = 0; i < 32; i++) {
        unsigned high = block.high[i / 4] >> (i % 4 * 2);
        uint64_t first = grid_iq3_s[block.q[2 * i] | (high & 1) << 8];
        uint64_t second = grid_iq3_s[block.q[2 * i + 1] | (high & 2) << 7];
        put_eight(out, i, odd_scale(block.scales, i / 4), first | second << 32, block.signs[i]);
    }
}

void unpack_iq3_xxs(const void *bytes, struct unpacked_256 *out)
{
    struct block_iq3_xxs block;
    memcpy(&block, bytes, sizeof(block));
    *out = (struct unpacked_256){.d = 0.25f * half_to_float(block.d)};
    for (int i = 0; i < 32; i++) {
        uint32_t tail = tail_of(block.tail[i / 4]);
        uint64_t first = grid_iq3_xxs[block.q[2 * i]], second = grid_iq3_xxs[block.q[2 * i + 1]];
        put_eight(out, i, (int)(2 * (tail >> 28) + 1), first | second << 32,
                  even_signs(tail >> (i % 4 * 7)));
    }
}

void unpack_iq2_s(const void *bytes, struct unpacked_256 *out)
{
    struct block_iq2_s block;
    memcpy(&block, bytes, sizeof(block));
    *out = (struct unpacked_256){.d = 0.125f * half_to_float(block.d)};
    for (int i = 0; i < 32; i++) {
        unsigned index = block.q[i] | (block.high[i / 4] >> (i % 4 * 2) & 3u) << 8;
        put_eight(out, i, odd_scale(block.scales, i / 2), grid_iq2_s[index], block.signs[i]);
    }
}

void unpack_iq2_xs(const void *bytes, struct unpacked_256 *out)
{
    struct block_iq2_xs block;
    memcpy(&block, bytes, sizeof(block));
    *out = (struct unpacked_256){.d = 0.125f * half_to_float(block.d)};
    for (int i = 0; i < 32; i++) {
        put_eight(out, i, odd_scale(block.scales, i / 2), grid_iq2_xs[block.q[i] & 511],
                  even_signs(block.q[i] >> 9));
    }
}

void unpack_iq2_xxs(const void *bytes, struct unpacked_256 *out)
{
    struct block_iq2_xxs block;
    memcpy(&block, bytes, sizeof(block));
    *out = (struct unpacked_256){.d = 0.125f * half_to_float(block.d)};
    for (int i = 0; i < 32; i++) {
        uint32_t tail = tail_of(block.part[i / 4].tail);
        put_eight(out, i, (int)(2 * (tail >> 28) + 1), grid_iq2_xxs[block.part[i / 4].q[i % 4]],
                  even_signs(tail >> (i % 4 * 7)));
    }
}

/* Weights 8i..8i+7 in eighths: scale times 8 (digit - 1), and one more or less. */
static void put_eight_digits(struct unpacked_256 *out, int i, int scale, uint64_t digits, bool down)
{
    for (int k = 0; k < 8; k++) {
        int digit = (int)(digits >> 8 * k & 255);
        out->weight[8 * i + k] = (int16_t)(scale * (8 * (digit - 1) + (down ? -1 : 1)));
    }
}

void unpack_iq1_s(const void *bytes, struct unpacked_256 *out)
{
    struct block_iq1_s block;
    memcpy(&block, bytes, sizeof(block));
    *out = (struct unpacked_256){.d = 0.125f * half_to_float(block.d)};
    for (int i = 0; i < 32; i++) {
        unsigned high = block.high[i / 4];
        unsigned index = block.q[i] | (high >> (i % 4 * 3) & 7) << 8;
        put_eight_digits(out, i, (int)(2 * (high >> 12 & 7) + 1), grid_iq1[index], high >> 15);
    }
}

void unpack_iq1_m(const void *bytes, struct unpacked_256 *out)
{
    struct block_iq1_m block;
    memcpy(&block, bytes, sizeof(block));
    *out = (struct unpacked_256){.d = 0.125f * half_to_float(dtype_half_of_nibbles(block.scales))};
    for (int i = 0; i < 32; i++) {
        unsigned high = block.high[i / 2] >> (i % 2 * 4);
        int g = i / 2; /* group of 16 */
        unsigned scales = block.scales[g / 4 * 2] | (unsigned)block.scales[g / 4 * 2 + 1] << 8;
        put_eight_digits(out, i, (int)(2 * (scales >> (g % 4 * 3) & 7) + 1),
                         grid_iq1[block.q[i] | (high & 7) << 8], high >> 3 & 1);
    }
}
