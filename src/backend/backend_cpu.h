/* backend_cpu.h: what the files of the CPU backend share. */
#ifndef BACKEND_CPU_H
#define BACKEND_CPU_H

#include "backend_ops.h"
#include "kernels.h"
#include "pool.h"

struct backend_buffer {
    int rows, width;
    float *data; /* [rows, width], 64-byte aligned */
};

ALWAYS_INLINE float *row_of(const struct backend_buffer *buffer, int row)
{
    return buffer->data + (size_t)row * (size_t)buffer->width;
}

struct backend_activations {
    void *storage;           /* 64-byte aligned */
    struct activations view; /* cut from storage for the rows in use */
};

struct cpu_backend {
    struct backend base; /* first */
    struct pool *pool;
    struct cpu_kernels kernels;
    enum cpu_level level;
    struct backend_limits limits;
    char *scratch;        /* [threads][scratch_bytes], page aligned */
    size_t scratch_bytes; /* per worker, a multiple of pages */
    float *turned_keys;   /* [kv_heads][keys, padded][head_dim] */
};

ALWAYS_INLINE struct cpu_backend *cpu_of(struct backend *backend)
{
    return (struct cpu_backend *)backend;
}

/* Rows [first_row, first_row + rows) of a matrix against tokens [first_token,
 * first_token + tokens) of in; the results of token t go to row first_out + t of the
 * product's buffer. */
struct matmul_part {
    const struct backend_product *product;
    const void *matrix; /* its first row */
    const struct activations *in;
    int first_row, rows, first_token, tokens, first_out;
};
void backend_cpu_multiply(const struct cpu_backend *backend, const struct matmul_part *part,
                          void *scratch);

/* How many rows an item of a launch over `rows` matrix rows should have. */
int backend_cpu_item_rows(const struct cpu_backend *backend, int64_t rows);

/* The scratch of one worker. */
void *backend_cpu_scratch(const struct cpu_backend *backend, int worker);

/* The activation forms that weights of these types (bits: enum dtype) need. */
unsigned backend_cpu_forms(uint64_t types);

/* Runs items on the pool and adds the time they took to *seconds. */
void backend_cpu_run(struct cpu_backend *backend, int items, pool_item *item, void *context,
                     double *seconds);

/* The operations of backend.h that are not in backend_cpu.c. */
__typeof__(backend_embed) cpu_embed;
__typeof__(backend_gather) cpu_gather;
__typeof__(backend_scatter) cpu_scatter;
__typeof__(backend_prepare) cpu_prepare;
__typeof__(backend_prepare_gated) cpu_prepare_gated;
__typeof__(backend_rope) cpu_rope;
__typeof__(backend_matmul) cpu_matmul;
__typeof__(backend_routing_bytes) cpu_routing_bytes;
__typeof__(backend_routing_create) cpu_routing_create;
__typeof__(backend_routing_destroy) cpu_routing_destroy;
__typeof__(backend_route) cpu_route;
__typeof__(backend_mix_visits) cpu_mix_visits;
__typeof__(backend_visits_bytes) cpu_visits_bytes;
__typeof__(backend_visits_create) cpu_visits_create;
__typeof__(backend_visits_destroy) cpu_visits_destroy;
__typeof__(backend_prepare_visits) cpu_prepare_visits;
__typeof__(backend_prepare_gated_visits) cpu_prepare_gated_visits;
__typeof__(backend_matmul_visits) cpu_matmul_visits;
__typeof__(backend_attention) cpu_attention;
__typeof__(backend_guide) cpu_guide;
__typeof__(backend_pick_rows) cpu_pick_rows;
__typeof__(backend_cross_entropy_rows) cpu_cross_entropy_rows;
__typeof__(backend_ceiling) cpu_ceiling;
__typeof__(backend_bandwidth) cpu_bandwidth;

#endif
