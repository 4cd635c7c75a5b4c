/* dequant_32.cuh: decoders of the types with blocks of 32 weights. */
#pragma once
#include "dequant.cuh"

/* Nibble HALF of four bytes. */
template <int HALF> DECODE uint32_t nibbles(uint32_t bytes)
{
    return bytes >> 4 * HALF & 0x0f0f0f0fu;
}

/* For each byte 0..15 of n one of 16 levels, given four a word. A byte permutation
 * looks four bytes up in eight at a time; its selector is four nibbles. */
template <uint32_t FIRST, uint32_t SECOND, uint32_t THIRD, uint32_t FOURTH>
DECODE uint32_t levels_of(uint32_t n)
{
    const uint32_t pairs = n | n >> 4, selector = __byte_perm(pairs, 0, 0x4420);
    const uint32_t eight = selector & 0x7777;
    const uint32_t low = __byte_perm(FIRST, SECOND, eight);
    const uint32_t high = __byte_perm(THIRD, FOURTH, eight);

    return __byte_perm(low, high, 0x3210 | (selector & 0x8888) >> 1);
}

/* -127 -104 -83 -65, -49 -35 -22 -10, 1 13 25 38, 53 69 89 113 */
DECODE uint32_t iq4_levels_of(uint32_t n)
{
    return levels_of<0xbfad9881u, 0xf6eaddcfu, 0x26190d01u, 0x71594535u>(n);
}

/* 0 1 2 3, 4 6 8 12, and their negatives. */
DECODE uint32_t mxfp4_levels_of(uint32_t n)
{
    return levels_of<0x03020100u, 0x0c080604u, 0xfdfeff00u, 0xf4f8fafcu>(n);
}

struct weights_q4_0 : weights_32<block_q4_0, DTYPE_Q4_0> {
    template <int HALF> DECODE uint32_t word(const block *b, int, int t)
    {
        return minus_each<8>(nibbles<HALF>(load(b->q + 4 * t)));
    }
};

struct weights_q4_1 : weights_32<block_q4_1, DTYPE_Q4_1> {
    static constexpr bool OFFSET = true;

    template <int HALF> DECODE uint32_t word(const block *b, int, int t)
    {
        return nibbles<HALF>(load(b->q + 4 * t));
    }
    DECODE float m(const block *b)
    {
        return half_value(b->m);
    }
};

/* The fifth bits of the four weights of a word, as bit 4 of its bytes. */
template <class W, int HALF> DECODE uint32_t fifth_bits(const typename W::block *b, int t)
{
    return spread_bits(W::load(b->high) >> (16 * HALF + 4 * t)) << 4;
}

struct weights_q5_0 : weights_32<block_q5_0, DTYPE_Q5_0> {
    template <int HALF> DECODE uint32_t word(const block *b, int, int t)
    {
        return minus_each<16>(nibbles<HALF>(load(b->q + 4 * t)) |
                              fifth_bits<weights_q5_0, HALF>(b, t));
    }
};

struct weights_q5_1 : weights_32<block_q5_1, DTYPE_Q5_1> {
    static constexpr bool OFFSET = true;

    template <int HALF> DECODE uint32_t word(const block *b, int, int t)
    {
        return nibbles<HALF>(load(b->q + 4 * t)) | fifth_bits<weights_q5_1, HALF>(b, t);
    }
    DECODE float m(const block *b)
    {
        return half_value(b->m);
    }
};

struct weights_q8_0 : weights_32<block_q8_0, DTYPE_Q8_0> {
    template <int HALF> DECODE uint32_t word(const block *b, int, int t)
    {
        return load(b->q + 16 * HALF + 4 * t);
    }
};

struct weights_iq4_nl : weights_32<block_iq4_nl, DTYPE_IQ4_NL> {
    template <int HALF> DECODE uint32_t word(const block *b, int, int t)
    {
        return iq4_levels_of(nibbles<HALF>(load(b->q + 4 * t)));
    }
};

struct weights_mxfp4 : weights_32<block_mxfp4, DTYPE_MXFP4> {
    template <int HALF> DECODE uint32_t word(const block *b, int, int t)
    {
        return mxfp4_levels_of(nibbles<HALF>(load(b->q + 4 * t)));
    }
    /* Two normal powers of two, whose product may be subnormal. */
    DECODE float d(const block *b)
    {
        const uint32_t e = b->exponent, first = e / 2;

        return __uint_as_float((first + 63) << 23) * __uint_as_float((e - first + 63) << 23);
    }
};
