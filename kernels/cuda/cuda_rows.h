/*
 * cuda_rows.h: operations on the card that go over rows of f32: rotary
 * embedding, copies by row number, guidance, and the routing of rows to
 * experts. Semantics and bits are those of backend.h's operations on the CPU.
 *
 * Every pointer but those to the structs themselves and to arrays of structs is
 * to device memory and stays the caller's. A launcher only queues work on the
 * stream (a cudaStream_t) and returns a cudaError_t, 0 when it was queued;
 * arguments out of the ranges given here are cudaErrorInvalidValue and launch
 * nothing. Zero rows are no work and no error. Structs are read before the
 * launcher returns. Launchers may be called from several threads, each on a
 * stream of its own.
 */
#ifndef CUDA_ROWS_H
#define CUDA_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct CUstream_st;

#ifdef __cplusplus
extern "C" {
#endif

enum { CUDA_ROTATIONS = 2 }; /* matrices of one launch: queries and keys */

/* A matrix [rows, heads, head_dim] whose rows start `step` floats apart. */
struct cuda_rotation {
    float *x;
    size_t step; /* at least heads * head_dim */
    int heads;
    const float *norm; /* [head_dim] weights of each head's RMS norm, NULL: none */
    float eps;         /* of that norm */
};

/* Row t of every part stands at position positions[t], or t when that is NULL.
 * angles is [positions, rope_dims / 2, 2] (cos, sin). */
struct cuda_rope {
    int rows, head_dim; /* head_dim a multiple of 32 */
    int rope_dims;      /* leading dims that turn; even, at most head_dim */
    bool halves;        /* dim i turns with i + rope_dims / 2, else 2i with 2i + 1 */
    const float *angles;
    const int32_t *positions;
    const struct cuda_rotation *parts; /* host memory [count] */
    int count;                         /* 1 .. CUDA_ROTATIONS */
};

/* In place: each head's RMS norm where the part has one, then the rotation. */
int cuda_rotate_heads(const struct cuda_rope *rope, struct CUstream_st *stream);

/* out[t, :] = x[rows[t], :], t < count; both [*, width], any width >= 1; x and
 * out do not overlap. */
int cuda_gather_rows(const float *x, const int32_t *rows, int count, int width, float *out,
                     struct CUstream_st *stream);

/* out[rows[t], :] = x[t, :], t < count; rows are distinct, else as above. */
int cuda_scatter_rows(const float *x, const int32_t *rows, int count, int width, float *out,
                      struct CUstream_st *stream);

/* logits[t, :] = u + (scale + 1) * (logits[t, :] - u), u = logits[count + t, :],
 * t < count, in doubles; logits is [2 * count, width]. */
int cuda_guide_logits(float *logits, int count, int width, double scale,
                      struct CUstream_st *stream);

enum { CUDA_MAX_EXPERTS = 1024 };

/* Who visits whom: each of `rows` rows visits `used` of `experts`. A visit is a
 * slot; slots of one expert lie side by side in order of the rows. */
struct cuda_routing {
    int rows, experts, used; /* 1 <= used <= experts <= CUDA_MAX_EXPERTS; rows * used fits an int */
    int32_t *expert;         /* [rows, used], highest score first */
    float *share;            /* [rows, used] */
    int32_t *slot;           /* [rows, used] */
    int32_t *first;          /* [experts + 1]: slots first[e] .. first[e + 1] - 1 are expert e's */
    int32_t *row;            /* [rows * used]: the row that stands in a slot */
};

/* Fills the arrays of routing from scores [rows, experts]: softmax over a row,
 * then the `used` highest, equal ones in order of their index. A visit's share
 * is its probability, with renormalise divided by the sum of the row's shares.
 * A row with NaN among its scores gets NaN as shares (its experts are distinct
 * and in range, no more). */
int cuda_route_rows(const float *scores, bool renormalise, const struct cuda_routing *routing,
                    struct CUstream_st *stream);

/* x[t, :] += share * y[slot, :] for one visit of row t after the other, highest
 * score first; x is [rows, width], y [rows * used, width]. */
int cuda_mix_visits(const float *y, const struct cuda_routing *routing, int width, float *x,
                    struct CUstream_st *stream);

#ifdef __cplusplus
}
#endif

#endif
