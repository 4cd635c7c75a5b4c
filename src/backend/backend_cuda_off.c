/* backend_cuda_off.c: what a build without CUDA says when it is asked for a GPU. */
#include "backend_cuda.h"

static enum dllm_status no_cuda(struct dllm_error *error)
{
    return status_fail(error, DLLM_ERROR_DEVICE,
                       "no GPU: this build has no CUDA; build dllm where the CUDA toolkit is "
                       "installed (make CUDA=1), or compute on the CPU (--device cpu)");
}

enum dllm_status backend_cuda_count(int *out, struct dllm_error *error)
{
    *out = 0;
    return no_cuda(error);
}

enum dllm_status backend_cuda_describe(int index, struct dllm_gpu *out, struct dllm_error *error)
{
    (void)index;
    *out = (struct dllm_gpu){0};
    return no_cuda(error);
}

enum dllm_status backend_cuda_create(int index, int threads, struct backend **out,
                                     struct dllm_error *error)
{
    (void)index;
    (void)threads;
    *out = NULL;
    return no_cuda(error);
}
