/*
 * runtime_device.cpp: the mock GPU itself: is there one, what can it do, which
 * error was the last.
 */
#include "runtime_internal.h"

#include <cstdio>
#include <cstdlib>
#include <map>
#include <set>

namespace emu
{
static std::recursive_mutex mutex;
static thread_local cudaError_t last_error;
static thread_local int device_now;
/* Kernels are loaded, and allowed shared memory, on each device anew. */
typedef std::pair<int, const void *> KernelThere;
static std::map<KernelThere, size_t> allowed_smem;
static std::set<KernelThere> loaded;

uint64_t environment(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);
    return text ? strtoull(text, nullptr, 10) : otherwise;
}

static int driver_version()
{
    return int(environment("EMU_DRIVER", CUDART_VERSION));
}

static int device_count()
{
    return int(environment("EMU_DEVICES", 1));
}

/* Launches so far; with number EMU_FAULT a kernel does what no kernel may. */
static uint64_t launches;

bool count_launch()
{
    return ++launches == environment("EMU_FAULT", 0);
}

static bool has_faulted()
{
    const uint64_t fault = environment("EMU_FAULT", 0);
    return fault && launches >= fault;
}

/* What the real runtime says on such a machine. */
static cudaError_t device_error()
{
    if (driver_version() < CUDART_VERSION / 1000 * 1000)
        return cudaErrorInsufficientDriver;
    if (device_count() == 0)
        return cudaErrorNoDevice;
    return has_faulted() ? cudaErrorIllegalAddress : cudaSuccess;
}

cudaError_t remember(cudaError_t error)
{
    if (error != cudaSuccess)
        last_error = error;
    return error;
}

Entry::Entry() : error(cudaSuccess), lock(mutex)
{
    error = remember(device_error());
}

int device_of_thread()
{
    return device_now;
}

cudaError_t check_device(int device)
{
    return device == ANY_DEVICE || device == device_now ? cudaSuccess
                                                        : remember(cudaErrorInvalidResourceHandle);
}

cudaError_t load_kernel(const void *kernel, bool *first)
{
    *first = !loaded.count({device_now, kernel});
    if (*first)
        if (const cudaError_t error = forbid_in_capture())
            return error;
    loaded.insert({device_now, kernel});
    return cudaSuccess;
}

size_t kernels_on_cards()
{
    return loaded.size();
}

/* Dynamic shared memory that a kernel has unasked: 48 KB together with its static arrays, of which
 * nothing is known here but that they are small. */
constexpr size_t UNASKED_SMEM = 47 << 10;

/* What the card would say to a launch's configuration. */
cudaError_t check_call(const Call &call)
{
    const uint64_t threads = uint64_t(call.block.x) * call.block.y * call.block.z;
    if (threads < 1 || threads > MAX_FIBERS || call.block.z > 64 || !call.grid.x || !call.grid.y ||
        !call.grid.z || call.grid.x > INT32_MAX || call.grid.y > 65535 || call.grid.z > 65535)
        return cudaErrorInvalidConfiguration;
    const auto found = allowed_smem.find({device_now, call.kernel});
    const size_t allowed = found == allowed_smem.end() ? UNASKED_SMEM : found->second;
    return call.smem > allowed ? cudaErrorInvalidValue : cudaSuccess;
}

static void describe(cudaDeviceProp *properties)
{
    const int compute = int(environment("EMU_COMPUTE", 80));
    *properties = cudaDeviceProp();
    snprintf(properties->name, sizeof properties->name, "Emulated GPU");
    properties->totalGlobalMem = environment("EMU_MEMORY", 16ull << 30);
    properties->sharedMemPerBlock = 48 << 10;
    properties->sharedMemPerBlockOptin = settings().max_smem;
    properties->sharedMemPerMultiprocessor = settings().max_smem + 1024;
    properties->major = compute / 10;
    properties->minor = compute % 10;
    properties->warpSize = 32;
    properties->maxThreadsPerBlock = MAX_FIBERS;
    properties->multiProcessorCount = 4;
    properties->l2CacheSize = 128 << 10;
    properties->memoryBusWidth = 256;
}

static cudaError_t attribute(int *value, cudaDeviceAttr which)
{
    cudaDeviceProp p;
    describe(&p);
    switch (which) {
    case cudaDevAttrMaxThreadsPerBlock:
        *value = p.maxThreadsPerBlock;
        return cudaSuccess;
    case cudaDevAttrMaxSharedMemoryPerBlock:
        *value = int(p.sharedMemPerBlock);
        return cudaSuccess;
    case cudaDevAttrWarpSize:
        *value = p.warpSize;
        return cudaSuccess;
    case cudaDevAttrMultiProcessorCount:
        *value = p.multiProcessorCount;
        return cudaSuccess;
    case cudaDevAttrIntegrated:
        *value = p.integrated;
        return cudaSuccess;
    case cudaDevAttrL2CacheSize:
        *value = p.l2CacheSize;
        return cudaSuccess;
    case cudaDevAttrComputeCapabilityMajor:
        *value = p.major;
        return cudaSuccess;
    case cudaDevAttrComputeCapabilityMinor:
        *value = p.minor;
        return cudaSuccess;
    case cudaDevAttrMaxSharedMemoryPerMultiprocessor:
        *value = int(p.sharedMemPerMultiprocessor);
        return cudaSuccess;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin:
        *value = int(p.sharedMemPerBlockOptin);
        return cudaSuccess;
    default:
        die("cudaDeviceGetAttribute: attribute %d is not emulated", int(which));
    }
}
} // namespace emu

using namespace emu;

/* As the real one, leaves the count unwritten on an error. */
cudaError_t cudaGetDeviceCount(int *count)
{
    const Entry entry;
    if (entry.error == cudaSuccess)
        *count = device_count();
    return entry.error;
}

/* Works without a driver: 0 then. */
cudaError_t cudaDriverGetVersion(int *version)
{
    *version = driver_version();
    return cudaSuccess;
}

cudaError_t cudaRuntimeGetVersion(int *version)
{
    *version = CUDART_VERSION;
    return cudaSuccess;
}

cudaError_t cudaSetDevice(int device)
{
    const Entry entry;
    if (entry.error != cudaSuccess)
        return entry.error;
    if (device < 0 || device >= device_count())
        return remember(cudaErrorInvalidDevice);
    device_now = device;
    return cudaSuccess;
}

cudaError_t cudaGetDevice(int *device)
{
    const Entry entry;
    *device = device_now;
    return entry.error;
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp *properties, int device)
{
    const Entry entry;
    if (entry.error != cudaSuccess)
        return entry.error;
    if (device < 0 || device >= device_count())
        return remember(cudaErrorInvalidDevice);
    describe(properties);
    return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr which, int device)
{
    const Entry entry;
    if (entry.error != cudaSuccess)
        return entry.error;
    if (device < 0 || device >= device_count())
        return remember(cudaErrorInvalidDevice);
    return attribute(value, which);
}

cudaError_t cudaFuncSetAttribute(const void *kernel, cudaFuncAttribute which, int value)
{
    const Entry entry;
    if (entry.error != cudaSuccess || which != cudaFuncAttributeMaxDynamicSharedMemorySize)
        return entry.error;
    if (value < 0 || size_t(value) > settings().max_smem)
        return remember(cudaErrorInvalidValue);
    bool first;
    if (const cudaError_t error = load_kernel(kernel, &first))
        return error;
    allowed_smem[{device_now, kernel}] = size_t(value);
    return cudaSuccess;
}

cudaError_t cudaGetLastError()
{
    const cudaError_t error = last_error;
    last_error = cudaSuccess;
    return error;
}

cudaError_t cudaPeekAtLastError()
{
    return last_error;
}
