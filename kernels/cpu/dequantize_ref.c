/*
 * dequantize_ref.c: weight rows to f32, plain C. d times an integer of 16 bits
 * is rounded once, and where a type has minimums their difference once more.
 */
#include "compiler.h"
#include "half.h"
#include "kernels.h"
#include "unpack.h"

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

static void dequantize_32(uint32_t type, const uint8_t *row, int width, float *out)
{
    struct unpacked_32 block;

    for (int i = 0; i < width; i += 32, row += dtype_info(type)->block_bytes) {
        unpack_32_of(type)(row, &block);
        for (int k = 0; k < 32; k++)
            out[i + k] = block.d * (float)block.weight[k] + block.m;
    }
}

static void dequantize_256(uint32_t type, const uint8_t *row, int width, float *out)
{
    struct unpacked_256 block;

    for (int i = 0; i < width; i += SUPER_BLOCK, row += dtype_info(type)->block_bytes) {
        unpack_256_of(type)(row, &block);
        for (int k = 0; k < SUPER_BLOCK; k++)
            out[i + k] = block.d * (float)block.weight[k] - block.dmin * (float)block.minimum[k];
    }
}

void dequantize_row(uint32_t type, const void *row, int width, float *out)
{
    if (type == DTYPE_F32)
        memcpy(out, row, sizeof *out * (size_t)width);
    else if (type == DTYPE_F16)
        dequantize_f16(row, width, out);
    else if (type == DTYPE_BF16)
        dequantize_bf16(row, width, out);
    else if (unpack_32_of(type))
        dequantize_32(type, row, width, out);
    else
        dequantize_256(type, row, width, out);
}
