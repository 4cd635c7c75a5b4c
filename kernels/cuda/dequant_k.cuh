/* dequant_k.cuh: decoders of the K types and the ternary types. */
#pragma once
#include "dequant.cuh"

/* The two bits of weights 32j + 4i .. + 3 in the order of Q2_K; i = 0..7. */
template <class W> DECODE uint32_t two_bits(const typename W::block *b, int j, int i)
{
    return W::load(b->q + j / 4 * 32 + 4 * i) >> (j % 4 * 2) & 0x03030303u;
}

/* Levels 0..3 times scales 0..15 fit a byte each: no group is left. */
struct weights_q2_k : weights_256<block_q2_k, DTYPE_Q2_K, 256> {
    static constexpr bool MINIMUMS = true;

    template <int HALF> DECODE uint32_t word(const block *b, int j, int t)
    {
        return two_bits<weights_q2_k>(b, j, 4 * HALF + t) * (b->scales[2 * j + HALF] & 15u);
    }
    DECODE float dmin(const block *b)
    {
        return half_value(b->dmin);
    }
    DECODE int minimum(const block *b, int g)
    {
        return b->scales[g] >> 4;
    }
};

/* Weights scale * (q - 4) are -124..128: their negatives fit a byte. */
struct weights_q3_k : weights_256<block_q3_k, DTYPE_Q3_K, 256> {
    static constexpr int SIGN = -1;

    DECODE int group_scale(const block *b, int g)
    {
        const int low = b->scales[g % 8] >> (g / 8 * 4) & 15;
        const int high = b->scales[8 + g % 4] >> (g / 4 * 2) & 3;

        return (low | high << 4) - 32;
    }
    /* Two products fit a register: with 256 added none is below zero, and the low
     * byte stays. */
    template <int HALF> DECODE uint32_t word(const block *b, int j, int t)
    {
        const uint32_t high = load(b->high + 16 * HALF + 4 * t) >> j & 0x01010101u;
        const uint32_t q = two_bits<weights_q3_k>(b, j, 4 * HALF + t) | high << 2;
        const int negative = -group_scale(b, 2 * j + HALF);
        const uint32_t add = (uint32_t)(256 - 4 * negative) * 0x00010001u;
        const uint32_t even = (q & 0x00ff00ffu) * (uint32_t)negative + add;
        const uint32_t odd = (q >> 8 & 0x00ff00ffu) * (uint32_t)negative + add;

        return __byte_perm(even, odd, 0x6240);
    }
};

/* What Q4_K and Q5_K have in common: a nibble of each weight; six-bit scales and minimums,
 * of which the first four stand in the low bits of bytes 0..3 and 4..7; of the others
 * bytes 8..11 have the low four bits, and the top of bytes 0..3 and 4..7 the rest. */
template <class Block, uint32_t ID> struct weights_45_k : weights_256<Block, ID, 32> {
    static constexpr bool MINIMUMS = true;
    typedef weights_of<Block, ID> base;
    /* Eight bytes, those of 0..3 and of 4..7. */
    struct scales {
        uint32_t first, last;
    };

    /* The nibbles of weights 32j + 4i .. + 3; i = 0..7. */
    DECODE uint32_t nibbles(const Block *b, int j, int i)
    {
        return base::load(b->q + j / 2 * 32 + 4 * i) >> (j % 2 * 4) & 0x0f0f0f0fu;
    }
    DECODE scales load_scales(const Block *b)
    {
        const uint32_t six = base::load(b->scales), four = base::load(b->scales + 8);

        return {six & 0x3f3f3f3fu, (four & 0x0f0f0f0fu) | (six >> 2 & 0x30303030u)};
    }
    DECODE int scale(const scales &s, int j)
    {
        return (int)((j < 4 ? s.first : s.last) >> j % 4 * 8 & 255);
    }
    DECODE float dmin(const Block *b)
    {
        return half_value(b->dmin);
    }
    DECODE int minimum(const Block *b, int g)
    {
        const int six = b->scales[4 + (g >> 1 & 3)], four = b->scales[8 + (g >> 1 & 3)];

        return g < 8 ? six & 63 : four >> 4 | (six >> 6 << 4);
    }
};

struct weights_q4_k : weights_45_k<block_q4_k, DTYPE_Q4_K> {
    template <int HALF> DECODE uint32_t word(const block *b, int j, int t)
    {
        return nibbles(b, j, 4 * HALF + t);
    }
};

struct weights_q5_k : weights_45_k<block_q5_k, DTYPE_Q5_K> {
    template <int HALF> DECODE uint32_t word(const block *b, int j, int t)
    {
        const uint32_t high = load(b->high + 16 * HALF + 4 * t) >> j & 0x01010101u;

        return nibbles(b, j, 4 * HALF + t) | high << 4;
    }
};

struct weights_q6_k : weights_256<block_q6_k, DTYPE_Q6_K, 16> {
    template <int HALF> DECODE uint32_t word(const block *b, int j, int t)
    {
        const int part = j / 4, run = j % 4, at = 16 * HALF + 4 * t;
        const uint32_t low = load(b->low + part * 64 + run % 2 * 32 + at) >> (run / 2 * 4);
        const uint32_t high = load(b->high + part * 32 + at) >> (2 * run);

        return minus_each<32>((low & 0x0f0f0f0fu) | (high & 0x03030303u) << 4);
    }
    DECODE int scale(const block *b, int g)
    {
        return b->scales[g];
    }
};

/* Digits of four bytes of TQ1_0 less one, in pairs: (byte * 3^k mod 256) * 3 / 256. */
DECODE uint32_t ternary_digits(uint32_t bytes, int k)
{
    const uint32_t power = k < 4 ? 0x1b090301u >> 8 * k & 255 : 81;
    const uint32_t even = (bytes & 0x00ff00ffu) * power & 0x00ff00ffu;
    const uint32_t odd = (bytes >> 8 & 0x00ff00ffu) * power & 0x00ff00ffu;

    return minus_each<1>((even * 3 >> 8 & 0x00030003u) | (odd * 3 & 0x03000300u));
}

struct weights_tq1_0 : weights_256<block_tq1_0, DTYPE_TQ1_0, 256> {
    template <int HALF> DECODE uint32_t word(const block *b, int j, int t)
    {
        if (j < 5)
            return ternary_digits(load(b->q + 16 * HALF + 4 * t), j);
        const int k = 2 * (j - 5) + HALF; /* which sixteen of the last 96 weights */

        return k < 5 ? ternary_digits(load(b->q + 32 + 4 * t), k)
                     : ternary_digits(load(b->high), t);
    }
};

struct weights_tq2_0 : weights_256<block_tq2_0, DTYPE_TQ2_0, 256> {
    template <int HALF> DECODE uint32_t word(const block *b, int j, int t)
    {
        return minus_each<1>(two_bits<weights_tq2_0>(b, j, 4 * HALF + t));
    }
};
