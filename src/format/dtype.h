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
    DTYPE_Q8_0 = 8,
    DTYPE_Q4_K = 12,
    DTYPE_Q5_K = 13,
    DTYPE_Q6_K = 14,
    DTYPE_BF16 = 30,
    DTYPE_LIMIT = 40
};

struct dtype_info {
    const char *name;
    uint32_t block_weights; /* weights per block */
    uint32_t block_bytes;   /* bytes per block */
    bool matrix;            /* kernels exist for matrices of this type */
};

/* NULL for an id that the format does not define. Static storage. */
const struct dtype_info *dtype_info(uint32_t type);

/* The names of the types with kernels, "F32, F16, ...": for messages. */
const char *dtype_matrix_names(void);

/* Bytes of one row of `width` weights; width must be a multiple of the
 * type's block_weights, and type known. */
uint64_t dtype_row_bytes(uint32_t type, uint64_t width);

#endif
