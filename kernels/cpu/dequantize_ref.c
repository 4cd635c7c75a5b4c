/*
 * dequantize_ref.c: weight blocks to f32, plain C. This is the specification of
 * the block types; formulas are in blocks.h and docs/gguf.md.
 */
#include "blocks.h"
#include "half.h"
#include "kernels.h"

enum { SUB_BLOCK = 32, SUB_BLOCKS = 8 };

static void dequantize_f16(const uint8_t *row, int width, float *out)
{
    uint16_t half;

    for (int i = 0; i < width; i++) {
        memcpy(&half, row + 2 * (size_t)i, sizeof half);
        out[i] = half_to_float(half);
    }
}

static void dequantize_bf16(const uint8_t *row, int width, float *out)
{
    uint16_t bits;

    for (int i = 0; i < width; i++) {
        memcpy(&bits, row + 2 * (size_t)i, sizeof bits);
        out[i] = bfloat_to_float(bits);
    }
}

static void dequantize_q8_0(const struct block_q8_0 *block, float *out)
{
    float d = half_to_float(block->d);

    for (int i = 0; i < SUB_BLOCK; i++)
        out[i] = d * (float)block->q[i];
}

/* Scale and minimum of sub-block j of Q4_K and Q5_K, six bits each. Those of
 * sub-blocks 0 to 3 lie in the low bits of bytes 0 to 7; for 4 to 7 the low
 * four bits are in bytes 8 to 11 and the high two on top of bytes 0 to 7. */
static void unpack_scale(const uint8_t scales[12], int j, int *scale, int *minimum)
{
    if (j < 4) {
        *scale = scales[j] & 63;
        *minimum = scales[j + 4] & 63;
    } else {
        *scale = (scales[j + 4] & 15) | (scales[j - 4] >> 6) << 4;
        *minimum = (scales[j + 4] >> 4) | (scales[j] >> 6) << 4;
    }
}

static void dequantize_q4_k(const struct block_q4_k *block, float *out)
{
    float d = half_to_float(block->d), dmin = half_to_float(block->dmin);

    for (int j = 0; j < SUB_BLOCKS; j++) {
        const uint8_t *q = block->q + j / 2 * SUB_BLOCK;
        int scale, minimum;

        unpack_scale(block->scales, j, &scale, &minimum);
        for (int i = 0; i < SUB_BLOCK; i++)
            *out++ = d * (float)scale * (float)(q[i] >> j % 2 * 4 & 15) - dmin * (float)minimum;
    }
}

static void dequantize_q5_k(const struct block_q5_k *block, float *out)
{
    float d = half_to_float(block->d), dmin = half_to_float(block->dmin);

    for (int j = 0; j < SUB_BLOCKS; j++) {
        const uint8_t *q = block->q + j / 2 * SUB_BLOCK;
        int scale, minimum;

        unpack_scale(block->scales, j, &scale, &minimum);
        for (int i = 0; i < SUB_BLOCK; i++) {
            int weight = (q[i] >> j % 2 * 4 & 15) | (block->high[i] >> j & 1) << 4;

            *out++ = d * (float)scale * (float)weight - dmin * (float)minimum;
        }
    }
}

/* Each half of 128 weights has four runs of 32: low nibbles of its 64 bytes,
 * then high ones; run r takes bits 2r and 2r + 1 of the half's 32 high bytes. */
static void dequantize_q6_k(const struct block_q6_k *block, float *out)
{
    float d = half_to_float(block->d);

    for (int run = 0; run < SUB_BLOCKS; run++) {
        int half = run / 4, r = run % 4;
        const uint8_t *low = block->low + 64 * half + SUB_BLOCK * (r % 2);
        const uint8_t *high = block->high + SUB_BLOCK * half;

        for (int i = 0; i < SUB_BLOCK; i++) {
            int weight = (low[i] >> r / 2 * 4 & 15) | (high[i] >> 2 * r & 3) << 4;

            *out++ = d * (float)block->scales[2 * run + i / 16] * (float)(weight - 32);
        }
    }
}

/* Blocks may lie at any address, so each is copied before it is read. */
#define DEQUANTIZE_BLOCKS(type, weights, row, width, out)                                          \
    for (int i = 0; i < (width) / (weights); i++) {                                                \
        struct block_##type block;                                                                 \
                                                                                                   \
        memcpy(&block, (row) + sizeof block * (size_t)i, sizeof block);                            \
        dequantize_##type(&block, (out) + (size_t)i * (weights));                                  \
    }

void dequantize_row(uint32_t type, const void *row, int width, float *out)
{
    const uint8_t *bytes = row;

    switch ((enum dtype)type) {
    case DTYPE_F32:
        memcpy(out, row, sizeof *out * (size_t)width);
        break;
    case DTYPE_F16:
        dequantize_f16(bytes, width, out);
        break;
    case DTYPE_BF16:
        dequantize_bf16(bytes, width, out);
        break;
    case DTYPE_Q8_0:
        DEQUANTIZE_BLOCKS(q8_0, SUB_BLOCK, bytes, width, out)
        break;
    case DTYPE_Q4_K:
        DEQUANTIZE_BLOCKS(q4_k, SUPER_BLOCK, bytes, width, out)
        break;
    case DTYPE_Q5_K:
        DEQUANTIZE_BLOCKS(q5_k, SUPER_BLOCK, bytes, width, out)
        break;
    case DTYPE_Q6_K:
        DEQUANTIZE_BLOCKS(q6_k, SUPER_BLOCK, bytes, width, out)
        break;
    case DTYPE_LIMIT:
        break;
    }
}
