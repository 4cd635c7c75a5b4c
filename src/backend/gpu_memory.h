/*
 * gpu_memory.h: device memory in a few large blocks. What a workspace needs is
 * reserved as one block and cut into pieces; a block is freed with its last
 * piece. And pinned memory of the host.
 */
#ifndef GPU_MEMORY_H
#define GPU_MEMORY_H

#include "status.h"

struct gpu_block;

struct gpu_memory {
    struct gpu_block *open; /* the one reserved last, NULL: none */
};

/* What a piece of that many bytes takes of a block. */
uint64_t gpu_piece_bytes(uint64_t bytes);

/* Makes room for pieces that take `bytes` in all. DLLM_ERROR_DEVICE with what is
 * free if there is none. */
enum dllm_status gpu_memory_reserve(struct gpu_memory *memory, uint64_t bytes,
                                    struct dllm_error *error);

/* A piece, 256-byte aligned, of the block reserved last if it has room, else of a
 * block of its own. Give it back with its block, which is NULL after a failure. */
enum dllm_status gpu_memory_take(struct gpu_memory *memory, uint64_t bytes,
                                 struct gpu_block **block, void **out, struct dllm_error *error);
void gpu_memory_give(struct gpu_memory *memory, struct gpu_block *block);

/* Pinned memory of the host, to be freed with cudaFreeHost; *out is NULL after a failure. */
enum dllm_status gpu_pinned_take(size_t bytes, void **out, struct dllm_error *error);

/* Frees a block that was reserved and of which nothing is used. */
void gpu_memory_close(struct gpu_memory *memory);

#endif
