/* encode.c: the table of encoders, and those of blocks of 32 values. */
#include "encode.h"

#include "blocks.h"
#include "compiler.h"
#include "dtype.h"
#include "half.h"

#include <math.h>
#include <string.h>

typedef void encode_block(const float *x, void *out);

static encode_block *const encoders[DTYPE_LIMIT] = {
    [DTYPE_Q8_0] = encode_q8_0, [DTYPE_Q5_0] = encode_q5_0, [DTYPE_Q5_1] = encode_q5_1,
    [DTYPE_Q4_K] = encode_q4_k, [DTYPE_Q5_K] = encode_q5_k, [DTYPE_Q6_K] = encode_q6_k,
};

bool encode_supports(uint32_t type)
{
    return type < DTYPE_LIMIT && encoders[type];
}

void encode_row(uint32_t type, const float *x, int width, void *out)
{
    const struct dtype_info *info = dtype_info(type);
    uint8_t *bytes = out;

    for (int i = 0; i < width; i += (int)info->block_weights, bytes += info->block_bytes)
        encoders[type](x + i, bytes);
}

/* The value of largest magnitude of 32, the first of equals. */
static float extreme(const float x[32])
{
    float found = 0;

    for (int i = 0; i < 32; i++)
        if (fabsf(x[i]) > fabsf(found))
            found = x[i];
    return found;
}

void encode_q8_0(const float *x, void *out)
{
    float d = fabsf(extreme(x)) / 127, factor = d != 0 ? 1 / d : 0;
    struct block_q8_0 block = {.d = half_from_float(d)};

    for (int i = 0; i < 32; i++)
        block.q[i] = (int8_t)roundf(x[i] * factor);
    memcpy(out, &block, sizeof block);
}

/* Splits 32 five-bit numbers into nibbles and a field of fifth bits. */
static void pack_five_bits(const uint8_t q[32], uint8_t nibbles[16], uint8_t high[4])
{
    memset(high, 0, 4);
    for (int i = 0; i < 16; i++)
        nibbles[i] = (uint8_t)((q[i] & 15) | (q[i + 16] & 15) << 4);
    for (int i = 0; i < 32; i++)
        high[i / 8] |= (uint8_t)(q[i] >> 4 << i % 8);
}

/* The extreme becomes -16. */
void encode_q5_0(const float *x, void *out)
{
    float d = extreme(x) / -16, factor = d != 0 ? 1 / d : 0;
    struct block_q5_0 block = {.d = half_from_float(d)};
    uint8_t q[32];

    for (int i = 0; i < 32; i++)
        q[i] = (uint8_t)MIN(31, (int)(x[i] * factor + 16.5f));
    pack_five_bits(q, block.q, block.high);
    memcpy(out, &block, sizeof block);
}

/* The smallest value becomes 0, the largest 31. */
void encode_q5_1(const float *x, void *out)
{
    float least = x[0], most = x[0], d, factor;
    struct block_q5_1 block;
    uint8_t q[32];

    for (int i = 1; i < 32; i++) {
        least = MIN(least, x[i]);
        most = MAX(most, x[i]);
    }
    d = (most - least) / 31;
    factor = d != 0 ? 1 / d : 0;
    block.d = half_from_float(d);
    block.m = half_from_float(least);
    for (int i = 0; i < 32; i++)
        q[i] = (uint8_t)((x[i] - least) * factor + 0.5f);
    pack_five_bits(q, block.q, block.high);
    memcpy(out, &block, sizeof block);
}
