/* backend_cpu.h: what the files of the CPU backend share. */
#ifndef BACKEND_CPU_H
#define BACKEND_CPU_H

#include "backend.h"
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

struct backend {
    struct pool *pool;
    struct cpu_kernels kernels;
    enum cpu_level level;
    struct backend_limits limits;
    char *scratch;        /* [threads][scratch_bytes], page aligned */
    size_t scratch_bytes; /* per worker, a multiple of pages */
    float *turned_keys;   /* [kv_heads][keys, padded][head_dim] */
    struct backend_profile profile;
};

/* Rows [first_row, first_row + rows) of a matrix against all tokens of in; row t
 * of the results goes to row first_out + t of the product's buffer. */
struct matmul_part {
    const struct backend_product *product;
    const void *matrix; /* its first row */
    const struct activations *in;
    int first_row, rows, first_out;
};
void backend_cpu_multiply(const struct backend *backend, const struct matmul_part *part,
                          void *scratch);

/* How many rows an item of a launch over `rows` matrix rows should have. */
int backend_cpu_item_rows(const struct backend *backend, int64_t rows);

/* Adds what a product takes to the profile. */
void backend_cpu_count(struct backend *backend, const struct backend_matrix *matrix, int tokens);

/* The scratch of one worker. */
void *backend_cpu_scratch(const struct backend *backend, int worker);

/* The activation forms that weights of these types (bits: enum dtype) need. */
unsigned backend_cpu_forms(uint64_t types);

/* Runs items on the pool and adds the time they took to *seconds. */
void backend_cpu_run(struct backend *backend, int items, pool_item *item, void *context,
                     double *seconds);

#endif
