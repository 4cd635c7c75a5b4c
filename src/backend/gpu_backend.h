/*
 * gpu_backend.h: what the files of the GPU backend share. Everything is queued
 * on one stream. A call of the CUDA runtime that fails is kept, the first one
 * only: from then on no operation does anything, and whoever reads results is
 * told.
 */
#ifndef GPU_BACKEND_H
#define GPU_BACKEND_H

#include "backend_cuda.h"
#include "backend_ops.h"
#include "cuda_matmul.h"
#include "cuda_rows.h"
#include "gpu_memory.h"
#include "pool.h"

#include <cuda_runtime_api.h>

struct backend_buffer {
    int rows, width;
    float *data; /* [rows, width], device */
    struct gpu_block *block;
};

struct gpu_constants; /* (gpu_constants.c) */
struct gpu_lists;     /* (gpu_lists.c) */
struct gpu_picks;     /* (gpu_logits.c) */

struct gpu_backend {
    struct backend base; /* first */
    int device;
    char name[16];     /* "gpu:0" */
    char level[16];    /* "sm_90" */
    struct pool *pool; /* of the host */
    cudaStream_t stream;
    cudaError_t fault;    /* the first failure */
    const char *fault_in; /* what failed then */
    struct gpu_memory memory;
    struct backend_limits limits;
    unsigned room;                   /* how often the operations' own memory has moved */
    struct gpu_constants *constants; /* NULL before backend_load */
    struct gpu_lists *lists;
    struct gpu_picks *picks; /* NULL before backend_reserve */
    void *attention;         /* workspace of cuda_attend */
    struct gpu_block *attention_block;
};

ALWAYS_INLINE struct gpu_backend *gpu_of(struct backend *backend)
{
    return (struct gpu_backend *)backend;
}

/* The properties of GPU number index; DLLM_ERROR_DEVICE with the reason if it cannot
 * be used. (gpu_devices.c) */
enum dllm_status gpu_find(int index, struct cudaDeviceProp *out, struct dllm_error *error);

/* Makes the device the calling thread's; false after a failure: do nothing then. */
bool gpu_ready(struct gpu_backend *backend);

/* Keeps the first failure. what: a constant text, "matrix product". */
void gpu_check(struct gpu_backend *backend, int error, const char *what);

/* Waits for the stream, then says whether anything has failed so far. */
enum dllm_status gpu_finish(struct gpu_backend *backend, struct dllm_error *error);

/* --- gpu_constants.c --- */

/* Device memory for the constants and their upload. */
__typeof__(backend_load) gpu_load;
__typeof__(backend_fits) gpu_fits;

/* Where on the device a constant lies that was loaded; NULL for NULL. */
const void *gpu_constant(struct gpu_backend *backend, const void *host);
void gpu_constants_destroy(struct gpu_constants *constants);

/* --- gpu_lists.c --- */

/* As in backend.h. */
__typeof__(backend_lists_create) gpu_lists_create;
__typeof__(backend_lists_destroy) gpu_lists_destroy;
__typeof__(backend_lists_send) gpu_lists_send;

/* The device's copy of numbers that lie in lists. */
const int32_t *gpu_list(struct gpu_backend *backend, const int32_t *host);

/* --- gpu_ceiling.c --- */

/* As in backend.h. */
__typeof__(backend_ceiling) gpu_ceiling;
__typeof__(backend_bandwidth) gpu_bandwidth;

/* --- gpu_recordings.c --- */

/* As in backend.h. */
__typeof__(backend_recordings_create) gpu_recordings_create;
__typeof__(backend_recordings_destroy) gpu_recordings_destroy;
__typeof__(backend_replay) gpu_replay;
__typeof__(backend_record_end) gpu_record_end;

/* --- gpu_logits.c: guide, picks, cross entropies --- */

/* Bytes of device memory that picks take, and what is made at backend_reserve. */
size_t gpu_picks_bytes(const struct backend_limits *limits);
enum dllm_status gpu_picks_create(struct gpu_backend *backend, const struct backend_limits *limits,
                                  struct gpu_picks **out, struct dllm_error *error);
void gpu_picks_destroy(struct gpu_backend *backend, struct gpu_picks *picks);

/* --- the operations that are not in backend_cuda.c --- */
__typeof__(backend_embed) gpu_embed;
__typeof__(backend_gather) gpu_gather;
__typeof__(backend_scatter) gpu_scatter;
__typeof__(backend_rope) gpu_rope;
__typeof__(backend_attention) gpu_attention;
__typeof__(backend_activations_bytes) gpu_activations_bytes;
__typeof__(backend_activations_create) gpu_activations_create;
__typeof__(backend_activations_destroy) gpu_activations_destroy;
__typeof__(backend_prepare) gpu_prepare;
__typeof__(backend_prepare_gated) gpu_prepare_gated;
__typeof__(backend_matmul) gpu_matmul;
__typeof__(backend_routing_bytes) gpu_routing_bytes;
__typeof__(backend_routing_create) gpu_routing_create;
__typeof__(backend_routing_destroy) gpu_routing_destroy;
__typeof__(backend_visits_bytes) gpu_visits_bytes;
__typeof__(backend_visits_create) gpu_visits_create;
__typeof__(backend_visits_destroy) gpu_visits_destroy;
__typeof__(backend_route) gpu_route;
__typeof__(backend_prepare_visits) gpu_prepare_visits;
__typeof__(backend_prepare_gated_visits) gpu_prepare_gated_visits;
__typeof__(backend_matmul_visits) gpu_matmul_visits;
__typeof__(backend_mix_visits) gpu_mix_visits;
__typeof__(backend_guide) gpu_guide;
__typeof__(backend_pick_rows) gpu_pick_rows;
__typeof__(backend_cross_entropy_rows) gpu_cross_entropy_rows;

/* Products of a launch as the kernels take them, counted in the profile; visits:
 * the rows of expert matrices that are passed over, else 0. (gpu_products.c) */
void gpu_describe_products(struct gpu_backend *backend, const struct backend_product *products,
                           int count, int tokens, struct cuda_product *out);

#endif
