/*
 * runtime.cpp: the slice of the CUDA runtime that host code links against.
 */
#include "emu_internal.h"

#include <cstdlib>
#include <map>

namespace emu
{
static std::map<const void *, size_t> allowed_smem;

cudaError_t check_call(const Call &call)
{
    const uint64_t threads = uint64_t(call.block.x) * call.block.y * call.block.z;
    if (threads < 1 || threads > 1024 || !call.grid.x || !call.grid.y || !call.grid.z ||
        call.grid.x > INT32_MAX || call.grid.y > 65535 || call.grid.z > 65535)
        return cudaErrorInvalidConfiguration;
    const auto found = allowed_smem.find(call.kernel);
    const size_t allowed = found == allowed_smem.end() ? 48 << 10 : found->second;
    return call.smem > allowed ? cudaErrorInvalidValue : cudaSuccess;
}

cudaError_t launch_call(const Call &call, cudaStream_t)
{
    const cudaError_t error = check_call(call);
    if (error == cudaSuccess)
        run_call(call);
    call.destroy(call.body);
    return error;
}
} // namespace emu

cudaError_t cudaGetDeviceCount(int *count)
{
    *count = 1;
    return cudaSuccess;
}

cudaError_t cudaMalloc(void **pointer, size_t bytes)
{
    if (posix_memalign(pointer, 256, bytes ? bytes : 1))
        return cudaErrorMemoryAllocation;
    memset(*pointer, 0xff, bytes);
    if (emu::watcher)
        emu::watcher->allocated(*pointer, bytes);
    return cudaSuccess;
}

cudaError_t cudaFree(void *pointer)
{
    if (emu::watcher && pointer)
        emu::watcher->freed(pointer);
    free(pointer);
    return cudaSuccess;
}

cudaError_t cudaMemcpy(void *dst, const void *src, size_t bytes, cudaMemcpyKind kind)
{
    memcpy(dst, src, bytes);
    if (emu::watcher && kind != cudaMemcpyDeviceToHost)
        emu::watcher->host_wrote(dst, bytes);
    return cudaSuccess;
}

cudaError_t cudaMemcpyAsync(void *dst, const void *src, size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t)
{
    return cudaMemcpy(dst, src, bytes, kind);
}

cudaError_t cudaMemset(void *dst, int value, size_t bytes)
{
    memset(dst, value, bytes);
    if (emu::watcher)
        emu::watcher->host_wrote(dst, bytes);
    return cudaSuccess;
}

cudaError_t cudaDeviceSynchronize()
{
    return cudaSuccess;
}

cudaError_t cudaStreamSynchronize(cudaStream_t)
{
    return cudaSuccess;
}

cudaError_t cudaGetLastError()
{
    return cudaSuccess;
}

const char *cudaGetErrorString(cudaError_t error)
{
    return error == cudaSuccess ? "no error" : "error";
}

cudaError_t cudaFuncSetAttribute(const void *kernel, cudaFuncAttribute attribute, int value)
{
    if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize)
        return cudaSuccess;
    if (value < 0 || size_t(value) > emu::settings().max_smem)
        return cudaErrorInvalidValue;
    emu::allowed_smem[kernel] = size_t(value);
    return cudaSuccess;
}
