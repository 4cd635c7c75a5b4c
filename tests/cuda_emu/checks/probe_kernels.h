/*
 * probe_kernels.h: small kernels for the tests of the mock runtime.
 */
#pragma once
#include <cuda_runtime_api.h>

/* x[i] += value, i < count. */
cudaError_t launch_add(float *x, float value, int count, cudaStream_t stream);

/* With that much dynamic shared memory; raise: ask for it first. */
cudaError_t launch_with_smem(float *x, size_t bytes, bool raise, cudaStream_t stream);

/* A kernel whose threads need `kilobytes` of stack. */
cudaError_t launch_with_stack(float *x, int kilobytes, cudaStream_t stream);
