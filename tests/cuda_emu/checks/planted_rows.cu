/*
 * planted_rows.cu: softmax of a row by one block: sums across warps in static
 * shared memory, vector loads, a count by atomics.
 */
#include "gpu.cuh"
#include "planted.h"

constexpr int WARPS = 4;

static __device__ float warp_sum(float value)
{
    for (int bits = 16; bits; bits /= 2)
        value += __shfl_xor_sync(ALL_LANES, value, bits);
    return value;
}

static __device__ float warp_max(float value)
{
    for (int bits = 16; bits; bits /= 2)
        value = fmaxf(value, __shfl_xor_sync(ALL_LANES, value, bits));
    return value;
}

static __device__ float row_max(const float *x, int keys, Bug bug)
{
    float most = -INFINITY;
    const int vectors = bug == TAIL_DROPPED ? keys / 4 : (keys + 3) / 4;
    const float *from = bug == VECTOR_MISALIGNED ? x + 1 : x;
    for (int i = (int)threadIdx.x; i < vectors; i += WARPS * 32) {
        const float4 v = ((const float4 *)from)[i];
        const float values[4] = {v.x, v.y, v.z, v.w};
        for (int j = 0; j < 4; j++)
            if (bug == MASK_OFF_BY_ONE ? i * 4 + j <= keys : i * 4 + j < keys)
                most = fmaxf(most, values[j]);
    }
    return most;
}

/* Faults that do not belong to the computation, each where it may do harm. */
static __device__ void misuse(Bug bug)
{
    const int lane = (int)threadIdx.x % 32;
    if (bug == DIVERGENT_BARRIER && threadIdx.x < 64)
        __syncthreads();
    if (bug == DIVERGENT_SHUFFLE && lane < 16)
        __shfl_xor_sync(ALL_LANES, lane, 1);
    if (bug == DIVERGENT_BALLOT && lane < 16)
        __ballot_sync(ALL_LANES, lane & 1);
}

static __global__ void softmax(float *x, int *large, int width, int keys, Bug bug)
{
    __shared__ float most_of[WARPS], sum_of[WARPS];
    __shared__ int counted;
    const int warp = (int)threadIdx.x / 32, lane = (int)threadIdx.x % 32;
    x += (size_t)blockIdx.x * (size_t)width;
    misuse(bug);
    if (bug == RETURN_BEFORE_BARRIER && (int)threadIdx.x >= keys)
        return;

    float most = warp_max(row_max(x, keys, bug));
    /* volatile: the compiler must not see that the index is one too far */
    volatile int slot = bug == SHARED_WRITTEN_PAST && warp == 3 ? WARPS : warp;
    if (lane == 0)
        most_of[slot] = most;
    if (threadIdx.x == 0)
        counted = 0;
    if (bug != SUM_NO_BARRIER)
        __syncthreads();
    volatile int last = bug == SHARED_READ_PAST ? WARPS + 1 : WARPS;
    for (int i = 0; i < last; i++)
        most = fmaxf(most, most_of[i]);

    float sum = 0;
    for (int i = (int)threadIdx.x; i < keys; i += WARPS * 32)
        sum += expf(x[i] - most);
    sum = warp_sum(sum);
    float *parts = bug == SHARED_REUSED ? most_of : sum_of;
    volatile int past = bug == SHARED_POINTER_PAST ? 8 : 0;
    if (lane == 0)
        *(parts + warp + past) = sum;
    __syncthreads();
    sum = 0;
    for (int i = 0; i < WARPS; i++)
        sum += parts[i];

    int mine = 0;
    const int stop = bug == COUNT_GUARD ? width + 1 : width;
    for (int i = (int)threadIdx.x; i < stop; i += WARPS * 32) {
        const float y = i < keys ? expf(x[i] - most) / sum : 0;
        if (i < width)
            x[i] = y;
        mine += (i < width ? y : x[i]) > 0.01f;
    }
    if (bug == PLAIN_ADD_ACROSS_WARPS)
        counted += mine;
    else
        atomicAdd(&counted, mine);
    __syncthreads();
    if (threadIdx.x == 0) {
        if (bug == PLAIN_ADD_ACROSS_BLOCKS)
            *large += counted;
        else
            atomicAdd(large, counted);
    }
}

cudaError_t planted_softmax(float *x, int *large, int rows, int width, int keys, Bug bug)
{
    return launch(softmax, dim3((unsigned)rows), dim3(WARPS * 32), 0, nullptr, x, large, width,
                  keys, bug);
}
