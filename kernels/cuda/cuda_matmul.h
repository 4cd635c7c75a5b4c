/*
 * cuda_matmul.h: matrix products on the card: rows of f32 into the forms that
 * weights need, products with weights of every type, embedding rows. Weights
 * stay as in the file. What is computed is docs/numerics.md, to the bit, but for
 * F16 and BF16 weights, whose inputs are rounded to their format and whose sums
 * are made by the tensor cores in f32.
 *
 * Pointers, stream, errors and threads: as in cuda_rows.h. Weights lie on a
 * multiple of 16 bytes, floats on one of 4; nothing behind a matrix is read.
 */
#ifndef CUDA_MATMUL_H
#define CUDA_MATMUL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct CUstream_st;

#ifdef __cplusplus
extern "C" {
#endif

/* The form in which a weight type takes its inputs; bits of a set. */
enum cuda_form {
    CUDA_FORM_Q8_256 = 1, /* weights in blocks of 256: int8, a scale per 256 */
    CUDA_FORM_Q8_32 = 2,  /* weights in blocks of 32: int8, a scale per 32 */
    CUDA_FORM_F16 = 4,    /* F16: f16, a power of two per row as scale */
    CUDA_FORM_BF16 = 8,   /* BF16 */
    CUDA_FORM_F32 = 16    /* F32 */
};

/* The forms for a set of weight types (bit i: enum dtype i), 0 for types without
 * kernels. */
unsigned cuda_forms_of(uint64_t types);

/* Inputs of matmuls: `tokens` rows of `width` values in some forms. A value type:
 * pointers into one allocation, cut by cuda_activations_layout. Records are in
 * cuda_records.h. */
struct cuda_activations {
    int tokens, width;
    unsigned forms; /* bits of enum cuda_form; the pointers of others are NULL */
    void *q8_256;   /* [ceil(width / 256)][tokens] records, and so on */
    void *q8_32;
    void *f16, *bf16, *f32;
};

/* Bytes of device storage for tokens x width, both at least 1, in the forms. */
size_t cuda_activations_bytes(int tokens, int width, unsigned forms);

/* Cuts storage (16-byte aligned, cuda_activations_bytes long). What a smaller
 * number of tokens needs lies in what a larger one does. Touches no memory but
 * *out. */
void cuda_activations_layout(struct cuda_activations *out, void *storage, int tokens, int width,
                             unsigned forms);

/* Rows of f32 [rows, width] on their way to be inputs. Either a norm or a gate
 * or neither. */
struct cuda_inputs {
    const float *x;    /* with `up` the gate */
    const float *up;   /* [rows, width]; NULL: none. silu(x) * up, silu(x) = x / (1 + exp(-x)) */
    const float *norm; /* [width] weights of an RMS norm, NULL: none */
    float eps;         /* of that norm */
    int rows;
    /* NULL: row t becomes token t. Else row t becomes the `used` tokens slots[t * used + i];
     * all rows * used slots are distinct and below out->tokens. */
    const int32_t *slots;
    int used;
};

enum { CUDA_NORM_MAX_WIDTH = 24576 };

/* Fills all forms of out, whose width is that of the rows; with a norm at most
 * CUDA_NORM_MAX_WIDTH. Without slots out->tokens is in->rows. One launch. */
int cuda_prepare(const struct cuda_inputs *in, const struct cuda_activations *out,
                 struct CUstream_st *stream);

/* out[t, r] = weights[r] . token t (+ bias[r]), or with accumulate that added to
 * out[t, r]. */
struct cuda_product {
    uint32_t type; /* enum dtype */
    int rows;      /* of the matrix, whose width is that of the inputs */
    const void *weights;
    const float *bias; /* [rows] or NULL */
    float *out;        /* token t starts at out + t * out_step */
    size_t out_step;   /* floats, at least rows */
    bool accumulate;
};

enum { CUDA_MAX_PRODUCTS = 4 };

/* Up to CUDA_MAX_PRODUCTS products over the same tokens; those of one type are
 * one launch. in holds the forms of all types; no out overlaps another or an
 * input. */
int cuda_matmul(const struct cuda_activations *in, const struct cuda_product *products, int count,
                struct CUstream_st *stream);

/* Which tokens are whose: those from first[e] to first[e + 1] - 1 are expert e's
 * (cuda_routing); first [experts + 1] is device memory. No expert has more than
 * `most` tokens, from which (and the average) the size of a tile is chosen. */
struct cuda_visits {
    const int32_t *first;
    int experts, most;
};

/* As cuda_matmul, each token with its expert's matrix: weights is that of expert
 * 0, those of the others follow it at once; no bias. */
int cuda_matmul_visits(const struct cuda_activations *in, const struct cuda_visits *visits,
                       const struct cuda_product *products, int count, struct CUstream_st *stream);

/* x[t, :] = row ids[t] of the matrix [*, width] in f32, t < count; the bits of
 * dequantize_row. ids are rows of the matrix. */
struct cuda_embedding {
    uint32_t type; /* enum dtype */
    int width;
    const void *weights;
    const int32_t *ids; /* [count] */
    int count;
    float *x; /* [count, width] */
};

/* Queues the copy of embedding rows. */
int cuda_embed(const struct cuda_embedding *embedding, struct CUstream_st *stream);

#ifdef __cplusplus
}
#endif

#endif
