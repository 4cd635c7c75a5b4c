/*
 * probe_kernels.cu: see probe_kernels.h.
 */
#include "gpu.cuh"
#include "probe_kernels.h"

static __global__ void add(float *x, float value, int count)
{
    const int i = int(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < count)
        x[i] += value;
}

cudaError_t launch_add(float *x, float value, int count, cudaStream_t stream)
{
    return launch(add, dim3(unsigned(count + 31) / 32), dim3(32), 0, stream, x, value, count);
}

static __global__ void use_smem(float *x, size_t bytes)
{
    DYN_SMEM(smem);
    if (threadIdx.x == 0) {
        smem[bytes - 1] = 7;
        x[0] = float(smem[bytes - 1]);
    }
}

cudaError_t launch_with_smem(float *x, size_t bytes, bool raise, cudaStream_t stream)
{
    if (raise)
        if (const cudaError_t error = allow_smem(use_smem, bytes))
            return error;
    return launch(use_smem, dim3(1), dim3(32), bytes, stream, x, bytes);
}

/* Its recursion cannot be turned into a loop: each level reads what the next one wrote. */
static __device__ int descend(int levels, volatile int *above)
{
    volatile int room[256];
    room[levels & 255] = *above + 1;
    return levels ? descend(levels - 1, room + (levels & 255)) + room[levels & 255] : room[0];
}

static __global__ void use_stack(float *x, int kilobytes)
{
    volatile int start = 1;
    if (threadIdx.x == 0)
        x[0] = float(descend(kilobytes, &start));
}

cudaError_t launch_with_stack(float *x, int kilobytes, cudaStream_t stream)
{
    return launch(use_stack, dim3(1), dim3(32), 0, stream, x, kilobytes);
}
