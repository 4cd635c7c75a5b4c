/* backend_cuda.c: the life of the GPU backend: the stream, buffers, failures. */
#include "gpu_backend.h"

#include "cuda_attention.h"

#include <stdio.h>
#include <stdlib.h>

enum { LEAST_CAPABILITY = 80 };

/* --- failures --- */

bool gpu_ready(struct gpu_backend *backend)
{
    /* One that was chosen before fails for what ran on it since. */
    gpu_check(backend, cudaSetDevice(backend->device), "computation");
    return backend->fault == cudaSuccess;
}

void gpu_check(struct gpu_backend *backend, int error, const char *what)
{
    if (error == cudaSuccess || backend->fault != cudaSuccess)
        return;
    backend->fault = (cudaError_t)error;
    backend->fault_in = what;
}

enum dllm_status gpu_finish(struct gpu_backend *backend, struct dllm_error *error)
{
    gpu_check(backend, cudaStreamSynchronize(backend->stream), "computation");
    if (backend->fault == cudaSuccess)
        return DLLM_OK;
    return status_fail(error, DLLM_ERROR_DEVICE,
                       "%s failed (%s: %s, %s); run again, and if it fails again compute on the "
                       "CPU (--device cpu)",
                       backend->name, backend->fault_in, cudaGetErrorString(backend->fault),
                       cudaGetErrorName(backend->fault));
}

/* --- buffers --- */

static uint64_t buffer_bytes(const struct backend *base, int rows, int width)
{
    (void)base;
    return gpu_piece_bytes(sizeof(float) * (uint64_t)rows * (uint64_t)width);
}

static enum dllm_status buffer_create(struct backend *base, int rows, int width,
                                      struct backend_buffer **out, struct dllm_error *error)
{
    struct gpu_backend *backend = gpu_of(base);
    struct backend_buffer *buffer = malloc(sizeof *buffer);
    enum dllm_status status;
    void *data;

    if (!buffer)
        return status_no_memory(error, sizeof *buffer);
    gpu_ready(backend);
    *buffer = (struct backend_buffer){.rows = rows, .width = width};
    status = gpu_memory_take(&backend->memory, buffer_bytes(base, rows, width), &buffer->block,
                             &data, error);
    if (status != DLLM_OK) {
        free(buffer);
        return status;
    }
    buffer->data = data;
    *out = buffer;
    return DLLM_OK;
}

static void buffer_destroy(struct backend *base, struct backend_buffer *buffer)
{
    struct gpu_backend *backend = gpu_of(base);

    gpu_ready(backend);
    gpu_memory_give(&backend->memory, buffer->block);
    free(buffer);
}

static enum dllm_status buffer_read(struct backend *base, const struct backend_buffer *buffer,
                                    int row, int count, float *out, struct dllm_error *error)
{
    struct gpu_backend *backend = gpu_of(base);
    size_t width = (size_t)buffer->width;

    if (gpu_ready(backend))
        gpu_check(backend,
                  cudaMemcpyAsync(out, buffer->data + (size_t)row * width,
                                  sizeof(float) * (size_t)count * width, cudaMemcpyDeviceToHost,
                                  backend->stream),
                  "reading of a buffer");
    return gpu_finish(backend, error);
}

/* Waits: that pageable memory has been read when a copy returns is not promised. */
static void buffer_write(struct backend *base, struct backend_buffer *buffer, int row, int count,
                         const float *values)
{
    struct gpu_backend *backend = gpu_of(base);
    size_t width = (size_t)buffer->width;

    if (!gpu_ready(backend))
        return;
    gpu_check(backend,
              cudaMemcpyAsync(buffer->data + (size_t)row * width, values,
                              sizeof(float) * (size_t)count * width, cudaMemcpyHostToDevice,
                              backend->stream),
              "writing of a buffer");
    gpu_check(backend, cudaStreamSynchronize(backend->stream), "writing of a buffer");
}

static enum dllm_status wait_for_stream(struct backend *base, struct dllm_error *error)
{
    struct gpu_backend *backend = gpu_of(base);

    gpu_ready(backend);
    return gpu_finish(backend, error);
}

/* --- room --- */

static size_t attention_bytes(const struct backend_limits *limits)
{
    int windows = MIN(limits->canvases, (int)CUDA_ATTENTION_WINDOWS);

    return cuda_attention_workspace_bytes(limits->kv_heads, limits->head_dim, windows,
                                          windows * limits->keys, false);
}

static uint64_t reserve_bytes(const struct backend *base, const struct backend_limits *limits)
{
    (void)base;
    return gpu_piece_bytes(attention_bytes(limits)) + gpu_picks_bytes(limits);
}

static struct backend_limits grown(const struct backend_limits *old,
                                   const struct backend_limits *limits)
{
    return (struct backend_limits){
        .rows = MAX(old->rows, limits->rows),
        .width = MAX(old->width, limits->width),
        .keys = MAX(old->keys, limits->keys),
        .kv_heads = MAX(old->kv_heads, limits->kv_heads),
        .head_dim = MAX(old->head_dim, limits->head_dim),
        .vocab = MAX(old->vocab, limits->vocab),
        .canvases = MAX(old->canvases, limits->canvases),
    };
}

static bool is_within(const struct backend_limits *needs, const struct backend_limits *have)
{
    return needs->rows <= have->rows && needs->width <= have->width && needs->keys <= have->keys &&
           needs->kv_heads <= have->kv_heads && needs->head_dim <= have->head_dim &&
           needs->vocab <= have->vocab && needs->canvases <= have->canvases;
}

static void release_room(struct gpu_backend *backend)
{
    gpu_picks_destroy(backend, backend->picks);
    gpu_memory_give(&backend->memory, backend->attention_block);
    backend->picks = NULL;
    backend->attention = NULL;
    backend->attention_block = NULL;
    backend->limits = (struct backend_limits){0};
}

/* What operations themselves need. */
static enum dllm_status take_room(struct gpu_backend *backend, const struct backend_limits *limits,
                                  struct dllm_error *error)
{
    size_t attention = MAX(attention_bytes(limits), (size_t)1);

    TRY(gpu_memory_reserve(&backend->memory, reserve_bytes(&backend->base, limits), error));
    TRY(gpu_memory_take(&backend->memory, attention, &backend->attention_block, &backend->attention,
                        error));
    TRY(gpu_picks_create(backend, limits, &backend->picks, error));
    backend->limits = *limits;
    backend->room++;
    return DLLM_OK;
}

/* Instead of what there is. Where that fails the old room is taken again: others, whose limits
 * have not grown, go on computing in it. */
static enum dllm_status replace_room(struct gpu_backend *backend,
                                     const struct backend_limits *limits, struct dllm_error *error)
{
    const struct backend_limits old = backend->limits;
    enum dllm_status status;

    cudaStreamSynchronize(backend->stream);
    release_room(backend);
    status = take_room(backend, limits, error);
    if (status == DLLM_OK)
        return DLLM_OK;
    release_room(backend);
    if (old.rows > 0 && take_room(backend, &old, NULL) != DLLM_OK)
        gpu_check(backend, cudaErrorMemoryAllocation, "memory for operations");
    return status;
}

static enum dllm_status reserve(struct backend *base, const struct backend_limits *limits,
                                struct dllm_error *error)
{
    struct gpu_backend *backend = gpu_of(base);
    struct backend_limits all = grown(&backend->limits, limits);

    gpu_ready(backend);
    if (!is_within(limits, &backend->limits))
        TRY(replace_room(backend, &all, error));
    return gpu_memory_reserve(&backend->memory, limits->bytes, error);
}

/* --- life --- */

static const char *device_name(const struct backend *base)
{
    return ((const struct gpu_backend *)base)->name;
}

static const char *level_name(const struct backend *base)
{
    return ((const struct gpu_backend *)base)->level;
}

static int threads(const struct backend *base)
{
    return pool_threads(((const struct gpu_backend *)base)->pool);
}

static void destroy(struct backend *base)
{
    struct gpu_backend *backend = gpu_of(base);

    gpu_ready(backend);
    if (backend->stream)
        cudaStreamSynchronize(backend->stream);
    release_room(backend);
    gpu_memory_close(&backend->memory);
    gpu_constants_destroy(backend->constants);
    if (backend->stream)
        cudaStreamDestroy(backend->stream);
    pool_destroy(backend->pool);
    free(backend);
}

static const struct backend_ops gpu_ops = {
    .device_name = device_name,
    .level_name = level_name,
    .threads = threads,
    .ceiling = gpu_ceiling,
    .bandwidth = gpu_bandwidth,
    .destroy = destroy,
    .load = gpu_load,
    .fits = gpu_fits,
    .wait = wait_for_stream,
    .reserve = reserve,
    .reserve_bytes = reserve_bytes,
    .buffer_bytes = buffer_bytes,
    .buffer_create = buffer_create,
    .buffer_destroy = buffer_destroy,
    .buffer_read = buffer_read,
    .buffer_write = buffer_write,
    .lists_create = gpu_lists_create,
    .lists_destroy = gpu_lists_destroy,
    .lists_send = gpu_lists_send,
    .activations_bytes = gpu_activations_bytes,
    .activations_create = gpu_activations_create,
    .activations_destroy = gpu_activations_destroy,
    .routing_bytes = gpu_routing_bytes,
    .routing_create = gpu_routing_create,
    .routing_destroy = gpu_routing_destroy,
    .visits_bytes = gpu_visits_bytes,
    .visits_create = gpu_visits_create,
    .visits_destroy = gpu_visits_destroy,
    .recordings_create = gpu_recordings_create,
    .recordings_destroy = gpu_recordings_destroy,
    .replay = gpu_replay,
    .record_end = gpu_record_end,
    .embed = gpu_embed,
    .gather = gpu_gather,
    .scatter = gpu_scatter,
    .rope = gpu_rope,
    .attention = gpu_attention,
    .prepare = gpu_prepare,
    .prepare_gated = gpu_prepare_gated,
    .matmul = gpu_matmul,
    .route = gpu_route,
    .prepare_visits = gpu_prepare_visits,
    .prepare_gated_visits = gpu_prepare_gated_visits,
    .matmul_visits = gpu_matmul_visits,
    .mix_visits = gpu_mix_visits,
    .guide = gpu_guide,
    .pick_rows = gpu_pick_rows,
    .cross_entropy_rows = gpu_cross_entropy_rows,
};

static enum dllm_status open_device(struct gpu_backend *backend, struct dllm_error *error)
{
    struct cudaDeviceProp properties;
    cudaError_t code;

    TRY(gpu_find(backend->device, &properties, error));
    snprintf(backend->name, sizeof backend->name, "gpu:%d", backend->device);
    snprintf(backend->level, sizeof backend->level, "sm_%d%d", properties.major, properties.minor);
    if (properties.major * 10 + properties.minor < LEAST_CAPABILITY)
        return status_fail(error, DLLM_ERROR_DEVICE,
                           "%s (%s) has compute capability %d.%d; 8.0 or newer is needed: compute "
                           "on the CPU (--device cpu)",
                           backend->name, properties.name, properties.major, properties.minor);
    code = cudaSetDevice(backend->device);
    if (code == cudaSuccess)
        code = cudaStreamCreateWithFlags(&backend->stream, cudaStreamNonBlocking);
    if (code == cudaSuccess)
        return DLLM_OK;
    cudaGetLastError();
    return status_fail(error, DLLM_ERROR_DEVICE,
                       "%s (%s) cannot be used: %s; end what uses it (nvidia-smi shows it), or "
                       "compute on the CPU (--device cpu)",
                       backend->name, properties.name, cudaGetErrorString(code));
}

enum dllm_status backend_cuda_create(int index, int host_threads, struct backend **out,
                                     struct dllm_error *error)
{
    struct gpu_backend *backend = calloc(1, sizeof *backend);
    enum dllm_status status;

    *out = NULL;
    if (!backend)
        return status_no_memory(error, sizeof *backend);
    backend->base.ops = &gpu_ops;
    backend->device = index;
    TRY_GOTO(open_device(backend, error));
    TRY_GOTO(pool_create(host_threads, &backend->pool, error));
    *out = &backend->base;
    return DLLM_OK;
fail:
    destroy(&backend->base);
    return status;
}
