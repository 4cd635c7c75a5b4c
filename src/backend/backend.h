/*
 * backend.h: the operations a transformer is made of, on whatever computes
 * them. A backend knows threads, tiles and buffers; it never hears of masks,
 * blocks or prompts.
 *
 * Buffers are f32, row major [rows, width]; a buffer belongs to the backend
 * that made it. Operations on one backend run one after the other; they must
 * not be called from two threads at once.
 *
 * An operation may only have been queued when its call returns. The calls that
 * give results to the host (backend_buffer_read, backend_pick_rows,
 * backend_cross_entropy_rows) wait for what they need, and a device that failed
 * in any operation before says so there: DLLM_ERROR_DEVICE, from then on always.
 * On the CPU nothing can fail after creation but backend_pick_rows, which also
 * reports rows without a finite logit.
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

/* Constants that operations will name by their address: the data of matrices, norms
 * and biases. */
struct backend_range {
    const void *data;
    uint64_t bytes;
};

/* How many bytes of the ranges are where they are needed, of all. */
typedef void backend_progress(void *context, uint64_t bytes_there, uint64_t bytes);

/* What backend_load is told. */
struct backend_constants {
    const struct backend_range *ranges; /* [count], apart, in the order of their use */
    size_t count;
    uint64_t workspace;       /* bytes that must have room beside them */
    backend_progress *report; /* called from this thread; NULL: nobody listens */
    void *context;
};

/* Brings constants to where operations read them, once, before the first of these.
 * They must stay at their addresses. On the CPU they are read where they are. On a
 * device without room for them DLLM_ERROR_DEVICE, with the numbers. */
enum dllm_status backend_load(struct backend *backend, const struct backend_constants *constants,
                              struct dllm_error *error);

/* Whether there is room for them now, so that backend_load would find it. */
bool backend_fits(struct backend *backend, const struct backend_constants *constants);

/* Whether constants are read where they are. */
bool backend_is_host(const struct backend *backend);

/* Waits until all operations are done; DLLM_ERROR_DEVICE: one has failed. */
enum dllm_status backend_wait(struct backend *backend, struct dllm_error *error);

const char *backend_device_name(const struct backend *backend); /* "cpu" */
const char *backend_level_name(const struct backend *backend);  /* "avx512vnni" */
int backend_threads(const struct backend *backend);

/* What the operations to come will need at most; sizes the workers' scratch. */
struct backend_limits {
    int rows;  /* of any buffer */
    int width; /* of rows that are prepared as matmul inputs */
    int keys;  /* of attention */
    int kv_heads, head_dim;
    int vocab;      /* width of logits */
    int canvases;   /* of one attention */
    uint64_t bytes; /* of buffers and the like to be created next; they may share an allocation */
};

/* Call once before the first operation and again when a limit grows. */
enum dllm_status backend_reserve(struct backend *backend, const struct backend_limits *limits,
                                 struct dllm_error *error);

/* Bytes that backend_reserve would hold for these limits. */
uint64_t backend_reserve_bytes(const struct backend *backend, const struct backend_limits *limits);

/* A buffer [rows, width], both at least 1, contents undefined. This and all that
 * follows is destroyed with the backend that made it; NULL is taken. */
enum dllm_status backend_buffer_create(struct backend *backend, int rows, int width,
                                       struct backend_buffer **out, struct dllm_error *error);
void backend_buffer_destroy(struct backend *backend, struct backend_buffer *buffer);

/* Room for activations of up to rows x width for weights of the given types
 * (bit i of types: enum dtype i, all below 64). */
enum dllm_status backend_activations_create(struct backend *backend, int rows, int width,
                                            uint64_t types, struct backend_activations **out,
                                            struct dllm_error *error);
void backend_activations_destroy(struct backend *backend, struct backend_activations *activations);

/* Bytes that the two constructors take. */
uint64_t backend_buffer_bytes(const struct backend *backend, int rows, int width);
uint64_t backend_activations_bytes(const struct backend *backend, int rows, int width,
                                   uint64_t types);

/* Copies rows of the buffer to host memory [count, width]. */
enum dllm_status backend_buffer_read(struct backend *backend, const struct backend_buffer *buffer,
                                     int row, int count, float *out, struct dllm_error *error);

/* The other way: rows of the buffer from host memory, which may be changed again
 * when this returns. */
void backend_buffer_write(struct backend *backend, struct backend_buffer *buffer, int row,
                          int count, const float *values);

/* Room for `count` numbers of the lists (ids, positions, rows) that operations
 * take: int32_t to be filled by the host. What was written counts for operations
 * called after it was sent, and may be changed again at once. */
enum dllm_status backend_lists_create(struct backend *backend, size_t count, int32_t **out,
                                      struct dllm_error *error);
void backend_lists_destroy(struct backend *backend, int32_t *lists);

/* Sends numbers [0, count) at `values`, which lie in such lists. */
void backend_lists_send(struct backend *backend, const int32_t *values, int count);

/*
 * Recordings: a sequence of operations that comes back with other contents of the
 * same buffers and lists. A device that can queue a sequence as one thing records it
 * when it comes for the second time. On the CPU nothing is recorded.
 */
struct backend_recordings; /* of a workspace */
enum dllm_status backend_recordings_create(struct backend *backend, struct backend_recordings **out,
                                           struct dllm_error *error);
void backend_recordings_destroy(struct backend *backend, struct backend_recordings *recordings);

/* key [key_bytes] says all that the operations depend on but contents. True: they
 * were queued as recorded. False: call them, no other operation between, nothing that
 * reads, writes or sends; then backend_record_end, whose false means: once more, from the
 * first operation to the end, since none has run (a recording found no memory). */
bool backend_replay(struct backend *backend, struct backend_recordings *recordings, const void *key,
                    size_t key_bytes);
bool backend_record_end(struct backend *backend, struct backend_recordings *recordings);

/* x[t, :] = row ids[t] of the matrix, t < count. */
void backend_embed(struct backend *backend, const struct backend_matrix *matrix, const int32_t *ids,
                   int count, struct backend_buffer *x);

/* out[t, :] = x[rows[t], :], t < count; x and out differ. */
void backend_gather(struct backend *backend, const struct backend_buffer *x, const int32_t *rows,
                    int count, struct backend_buffer *out);

/* Rows [first, first + count) of a buffer. */
struct backend_rows {
    const struct backend_buffer *buffer;
    int first, count;
};

/* out[rows[t], :] = x[first + t, :], t < x.count; the buffers differ. */
void backend_scatter(struct backend *backend, struct backend_rows x, const int32_t *rows,
                     struct backend_buffer *out);

/* RMS norm: x * weight / sqrt(mean(x^2) + eps), weight [width]. */
struct backend_norm {
    const float *weight;
    float eps;
};

/* Makes rows of x the inputs of matmuls with weights of the types in the bit
 * set (bit i: enum dtype i); norm NULL: as they are. */
void backend_prepare(struct backend *backend, struct backend_rows x,
                     const struct backend_norm *norm, uint64_t types,
                     struct backend_activations *out);

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

/* Up to 4 products over the same input rows (those last prepared) in one
 * launch; row t of an out buffer belongs to input row t. */
void backend_matmul(struct backend *backend, const struct backend_activations *in,
                    const struct backend_product *products, int count);

/*
 * Experts: each row visits a few of many matrices. A visit is a slot; slots of
 * the same expert lie side by side, so that an expert's rows are one matmul.
 * Buffers by slot are [rows * used, width].
 */
struct backend_routing; /* who visits whom, made by backend_route */
struct backend_visits;  /* the inputs of an expert matmul, by slot */

/* For up to `rows` rows, each of which visits `used` of `experts`, 1 <= used <=
 * experts; rows * used fits an int. */
struct backend_routing_limits {
    int rows, experts, used;
};
enum dllm_status backend_routing_create(struct backend *backend,
                                        const struct backend_routing_limits *limits,
                                        struct backend_routing **out, struct dllm_error *error);
void backend_routing_destroy(struct backend *backend, struct backend_routing *routing);

/* Room for all slots' inputs of up to `width` values for weights of the given
 * types. */
enum dllm_status backend_visits_create(struct backend *backend,
                                       const struct backend_routing_limits *limits, int width,
                                       uint64_t types, struct backend_visits **out,
                                       struct dllm_error *error);
void backend_visits_destroy(struct backend *backend, struct backend_visits *visits);

/* Bytes that the two constructors take. */
uint64_t backend_routing_bytes(const struct backend *backend,
                               const struct backend_routing_limits *limits);
uint64_t backend_visits_bytes(const struct backend *backend,
                              const struct backend_routing_limits *limits, int width,
                              uint64_t types);

/* Softmax over each row's scores [count, experts], then the `used` experts of
 * the highest scores, equal ones in order of their index. A visit's share is
 * its probability, with renormalise divided by the sum of the row's shares. A
 * row with NaN among its scores gets NaN as shares. */
void backend_route(struct backend *backend, const struct backend_buffer *scores, int count,
                   bool renormalise, struct backend_routing *routing);

/* As backend_prepare, for the rows that were routed: to each of their slots. */
void backend_prepare_visits(struct backend *backend, const struct backend_buffer *x,
                            const struct backend_norm *norm, uint64_t types,
                            const struct backend_routing *routing, struct backend_visits *out);

/* As backend_prepare_gated; gate and up are by slot. */
void backend_prepare_gated_visits(struct backend *backend, const struct backend_buffer *gate,
                                  const struct backend_buffer *up, uint64_t types,
                                  const struct backend_routing *routing,
                                  struct backend_visits *out);

/* As backend_matmul for up to 4 products without bias: each matrix is that of
 * expert 0, those of the others follow it; out is by slot. */
void backend_matmul_visits(struct backend *backend, const struct backend_visits *in,
                           const struct backend_routing *routing,
                           const struct backend_product *products, int count);

/* x[t, :] += share * y[slot, :] for one visit of row t after the other, highest
 * score first; y is by slot. */
void backend_mix_visits(struct backend *backend, const struct backend_buffer *y,
                        const struct backend_routing *routing, struct backend_buffer *x);

enum rope_pairing { ROPE_ADJACENT = 0, ROPE_HALVES };

/* Attention geometry; head_dim is a multiple of 32, heads one of kv_heads. */
struct backend_heads {
    int heads, kv_heads, head_dim;
    int rope_dims; /* leading dims of a head that turn; even */
    enum rope_pairing pairing;
    bool exact; /* attention in f32 throughout, also where a device has something faster */
};

/* Rows [0, rows) that turn by their positions: row t stands at positions[t]. */
struct backend_turn {
    const struct backend_buffer *angles; /* [positions, rope_dims]: rope_dims / 2 of (cos, sin) */
    const int32_t *positions;
    int rows;
};

/* Rotary position embedding of x [rows, heads * head_dim], in place. norm
 * [head_dim], its weight NULL for none: what each head goes through before it
 * turns. */
struct backend_rotation {
    struct backend_buffer *x;
    int heads;
    struct backend_norm norm;
};

/* The rotations of up to 2 buffers (queries and keys) in one launch. */
void backend_rope(struct backend *backend, const struct backend_heads *geometry,
                  const struct backend_turn *turn, const struct backend_rotation *rotations,
                  int count);

/* out[out_row + t, :] = softmax(q[q_row + t] k' / sqrt(head_dim)) v for t <
 * query_count, every query over key_count keys, those from kv_row on, no mask;
 * out may be q with the same rows. */
struct backend_attention_io {
    const struct backend_buffer *q, *k, *v;
    struct backend_buffer *out;
    int q_row, kv_row, out_row;
    int query_count, key_count;
};

/* The attention of `count` canvases, which have nothing to do with each other. */
void backend_attention(struct backend *backend, const struct backend_heads *geometry,
                       const struct backend_attention_io *canvases, int count);

/* logits[t, :] = u + (scale + 1) * (logits[t, :] - u), u = logits[count + t, :],
 * t < count. */
void backend_guide(struct backend *backend, struct backend_buffer *logits, int count, double scale);

/* Picks a token for each of the rows of logits (pick.h); picks[i] and
 * positions[i] belong to row first + i. A row without a finite logit is
 * DLLM_ERROR_NUMERIC: the message names position and step of the first one. */
enum dllm_status backend_pick_rows(struct backend *backend, struct backend_rows logits,
                                   const struct pick_rules *rules, const int32_t *positions,
                                   struct pick *picks, struct dllm_error *error);

/* losses[i] = cross entropy of id targets[i] in row first + i of the logits
 * (cross_entropy.h); not finite where the row is bad. */
enum dllm_status backend_cross_entropy_rows(struct backend *backend, struct backend_rows logits,
                                            const int32_t *targets, double *losses,
                                            struct dllm_error *error);

/* Since the last reset: seconds per kind of operation, and what the matmuls
 * took: operations (two per multiply-add) by the kind of arithmetic their
 * weights ask for, and bytes of weights. */
struct backend_profile {
    double matmul, attention, other;
    double int8_operations, float_operations;
    double weight_bytes;
};
struct backend_profile backend_profile_read(const struct backend *backend);
void backend_profile_reset(struct backend *backend);

/* Operations a second that a loop on registers alone reaches now, on all threads of a
 * CPU or all of a GPU's tensor cores with the instruction of its kernels (some ten
 * milliseconds): no matmul with weights of the type can be faster. 0 where there is no such
 * loop (level ref; F32 on a GPU, multiplied without tensor cores). */
double backend_ceiling(struct backend *backend, uint32_t type);

/* Bytes a second at which a GPU reads its memory now, some hundred megabytes that are free;
 * 0 where fewer are, and on a CPU. */
double backend_bandwidth(struct backend *backend);

/* Whether weights of a type with kernels are multiplied as floats; else int8. */
bool backend_multiplies_floats(uint32_t type);

#endif
