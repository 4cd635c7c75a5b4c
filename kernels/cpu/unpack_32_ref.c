/* unpack_32_ref.c: the types with blocks of 32 weights as integers. */
#include "unpack.h"

#include "blocks.h"
#include "dtype.h"
#include "half.h"

#include <math.h>
#include <string.h>

const int8_t iq4_levels[16] = {-127, -104, -83, -65, -49, -35, -22, -10,
                               1,    13,   25,  38,  53,  69,  89,  113};

const int8_t mxfp4_levels[16] = {0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12};

static int nibble(const uint8_t q[16], int i)
{
    return q[i % 16] >> (i / 16 * 4) & 15;
}

static int five_bits(const uint8_t q[16], const uint8_t high[4], int i)
{
    return nibble(q, i) | (high[i / 8] >> i % 8 & 1) << 4;
}

void unpack_q4_0(const void *bytes, struct unpacked_32 *out)
{
    struct block_q4_0 block;
    memcpy(&block, bytes, sizeof(block));
    out->d = half_to_float(block.d);
    out->m = -0.0f;
    for (int i = 0; i < 32; i++) {
        out->weight[i] = (int8_t)(nibble(block.q, i) - 8);
    }
}

void unpack_q4_1(const void *bytes, struct unpacked_32 *out)
{
    struct block_q4_1 block;
    memcpy(&block, bytes, sizeof(block));
    out->d = half_to_float(block.d);
    out->m = half_to_float(block.m);
    for (int i = 0; i < 32; i++) {
        out->weight[i] = (int8_t)nibble(block.q, i);
    }
}

void unpack_q5_0(const void *bytes, struct unpacked_32 *out)
{
    struct block_q5_0 block;
    memcpy(&block, bytes, sizeof(block));
    out->d = half_to_float(block.d);
    out->m = -0.0f;
    for (int i = 0; i < 32; i++) {
        out->weight[i] = (int8_t)(five_bits(block.q, block.high, i) - 16);
    }
}

void unpack_q5_1(const void *bytes, struct unpacked_32 *out)
{
    struct block_q5_1 block;
    memcpy(&block, bytes, sizeof(block));
    out->d = half_to_float(block.d);
    out->m = half_to_float(block.m);
    for (int i = 0; i < 32; i++) {
        out->weight[i] = (int8_t)five_bits(block.q, block.high, i);
    }
}

void unpack_q8_0(const void *bytes, struct unpacked_32 *out)
{
    struct block_q8_0 block;
    memcpy(&block, bytes, sizeof(block));
    out->d = half_to_float(block.d);
    out->m = -0.0f;
    memcpy(out->weight, block.q, sizeof(block.q));
}

void unpack_iq4_nl(const void *bytes, struct unpacked_32 *out)
{
    struct block_iq4_nl block;
    memcpy(&block, bytes, sizeof(block));
    out->d = half_to_float(block.d);
    out->m = -0.0f;
    for (int i = 0; i < 32; i++) {
        out->weight[i] = iq4_levels[nibble(block.q, i)];
    }
}

void unpack_mxfp4(const void *bytes, struct unpacked_32 *out)
{
    struct block_mxfp4 block;
    memcpy(&block, bytes, sizeof(block));
    out->d = ldexpf(1.0f, block.exponent - 128);
    out->m = -0.0f;
    for (int i = 0; i < 32; i++) {
        out->weight[i] = mxfp4_levels[nibble(block.q, i)];
    }
}

unpack_32 *unpack_32_of(uint32_t type)
{
    static unpack_32 *const of[DTYPE_LIMIT] = {
        [DTYPE_Q4_0] = unpack_q4_0,   [DTYPE_Q4_1] = unpack_q4_1, [DTYPE_Q5_0] = unpack_q5_0,
        [DTYPE_Q5_1] = unpack_q5_1,   [DTYPE_Q8_0] = unpack_q8_0, [DTYPE_IQ4_NL] = unpack_iq4_nl,
        [DTYPE_MXFP4] = unpack_mxfp4,
    };
    return type < DTYPE_LIMIT ? of[type] : NULL;
}
