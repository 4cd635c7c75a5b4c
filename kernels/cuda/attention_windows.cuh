/*
 * attention_windows.cuh: what the two attention kernels share: a launch's windows
 * as kernel arguments.
 */
#pragma once
#include "cuda_attention.h"
#include "gpu.cuh"

struct attention_launch {
    int heads, kv_heads, head_dim;
    size_t q_step, kv_step, out_step;
    cuda_attention_window windows[CUDA_ATTENTION_WINDOWS];
};

static_assert(sizeof(attention_launch) <= 2048, "half of what a kernel's arguments may take");

/* Queries of one head from row first on, and the keys and values they look at. */
struct attention_view {
    const float *q, *k, *v; /* of the head, at the first query and key */
    float *out;
    int queries, keys; /* queries from the first one on: 0 or less where the window has none */
};

static __device__ __forceinline__ attention_view view_of(const attention_launch &launch, int window,
                                                         int head, int first)
{
    const cuda_attention_window &w = launch.windows[window];
    const size_t dim = (size_t)launch.head_dim;
    const size_t kv_column = (size_t)(head / (launch.heads / launch.kv_heads)) * dim;
    const size_t column = (size_t)head * dim;

    return {w.q + (size_t)first * launch.q_step + column,     w.k + kv_column,   w.v + kv_column,
            w.out + (size_t)first * launch.out_step + column, w.queries - first, w.keys};
}

/* cuda_attention_exact.cu: the exact way; arguments are checked, some window has queries. */
cudaError_t attend_exactly(const attention_launch &arguments, int windows, int most_queries,
                           cudaStream_t stream);
