/*
 * encode.h: rows of f32 values to weight blocks. Q8_0, Q5_0 and Q5_1 follow from
 * the largest values of a block; Q4_K, Q5_K and Q6_K search for scales and
 * minimums that leave the smallest (weighted) squares of errors, as GGUF files
 * of these types are usually made: with the same steps in the same order of float
 * operations, and so with the same bytes.
 */
#ifndef ENCODE_H
#define ENCODE_H

#include <stdbool.h>
#include <stdint.h>

/* Whether encode_row can make blocks of that type. */
bool encode_supports(uint32_t type);

/* Encodes x [width], values below 2^50 (a scale that f16 cannot hold becomes
 * infinite: dtype_find_not_finite), width a multiple of the type's block, to
 * dtype_row_bytes(type, width) bytes at out, of any alignment. */
void encode_row(uint32_t type, const float *x, int width, void *out);

/* Single blocks, 32 or 256 values each, for encode_row. */
void encode_q8_0(const float *x, void *out);
void encode_q5_0(const float *x, void *out);
void encode_q5_1(const float *x, void *out);
void encode_q4_k(const float *x, void *out);
void encode_q5_k(const float *x, void *out);
void encode_q6_k(const float *x, void *out);

#endif
