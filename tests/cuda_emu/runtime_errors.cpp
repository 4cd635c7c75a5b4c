/*
 * runtime_errors.cpp: names and texts of errors, as the real runtime gives them.
 */
#include "runtime_internal.h"

namespace emu
{
struct ErrorText {
    cudaError_t error;
    const char *name, *text;
};
#define ERROR(name, text)                                                                          \
    {                                                                                              \
        name, #name, text                                                                          \
    }
static const ErrorText errors[] = {
    ERROR(cudaSuccess, "no error"),
    ERROR(cudaErrorInvalidValue, "invalid argument"),
    ERROR(cudaErrorMemoryAllocation, "out of memory"),
    ERROR(cudaErrorInvalidConfiguration, "invalid configuration argument"),
    ERROR(cudaErrorInsufficientDriver,
          "CUDA driver version is insufficient for CUDA runtime version"),
    ERROR(cudaErrorNoDevice, "no CUDA-capable device is detected"),
    ERROR(cudaErrorInvalidDevice, "invalid device ordinal"),
    ERROR(cudaErrorInvalidResourceHandle, "invalid resource handle"),
    ERROR(cudaErrorNotReady, "device not ready"),
    ERROR(cudaErrorIllegalAddress, "an illegal memory access was encountered"),
    ERROR(cudaErrorHostMemoryAlreadyRegistered,
          "part or all of the requested memory range is already mapped"),
    ERROR(cudaErrorHostMemoryNotRegistered,
          "pointer does not correspond to a registered memory region"),
    ERROR(cudaErrorStreamCaptureUnsupported, "operation not permitted when stream is capturing"),
    ERROR(cudaErrorStreamCaptureInvalidated,
          "operation failed due to a previous error during capture"),
    ERROR(cudaErrorStreamCaptureUnmatched, "the capture was not initiated in this stream"),
    ERROR(cudaErrorStreamCaptureImplicit,
          "operation would make the legacy stream depend on a capturing blocking stream"),
    ERROR(cudaErrorStreamCaptureWrongThread,
          "attempt to terminate a thread-local capture sequence from another thread"),
};

static const ErrorText *find_error(cudaError_t error)
{
    for (const ErrorText &entry : errors)
        if (entry.error == error)
            return &entry;
    return nullptr;
}
} // namespace emu

const char *cudaGetErrorName(cudaError_t error)
{
    const emu::ErrorText *entry = emu::find_error(error);
    return entry ? entry->name : "unrecognized error code";
}

const char *cudaGetErrorString(cudaError_t error)
{
    const emu::ErrorText *entry = emu::find_error(error);
    return entry ? entry->text : "unrecognized error code";
}
