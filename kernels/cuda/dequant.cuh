/*
 * dequant.cuh: packed weights as signed bytes in registers, one decoder per block
 * type. A decoder is a struct of functions without state that read a block where
 * it lies, in shared or global memory:
 *
 *   word<HALF>(block, j, t)  weights 32j + 16 HALF + 4t .. + 3 as four bytes, the
 *                            first lowest; t = 0..3. With t the lane of a quad
 *                            these are the fragments of an mma (ptx.cuh).
 *   d(block)                 the block's scale
 *
 * Blocks of 256 have besides
 *
 *   GROUP                    16, 32: bytes are levels, to be multiplied by
 *   scale(scales, g)         the integer of group g; 256: they are the weights
 *   scales, load_scales(block)  what scale() reads: the block, or what was made of it once
 *   SIGN                     -1: the bytes are the negatives of the weights
 *   MINIMUMS, dmin(block), minimum(block, g)
 *                            what is subtracted from the 16 weights from 16g on
 *
 * and blocks of 32 (j is 0)
 *
 *   OFFSET, m(block)         what is added.
 *
 * What they give is what kernels/cpu/unpack.h gives; ALIGN is the alignment that
 * every block of a matrix has, from which a word takes one load or two.
 */
#pragma once
#include "blocks.h"
#include "dtype.cuh"
#include "gpu.cuh"

#define DECODE static __device__ __forceinline__

/* Four bytes, lowest first, on a multiple of ALIGN. */
template <int ALIGN> DECODE uint32_t load_word(const void *at)
{
    if constexpr (ALIGN >= 4) {
        return *(const uint32_t *)at;
    } else if constexpr (ALIGN == 1) {
        const uint8_t *bytes = (const uint8_t *)at;

        return bytes[0] | bytes[1] << 8 | bytes[2] << 16 | (uint32_t)bytes[3] << 24;
    } else {
        const uint16_t *halves = (const uint16_t *)at;

        return halves[0] | (uint32_t)halves[1] << 16;
    }
}

DECODE float half_value(uint16_t bits)
{
    return __half2float(__ushort_as_half(bits));
}

/* K from each byte; bytes at most 127 + K. */
template <int K> DECODE uint32_t minus_each(uint32_t bytes)
{
    return (bytes + (uint32_t)(128 - K) * 0x01010101u) ^ 0x80808080u;
}

/* Bits 0..3 to bit 0 of bytes 0..3. */
DECODE uint32_t spread_bits(uint32_t bits)
{
    return ((bits & 15) * 0x00204081u) & 0x01010101u;
}

/* The largest power of two up to 16 that divides a block's size. */
template <class Block> constexpr int block_align()
{
    return sizeof(Block) % 16 == 0  ? 16
           : sizeof(Block) % 8 == 0 ? 8
           : sizeof(Block) % 4 == 0 ? 4
           : sizeof(Block) % 2 == 0 ? 2
                                    : 1;
}

/* What decoders have in common. */
template <class Block, uint32_t ID> struct weights_of {
    typedef Block block;
    static constexpr uint32_t TYPE = ID;
    static constexpr int ALIGN = block_align<Block>();

    DECODE float d(const Block *b)
    {
        return half_value(b->d);
    }
    template <class Field> DECODE uint32_t load(const Field *at)
    {
        return load_word<ALIGN>(at);
    }
};

template <class Block, uint32_t ID> struct weights_32 : weights_of<Block, ID> {
    static constexpr bool OFFSET = false;
};

template <class Block, uint32_t ID, int EACH> struct weights_256 : weights_of<Block, ID> {
    static constexpr int GROUP = EACH, SIGN = 1;
    static constexpr bool MINIMUMS = false;
    typedef const Block *scales;

    DECODE scales load_scales(const Block *b)
    {
        return b;
    }
};
