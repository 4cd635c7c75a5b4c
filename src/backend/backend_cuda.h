/*
 * backend_cuda.h: NVIDIA GPUs as a backend. A build without CUDA has the same
 * functions (backend_cuda_off.c): there it is an error to ask for one.
 */
#ifndef BACKEND_CUDA_H
#define BACKEND_CUDA_H

#include "backend.h"

/* How many GPUs there are, at least 1. DLLM_ERROR_DEVICE, "no GPU: ...", where
 * none can be used: no CUDA in this build, no driver, a driver too old, no
 * device. */
enum dllm_status backend_cuda_count(int *out, struct dllm_error *error);

/* GPU number index; DLLM_ERROR_DEVICE also for one that is not there. */
enum dllm_status backend_cuda_describe(int index, struct dllm_gpu *out, struct dllm_error *error);

/* A backend on GPU number index, of compute capability 8.0 or newer; `host_threads`
 * of the CPU finish what it leaves to the host. DLLM_ERROR_DEVICE as above. */
enum dllm_status backend_cuda_create(int index, int host_threads, struct backend **out,
                                     struct dllm_error *error);

#endif
