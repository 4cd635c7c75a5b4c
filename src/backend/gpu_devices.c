/* gpu_devices.c: which GPUs there are, or why there is none. */
#include "gpu_backend.h"

#include <stdio.h>

static enum dllm_status fail_driver(int driver, int needed, struct dllm_error *error)
{
    if (driver == 0)
        return status_fail(error, DLLM_ERROR_DEVICE,
                           "no GPU: no driver; install NVIDIA's driver for CUDA %d.%d or newer, or "
                           "compute on the CPU (--device cpu)",
                           needed / 1000, needed % 1000 / 10);
    return status_fail(error, DLLM_ERROR_DEVICE,
                       "no GPU: the driver is too old: it has CUDA %d.%d, this build needs %d.%d; "
                       "update NVIDIA's driver, or compute on the CPU (--device cpu)",
                       driver / 1000, driver % 1000 / 10, needed / 1000, needed % 1000 / 10);
}

static void versions(int *driver, int *needed)
{
    *driver = *needed = 0;
    cudaDriverGetVersion(driver);
    cudaRuntimeGetVersion(needed);
}

enum dllm_status backend_cuda_count(int *out, struct dllm_error *error)
{
    int driver, needed;
    cudaError_t code;

    *out = 0;
    versions(&driver, &needed);
    code = driver ? cudaGetDeviceCount(out) : cudaErrorInsufficientDriver;
    cudaGetLastError();
    if (code == cudaErrorInsufficientDriver)
        return fail_driver(driver, needed, error);
    if (code == cudaSuccess && *out > 0)
        return DLLM_OK;
    *out = 0;
    return status_fail(error, DLLM_ERROR_DEVICE, "no GPU: %s; compute on the CPU (--device cpu)",
                       code == cudaSuccess ? "the driver sees none" : cudaGetErrorString(code));
}

enum dllm_status gpu_find(int index, struct cudaDeviceProp *out, struct dllm_error *error)
{
    cudaError_t code;
    int count;

    TRY(backend_cuda_count(&count, error));
    if (index < 0 || index >= count)
        return status_fail(error, DLLM_ERROR_DEVICE,
                           "no such GPU: gpu:%d; there %s %d, from gpu:0 on (dllm doctor lists "
                           "them)",
                           index, count == 1 ? "is" : "are", count);
    code = cudaGetDeviceProperties(out, index);
    if (code == cudaSuccess)
        return DLLM_OK;
    cudaGetLastError();
    return status_fail(error, DLLM_ERROR_DEVICE,
                       "gpu:%d cannot be asked what it is: %s; compute on the CPU (--device cpu)",
                       index, cudaGetErrorString(code));
}

enum dllm_status backend_cuda_describe(int index, struct dllm_gpu *out, struct dllm_error *error)
{
    struct cudaDeviceProp properties;
    size_t available = 0, total = 0;

    *out = (struct dllm_gpu){0};
    TRY(gpu_find(index, &properties, error));
    versions(&out->driver_version, &out->cuda_version);
    snprintf(out->name, sizeof out->name, "%s", properties.name);
    out->capability = properties.major * 10 + properties.minor;
    out->memory_bytes = properties.totalGlobalMem;
    if (cudaSetDevice(index) == cudaSuccess && cudaMemGetInfo(&available, &total) == cudaSuccess)
        out->free_bytes = available;
    cudaGetLastError();
    return DLLM_OK;
}
