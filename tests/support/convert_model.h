/*
 * convert_model.h: the same model with other weight types, for tests: copies
 * a GGUF file and turns its F32 matrices into half floats, rounds them as half
 * floats would be and leaves them F32, or expands matrices of any type to F32.
 */
#ifndef CONVERT_MODEL_H
#define CONVERT_MODEL_H

#include "dllm.h"

/* How the matrices (tensors of two dimensions) are written. */
enum convert_kind {
    CONVERT_F16,
    CONVERT_BF16,
    CONVERT_F32_ROUNDED_F16, /* F32 values that an F16 holds exactly */
    CONVERT_F32_ROUNDED_BF16,
    CONVERT_EXPANDED /* F32 values that the blocks stand for; the one kind for quantized files */
};

/* Reads the file at in and writes the converted one
 * to out. Returns false when either file cannot be opened, read or written. */
bool convert_model(const char *in, const char *out, enum convert_kind kind);

/* Makes blocks of a type from x [rows, width]; a message on failure. */
typedef const char *convert_encode(uint32_t type, const float *x, int64_t rows, int64_t width,
                                   void *out);

/* Writes matrices as blocks of `type` that `encode` makes; rows that are no whole
 * number of blocks become F32. in may have matrices of any type. */
bool convert_model_encoded(const char *in, const char *out, uint32_t type, convert_encode *encode);

#endif
