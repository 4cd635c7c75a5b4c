/* dequant_32.cuh: decoders of the types with blocks of 32 weights. */
#pragma once
#include "dequant.cuh"

/* Nibble HALF of four bytes. */
template <int HALF> DECODE uint32_t nibbles(uint32_t bytes)
{
    return bytes >> 4 * HALF & 0x0f0f0f0fu;
}

/* One of the 16 levels of IQ4_NL for each byte 0..15 of n. A byte permutation
 * looks four bytes up in eight at a time; its selector is four nibbles. */
DECODE uint32_t iq4_levels_of(uint32_t n)
{
    /* -127 -104 -83 -65, -49 -35 -22 -10, 1 13 25 38, 53 69 89 113 */
    const uint32_t pairs = n | n >> 4, selector = __byte_perm(pairs, 0, 0x4420);
    const uint32_t eight = selector & 0x7777;
    const uint32_t low = __byte_perm(0xbfad9881u, 0xf6eaddcfu, eight);
    const uint32_t high = __byte_perm(0x26190d01u, 0x71594535u, eight);

    return __byte_perm(low, high, 0x3210 | (selector & 0x8888) >> 1);
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
