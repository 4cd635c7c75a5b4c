/*
 * dequant_iq.cuh: decoders of IQ4_XS and the codebook types. The codebooks are
 * those of the CPU, on the card; lookups go through the cache.
 */
#pragma once
#include "dequant_32.cuh"

#define GRID [[maybe_unused]] static __device__
#include "grid_digits.h"
#include "grid_tables.h"
#undef GRID

/* A magnitude where the bit of its byte is 0, else its negative; magnitudes are
 * above 0, so that adding one to a byte carries into no other. */
DECODE uint32_t apply_signs(uint32_t magnitudes, uint32_t bits)
{
    const uint32_t ones = spread_bits(bits);

    return (magnitudes ^ ones * 255) + ones;
}

/* Seven sign bits and the eighth that makes their number even. */
DECODE uint32_t even_signs(uint32_t s)
{
    s &= 127;
    return s | ((uint32_t)__popc(s) & 1) << 7;
}

/* Half t % 2 of an entry of eight magnitudes, and of its signs. */
DECODE uint32_t half_entry(const uint64_t *grid, uint32_t index, uint32_t signs, int t)
{
    return apply_signs(((const uint32_t *)grid)[2 * index + (uint32_t)(t % 2)],
                       signs >> 4 * (t % 2));
}

/* 1, 3, .. 31. */
DECODE int odd_scale(const uint8_t *scales, int g)
{
    return 2 * (scales[g / 2] >> (g % 2 * 4) & 15) + 1;
}

struct weights_iq4_xs : weights_256<block_iq4_xs, DTYPE_IQ4_XS, 32> {
    template <int HALF> DECODE uint32_t word(const block *b, int j, int t)
    {
        return iq4_levels_of(nibbles<HALF>(load(b->q + 16 * j + 4 * t)));
    }
    DECODE int scale(const block *b, int j)
    {
        const int low = b->scales_low[j / 2] >> (j % 2 * 4) & 15;

        return (low | (b->scales_high >> 2 * j & 3) << 4) - 32;
    }
};

struct weights_iq3_s : weights_256<block_iq3_s, DTYPE_IQ3_S, 32> {
    template <int HALF> DECODE uint32_t word(const block *b, int j, int t)
    {
        const int i = 4 * HALF + t; /* entry of the eight of the sub-block */
        const uint32_t index = b->q[8 * j + i] | (b->high[j] >> i & 1u) << 8;

        return apply_signs(grid_iq3_s[index], (uint32_t)b->signs[4 * j + i / 2] >> (i % 2 * 4));
    }
    DECODE int scale(const block *b, int j)
    {
        return odd_scale(b->scales, j);
    }
};

struct weights_iq3_xxs : weights_256<block_iq3_xxs, DTYPE_IQ3_XXS, 32> {
    template <int HALF> DECODE uint32_t word(const block *b, int j, int t)
    {
        const int i = 4 * HALF + t;
        const uint32_t signs = even_signs(load(b->tail[j]) >> (i / 2 * 7));

        return apply_signs(grid_iq3_xxs[b->q[8 * j + i]], signs >> (i % 2 * 4));
    }
    DECODE int scale(const block *b, int j)
    {
        return 2 * (b->tail[j][3] >> 4) + 1;
    }
    DECODE float d(const block *b)
    {
        return 0.25f * half_value(b->d);
    }
};

struct weights_iq2_s : weights_256<block_iq2_s, DTYPE_IQ2_S, 16> {
    template <int HALF> DECODE uint32_t word(const block *b, int j, int t)
    {
        const int i = 2 * HALF + t / 2; /* entry of the four of the sub-block */
        const uint32_t index = b->q[4 * j + i] | (b->high[j] >> 2 * i & 3u) << 8;

        return half_entry(grid_iq2_s, index, b->signs[4 * j + i], t);
    }
    DECODE int scale(const block *b, int g)
    {
        return odd_scale(b->scales, g);
    }
    DECODE float d(const block *b)
    {
        return 0.125f * half_value(b->d);
    }
};

struct weights_iq2_xs : weights_256<block_iq2_xs, DTYPE_IQ2_XS, 16> {
    template <int HALF> DECODE uint32_t word(const block *b, int j, int t)
    {
        const uint32_t q = b->q[4 * j + 2 * HALF + t / 2];

        return half_entry(grid_iq2_xs, q & 511, even_signs(q >> 9), t);
    }
    DECODE int scale(const block *b, int g)
    {
        return odd_scale(b->scales, g);
    }
    DECODE float d(const block *b)
    {
        return 0.125f * half_value(b->d);
    }
};

struct weights_iq2_xxs : weights_256<block_iq2_xxs, DTYPE_IQ2_XXS, 32> {
    template <int HALF> DECODE uint32_t word(const block *b, int j, int t)
    {
        const int i = 2 * HALF + t / 2;
        const uint32_t signs = even_signs(load(b->part[j].tail) >> 7 * i);

        return half_entry(grid_iq2_xxs, b->part[j].q[i], signs, t);
    }
    DECODE int scale(const block *b, int j)
    {
        return 2 * (b->part[j].tail[3] >> 4) + 1;
    }
    DECODE float d(const block *b)
    {
        return 0.125f * half_value(b->d);
    }
};

/* Half t % 2 of an entry of eight digits, in eighths of what they stand for: 8 * digit less 7,
 * or less 9 for those moved down. */
DECODE uint32_t half_digits(uint32_t index, uint32_t down, int t)
{
    const uint32_t eighths = ((const uint32_t *)grid_iq1)[2 * index + (uint32_t)(t % 2)] * 8;

    return down ? minus_each<9>(eighths) : minus_each<7>(eighths);
}

struct weights_iq1_s : weights_256<block_iq1_s, DTYPE_IQ1_S, 32> {
    template <int HALF> DECODE uint32_t word(const block *b, int j, int t)
    {
        const int i = 2 * HALF + t / 2; /* entry of the four of the sub-block */
        const uint32_t high = b->high[j];

        return half_digits(b->q[4 * j + i] | (high >> 3 * i & 7) << 8, high >> 15, t);
    }
    DECODE int scale(const block *b, int j)
    {
        return 2 * (b->high[j] >> 12 & 7) + 1;
    }
    DECODE float d(const block *b)
    {
        return 0.125f * half_value(b->d);
    }
};

struct weights_iq1_m : weights_256<block_iq1_m, DTYPE_IQ1_M, 16> {
    template <int HALF> DECODE uint32_t word(const block *b, int j, int t)
    {
        const int i = 2 * HALF + t / 2;
        const uint32_t high = (uint32_t)b->high[2 * j + HALF] >> (t / 2 * 4);

        return half_digits(b->q[4 * j + i] | (high & 7) << 8, high & 8, t);
    }
    DECODE int scale(const block *b, int g)
    {
        return 2 * (*(const uint16_t *)(b->scales + g / 4 * 2) >> (g % 4 * 3) & 7) + 1;
    }
    DECODE float d(const block *b)
    {
        const uint32_t low = load(b->scales), high = load(b->scales + 4);

        return 0.125f * half_value((uint16_t)((low >> 12 & 0xf) | (low >> 24 & 0xf0) |
                                              (high >> 4 & 0xf00) | (high >> 16 & 0xf000)));
    }
};
