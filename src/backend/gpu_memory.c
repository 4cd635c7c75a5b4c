/* gpu_memory.c: see gpu_memory.h. */
#include "gpu_memory.h"

#include <cuda_runtime_api.h>
#include <stdlib.h>

enum { ALIGNMENT = 256 };

struct gpu_block {
    char *base;
    uint64_t bytes, used;
    int pieces; /* in use */
};

uint64_t gpu_piece_bytes(uint64_t bytes)
{
    return ROUND_UP(bytes, (uint64_t)ALIGNMENT);
}

/* A call that asked for memory and failed for another reason than that there is none. */
static enum dllm_status fail_device(cudaError_t code, struct dllm_error *error)
{
    return status_fail(error, DLLM_ERROR_DEVICE,
                       "the GPU gives no memory: %s, %s; run again, and if it fails again compute "
                       "on the CPU (--device cpu)",
                       cudaGetErrorString(code), cudaGetErrorName(code));
}

static enum dllm_status fail_full(uint64_t bytes, struct dllm_error *error)
{
    size_t available = 0, total = 0;

    cudaMemGetInfo(&available, &total);
    return status_fail(error, DLLM_ERROR_DEVICE,
                       "the GPU's memory is too small: %.1f MB are needed now, %.1f of %.1f MB are "
                       "free; take a shorter canvas or a smaller quantization, leave more layers "
                       "to the CPU (--gpu-layers), or compute there (--device cpu)",
                       (double)bytes * 1e-6, (double)available * 1e-6, (double)total * 1e-6);
}

static enum dllm_status create(uint64_t bytes, struct gpu_block **out, struct dllm_error *error)
{
    struct gpu_block *block = calloc(1, sizeof *block);
    cudaError_t code;
    void *base;

    if (!block)
        return status_no_memory(error, sizeof *block);
    code = cudaMalloc(&base, bytes);
    if (code != cudaSuccess) {
        cudaGetLastError();
        free(block);
        return code == cudaErrorMemoryAllocation ? fail_full(bytes, error)
                                                 : fail_device(code, error);
    }
    block->base = base;
    block->bytes = bytes;
    *out = block;
    return DLLM_OK;
}

static void destroy(struct gpu_block *block)
{
    cudaFree(block->base);
    free(block);
}

void gpu_memory_close(struct gpu_memory *memory)
{
    if (memory->open && memory->open->pieces == 0)
        destroy(memory->open);
    memory->open = NULL;
}

enum dllm_status gpu_memory_reserve(struct gpu_memory *memory, uint64_t bytes,
                                    struct dllm_error *error)
{
    gpu_memory_close(memory);
    return bytes ? create(bytes, &memory->open, error) : DLLM_OK;
}

enum dllm_status gpu_memory_take(struct gpu_memory *memory, uint64_t bytes,
                                 struct gpu_block **block, void **out, struct dllm_error *error)
{
    uint64_t whole = gpu_piece_bytes(bytes);
    struct gpu_block *from = memory->open;

    *block = NULL;
    if (!from || whole > from->bytes - from->used)
        TRY(create(whole, &from, error));
    *block = from;
    *out = from->base + from->used;
    (*block)->used += whole;
    (*block)->pieces++;
    return DLLM_OK;
}

void gpu_memory_give(struct gpu_memory *memory, struct gpu_block *block)
{
    if (!block || --block->pieces > 0)
        return;
    if (block == memory->open)
        memory->open = NULL;
    destroy(block);
}

enum dllm_status gpu_pinned_take(size_t bytes, void **out, struct dllm_error *error)
{
    cudaError_t code = cudaMallocHost(out, bytes);

    if (code == cudaSuccess)
        return DLLM_OK;
    *out = NULL;
    cudaGetLastError();
    return code == cudaErrorMemoryAllocation ? status_no_memory(error, bytes)
                                             : fail_device(code, error);
}
