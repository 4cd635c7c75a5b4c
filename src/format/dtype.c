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

#define BLOCK_TYPE(name, weights, block, first, second)                                            \
    {                                                                                              \
        name, weights, sizeof(struct block), true, SCALES_HALVES, offsetof(struct block, first),   \
            offsetof(struct block, second)                                                         \
    }
/* A type whose one scale is no half float by itself. */
#define BLOCK_TYPE_OF(name, weights, block, scales, field)                                         \
    {                                                                                              \
        name, weights, sizeof(struct block), true, scales, offsetof(struct block, field),          \
            offsetof(struct block, field)                                                          \
    }

static const struct dtype_info types[DTYPE_LIMIT] = {
    [DTYPE_F32] = {"F32", 1, sizeof(float), true, SCALES_NONE, 0, 0},
    [DTYPE_F16] = {"F16", 1, sizeof(uint16_t), true, SCALES_NONE, 0, 0},
    [DTYPE_Q4_0] = BLOCK_TYPE("Q4_0", 32, block_q4_0, d, d),
    [DTYPE_Q4_1] = BLOCK_TYPE("Q4_1", 32, block_q4_1, d, m),
    [DTYPE_Q5_0] = BLOCK_TYPE("Q5_0", 32, block_q5_0, d, d),
    [DTYPE_Q5_1] = BLOCK_TYPE("Q5_1", 32, block_q5_1, d, m),
    [DTYPE_Q8_0] = BLOCK_TYPE("Q8_0", 32, block_q8_0, d, d),
    [9] = {"Q8_1", 32, 2 + 2 + 32, false, SCALES_NONE, 0, 0},
    [DTYPE_Q2_K] = BLOCK_TYPE("Q2_K", 256, block_q2_k, d, dmin),
    [DTYPE_Q3_K] = BLOCK_TYPE("Q3_K", 256, block_q3_k, d, d),
    [DTYPE_Q4_K] = BLOCK_TYPE("Q4_K", 256, block_q4_k, d, dmin),
    [DTYPE_Q5_K] = BLOCK_TYPE("Q5_K", 256, block_q5_k, d, dmin),
    [DTYPE_Q6_K] = BLOCK_TYPE("Q6_K", 256, block_q6_k, d, d),
    [15] = {"Q8_K", 256, 4 + 256 + 2 * 256 / 16, false, SCALES_NONE, 0, 0},
    [DTYPE_IQ2_XXS] = BLOCK_TYPE("IQ2_XXS", 256, block_iq2_xxs, d, d),
    [DTYPE_IQ2_XS] = BLOCK_TYPE("IQ2_XS", 256, block_iq2_xs, d, d),
    [DTYPE_IQ3_XXS] = BLOCK_TYPE("IQ3_XXS", 256, block_iq3_xxs, d, d),
    [DTYPE_IQ1_S] = BLOCK_TYPE("IQ1_S", 256, block_iq1_s, d, d),
    [DTYPE_IQ4_NL] = BLOCK_TYPE("IQ4_NL", 32, block_iq4_nl, d, d),
    [DTYPE_IQ3_S] = BLOCK_TYPE("IQ3_S", 256, block_iq3_s, d, d),
    [DTYPE_IQ2_S] = BLOCK_TYPE("IQ2_S", 256, block_iq2_s, d, d),
    [DTYPE_IQ4_XS] = BLOCK_TYPE("IQ4_XS", 256, block_iq4_xs, d, d),
    [24] = {"I8", 1, sizeof(int8_t), false, SCALES_NONE, 0, 0},
    [25] = {"I16", 1, sizeof(int16_t), false, SCALES_NONE, 0, 0},
    [26] = {"I32", 1, sizeof(int32_t), false, SCALES_NONE, 0, 0},
    [27] = {"I64", 1, sizeof(int64_t), false, SCALES_NONE, 0, 0},
    [28] = {"F64", 1, sizeof(double), false, SCALES_NONE, 0, 0},
    [DTYPE_IQ1_M] = BLOCK_TYPE_OF("IQ1_M", 256, block_iq1_m, SCALES_NIBBLES, scales),
    [DTYPE_BF16] = {"BF16", 1, sizeof(uint16_t), true, SCALES_NONE, 0, 0},
    [DTYPE_TQ1_0] = BLOCK_TYPE("TQ1_0", 256, block_tq1_0, d, d),
    [DTYPE_TQ2_0] = BLOCK_TYPE("TQ2_0", 256, block_tq2_0, d, d),
    [DTYPE_MXFP4] = BLOCK_TYPE_OF("MXFP4", 32, block_mxfp4, SCALES_EXPONENT, exponent),
    [40] = {"NVFP4", 64, 4 + 64 / 2, false, SCALES_NONE, 0, 0},
    [41] = {"Q1_0", 128, 2 + 128 / 8, false, SCALES_NONE, 0, 0},
    [42] = {"Q2_0", 64, 2 + 64 / 4, false, SCALES_NONE, 0, 0},
};

const struct dtype_info *dtype_info(uint32_t type)
{
    return type < DTYPE_LIMIT && types[type].name ? &types[type] : NULL;
}

const char *dtype_matrix_names(void)
{
    return "F32, F16, BF16, Q8_0, Q4_0, Q4_1, Q5_0, Q5_1, Q2_K, Q3_K, Q4_K, Q5_K, Q6_K, IQ4_NL, "
           "IQ4_XS, IQ3_S, IQ3_XXS, IQ2_S, IQ2_XS, IQ2_XXS, IQ1_M, IQ1_S, MXFP4, TQ1_0, TQ2_0";
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
