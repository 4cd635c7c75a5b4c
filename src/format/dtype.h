/*
 * dtype.h: the tensor types of GGUF, one row each: name, block length, block
 * size, and whether matrices of it can be multiplied here.
 */
#ifndef DTYPE_H
#define DTYPE_H

#include <stdbool.h>
#include <stdint.h>

/* Ids as in the format. */
enum dtype {
    DTYPE_F32 = 0,
    DTYPE_F16 = 1,
    DTYPE_Q4_0 = 2,
    DTYPE_Q4_1 = 3,
    DTYPE_Q5_0 = 6,
    DTYPE_Q5_1 = 7,
    DTYPE_Q8_0 = 8,
    DTYPE_Q2_K = 10,
    DTYPE_Q3_K = 11,
    DTYPE_Q4_K = 12,
    DTYPE_Q5_K = 13,
    DTYPE_Q6_K = 14,
    DTYPE_IQ2_XXS = 16,
    DTYPE_IQ2_XS = 17,
    DTYPE_IQ3_XXS = 18,
    DTYPE_IQ1_S = 19,
    DTYPE_IQ4_NL = 20,
    DTYPE_IQ3_S = 21,
    DTYPE_IQ2_S = 22,
    DTYPE_IQ4_XS = 23,
    DTYPE_IQ1_M = 29,
    DTYPE_BF16 = 30,
    DTYPE_TQ1_0 = 34,
    DTYPE_TQ2_0 = 35,
    DTYPE_MXFP4 = 39,
    DTYPE_LIMIT = 43
};

/* What the scales of a block are, beside the integers that some types have as well. */
enum dtype_scales {
    SCALES_NONE,    /* types without blocks or kernels */
    SCALES_HALVES,  /* half floats: d, and dmin or m */
    SCALES_NIBBLES, /* a half float in the upper nibbles of four u16, its lowest nibble first */
    SCALES_EXPONENT /* a byte e: d = 2^(e - 128), which is always finite */
};

struct dtype_info {
    const char *name;
    uint32_t block_weights; /* weights per block */
    uint32_t block_bytes;   /* bytes per block */
    bool matrix;            /* kernels exist for matrices of this type */
    enum dtype_scales scales;
    /* Where they lie in a block, in bytes: d, and dmin or m (d again where a type has
     * none). 0 for types without blocks or kernels. */
    uint32_t first_scale, second_scale;
};

/* The bits of the half float of SCALES_NIBBLES in the eight bytes at `at`. */
static inline uint16_t dtype_half_of_nibbles(const uint8_t *at)
{
    return (uint16_t)(at[1] >> 4 | (at[3] & 0xf0) | (at[5] & 0xf0) << 4 | (at[7] & 0xf0) << 8);
}

/* NULL for an id that the format does not define. Static storage. */
const struct dtype_info *dtype_info(uint32_t type);

/* The names of the types with kernels, "F32, F16, ...": for messages. */
const char *dtype_matrix_names(void);

/* Where in size bytes of weights of a type with kernels the first block lies (or
 * weight, of a type without) that holds a NaN or an infinity; -1: nowhere. (finite.c) */
int64_t dtype_find_not_finite(uint32_t type, const void *data, uint64_t size);

/* Bytes of one row of `width` weights; width must be a multiple of the
 * type's block_weights, and type known. */
uint64_t dtype_row_bytes(uint32_t type, uint64_t width);

#endif
