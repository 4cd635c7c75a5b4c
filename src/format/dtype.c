/*
 * dtype.c: the table of tensor types. Types with kernels take their block size
 * from the struct that the kernels read; the others are sums over the fields of
 * their block: scales first, then the packed weights.
 */
#include "dtype.h"

#include "blocks.h"
#include "compiler.h"
#include "dllm.h"

#include <stddef.h>

static const struct dtype_info types[DTYPE_LIMIT] = {
    [DTYPE_F32] = {"F32", 1, sizeof(float), true},
    [DTYPE_F16] = {"F16", 1, sizeof(uint16_t), true},
    [2] = {"Q4_0", 32, 2 + 32 / 2, false},
    [3] = {"Q4_1", 32, 2 + 2 + 32 / 2, false},
    [6] = {"Q5_0", 32, 2 + 32 / 8 + 32 / 2, false},
    [7] = {"Q5_1", 32, 2 + 2 + 32 / 8 + 32 / 2, false},
    [DTYPE_Q8_0] = {"Q8_0", 32, sizeof(struct block_q8_0), true},
    [9] = {"Q8_1", 32, 2 + 2 + 32, false},
    [10] = {"Q2_K", 256, 2 + 2 + 256 / 16 + 256 / 4, false},
    [11] = {"Q3_K", 256, 2 + 12 + 256 / 8 + 256 / 4, false},
    [DTYPE_Q4_K] = {"Q4_K", 256, sizeof(struct block_q4_k), true},
    [DTYPE_Q5_K] = {"Q5_K", 256, sizeof(struct block_q5_k), true},
    [DTYPE_Q6_K] = {"Q6_K", 256, sizeof(struct block_q6_k), true},
    [15] = {"Q8_K", 256, 4 + 256 + 2 * 256 / 16, false},
    [16] = {"IQ2_XXS", 256, 2 + 256 / 4, false},
    [17] = {"IQ2_XS", 256, 2 + 256 / 32 + 256 / 4, false},
    [18] = {"IQ3_XXS", 256, 2 + 256 / 8 + 256 / 4, false},
    [19] = {"IQ1_S", 256, 2 + 256 / 16 + 256 / 8, false},
    [20] = {"IQ4_NL", 32, 2 + 32 / 2, false},
    [21] = {"IQ3_S", 256, 2 + 256 / 64 + 256 / 32 + 256 / 8 + 256 / 4, false},
    [22] = {"IQ2_S", 256, 2 + 256 / 32 + 256 / 32 + 256 / 4, false},
    [23] = {"IQ4_XS", 256, 2 + 2 + 256 / 64 + 256 / 2, false},
    [24] = {"I8", 1, sizeof(int8_t), false},
    [25] = {"I16", 1, sizeof(int16_t), false},
    [26] = {"I32", 1, sizeof(int32_t), false},
    [27] = {"I64", 1, sizeof(int64_t), false},
    [28] = {"F64", 1, sizeof(double), false},
    [29] = {"IQ1_M", 256, 256 / 32 + 256 / 16 + 256 / 8, false},
    [DTYPE_BF16] = {"BF16", 1, sizeof(uint16_t), true},
    [34] = {"TQ1_0", 256, 2 + 256 / 64 + 240 / 5, false},
    [35] = {"TQ2_0", 256, 2 + 256 / 4, false},
    [39] = {"MXFP4", 32, 1 + 32 / 2, false},
};

const struct dtype_info *dtype_info(uint32_t type)
{
    return type < DTYPE_LIMIT && types[type].name ? &types[type] : NULL;
}

const char *dtype_matrix_names(void)
{
    return "F32, F16, BF16, Q8_0, Q4_K, Q5_K, Q6_K";
}

uint64_t dtype_row_bytes(uint32_t type, uint64_t width)
{
    return width / types[type].block_weights * types[type].block_bytes;
}

const char *dllm_type_name(uint32_t type)
{
    const struct dtype_info *info = dtype_info(type);

    return info ? info->name : NULL;
}
