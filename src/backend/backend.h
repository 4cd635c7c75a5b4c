/*
 * backend.h: the operations a transformer is made of, on whatever computes
 * them. A backend knows threads, tiles and buffers; it never hears of masks,
 * blocks or prompts. After backend_*_create nothing here can fail but
 * backend_pick_rows, which reports rows without a finite logit.
 *
 * Buffers are f32, row major [rows, width]; a buffer belongs to the backend
 * that made it. Operations on one backend run one after the other; they must
 * not be called from two threads at once.
 */
#ifndef BACKEND_H
#define BACKEND_H

#include "pick.h"
#include "status.h"

struct backend;
struct backend_buffer;      /* f32 [rows, width] */
struct backend_activations; /* the inputs of matmuls, in the forms that weights need */

/* A weight matrix [rows, width] (width is GGUF's row length) in a block type
 * for which dtype_info(type)->matrix holds; data is not owned and stays where
 * it is. */
struct backend_matrix {
    uint32_t type; /* enum dtype */
    int rows, width;
    const void *data;
};

/* cpu_level NULL: the best. threads >= 1. A level that this machine cannot run
 * or does not exist is a usage error that lists those it can. */
enum dllm_status backend_cpu_create(int threads, const char *cpu_level, struct backend **out,
                                    struct dllm_error *error);
void backend_destroy(struct backend *backend);

const char *backend_device_name(const struct backend *backend); /* "cpu" */
const char *backend_level_name(const struct backend *backend);  /* "avx512vnni" */
int backend_threads(const struct backend *backend);

/* A buffer [rows, width], both at least 1, contents undefined. Destroy with
 * backend_buffer_destroy, which takes NULL. */
enum dllm_status backend_buffer_create(struct backend *backend, int rows, int width,
                                       struct backend_buffer **out, struct dllm_error *error);
void backend_buffer_destroy(struct backend_buffer *buffer);

/* Room for activations of up to rows x width for weights of the given types
 * (bit i of types: enum dtype i, all below 64). */
enum dllm_status backend_activations_create(struct backend *backend, int rows, int width,
                                            uint64_t types, struct backend_activations **out,
                                            struct dllm_error *error);
void backend_activations_destroy(struct backend_activations *activations);

/* Copies rows of the buffer to host memory [count, width]. */
void backend_buffer_read(struct backend *backend, const struct backend_buffer *buffer, int row,
                         int count, float *out);

/* x[t, :] = row ids[t] of the matrix, t < count. */
void backend_embed(struct backend *backend, const struct backend_matrix *matrix, const int32_t *ids,
                   int count, struct backend_buffer *x);

/* out[t, :] = x[rows[t], :], t < count; x and out differ. */
void backend_gather(struct backend *backend, const struct backend_buffer *x, const int32_t *rows,
                    int count, struct backend_buffer *out);

/* Prepares rows [0, count) of x as matmul inputs for weights of the types in
 * the bit set. With weight [width]: RMS norm first,
 * x * weight / sqrt(mean(x^2) + eps). */
void backend_prepare(struct backend *backend, const struct backend_buffer *x, const float *weight,
                     float eps, int count, uint64_t types, struct backend_activations *out);

/* silu(gate) * up, then as backend_prepare without a norm. */
void backend_prepare_gated(struct backend *backend, const struct backend_buffer *gate,
                           const struct backend_buffer *up, int count, uint64_t types,
                           struct backend_activations *out);

/* One product of a launch: out[t, :] = matrix * in[t, :] (+ bias), or with
 * accumulate: out[t, :] += matrix * in[t, :] (+ bias). */
struct backend_product {
    const struct backend_matrix *matrix;
    const float *bias; /* [rows] or NULL */
    struct backend_buffer *out;
    bool accumulate;
};

/* Up to 4 products over the same input rows [0, in's count) in one launch. */
void backend_matmul(struct backend *backend, const struct backend_activations *in,
                    const struct backend_product *products, int count);

enum rope_pairing { ROPE_ADJACENT = 0, ROPE_HALVES };

/* Attention geometry; head_dim is a multiple of 32. */
struct backend_heads {
    int heads, kv_heads, head_dim;
    int rope_dims; /* leading dims of a head that turn; even */
    enum rope_pairing pairing;
};

/* Rotates q [count, heads * head_dim] and k [count, kv_heads * head_dim] in
 * place; angles [count, rope_dims / 2, 2] holds cos and sin per position. */
void backend_rope(struct backend *backend, const struct backend_heads *heads, const float *angles,
                  int count, struct backend_buffer *q, struct backend_buffer *k);

/* out[t, :] = softmax(q[t] k' / sqrt(head_dim)) v, every query over all
 * key_count keys, no mask; out may be q. */
void backend_attention(struct backend *backend, const struct backend_heads *heads, int query_count,
                       int key_count, const struct backend_buffer *q,
                       const struct backend_buffer *k, const struct backend_buffer *v,
                       struct backend_buffer *out);

/* logits[t, :] = u + (scale + 1) * (logits[t, :] - u), u = unguided[t, :]. */
void backend_guide(struct backend *backend, struct backend_buffer *logits,
                   const struct backend_buffer *unguided, int count, double scale);

/* Picks a token for each of rows [first, first + count) of logits (pick.h);
 * picks[i] and positions[i] belong to row first + i. Fails with
 * DLLM_ERROR_NUMERIC naming position and step. */
enum dllm_status backend_pick_rows(struct backend *backend, const struct backend_buffer *logits,
                                   int first, int count, const struct pick_rules *rules,
                                   const int32_t *positions, struct pick *picks,
                                   struct dllm_error *error);

/* Seconds spent per kind of operation since the last reset. */
struct backend_profile {
    double matmul, attention, other;
};
struct backend_profile backend_profile_read(const struct backend *backend);
void backend_profile_reset(struct backend *backend);

#endif
