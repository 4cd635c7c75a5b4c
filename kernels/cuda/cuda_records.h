/*
 * cuda_records.h: how the inputs of matmuls lie on the card. A record is some
 * consecutive values of one token; records of a form are [records of a
 * row][tokens], so that what a tile of tokens needs next is one piece of memory.
 * The last record of a row is filled up with zeros.
 *
 * A record is an odd number of 16-byte units long. Eight tokens' bytes at one
 * place then lie in eight different groups of four banks when the piece is
 * copied to shared memory as it is.
 */
#ifndef CUDA_RECORDS_H
#define CUDA_RECORDS_H

#include <stdint.h>

/* Quantized as activations.h says. sums: those of sixteen q each as f16, which has every
 * integer up to 2048 and is what tensor cores multiply with minimums. */
struct cuda_record_q8_256 {
    int8_t q[256];
    uint16_t sums[16];
    float scale;
    uint32_t zero[3];
};

/* The same with a scale and a sum per 32 values. */
struct cuda_record_q8_32 {
    int8_t q[256];
    float scale[8];
    int16_t sum[8];
};

/* f16: the values times 1 / unit, a power of two that takes the largest magnitude of
 * the row to 2^14 or more, below 2^15 (unit 1: a row of zeros, or not finite).
 * bf16: unit is 1. */
struct cuda_record_half {
    uint16_t x[64];
    float unit;
    uint32_t zero[3];
};

struct cuda_record_f32 {
    float x[32];
    uint32_t zero[4];
};

#endif
