/*
 * runtime_memory.cpp: device memory and copies. Device memory is ordinary memory
 * that only kernels and copies may touch: host code that does faults.
 */
#include "runtime_internal.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <sys/mman.h>
#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#endif

namespace emu
{
struct Block {
    char *base;
    size_t bytes;  /* that were asked for */
    size_t mapped; /* 0: from the heap */
};

/* By their ends. */
static std::map<const char *, Block> device_blocks, pinned_blocks;
static int accesses;

/* How much of the card is taken, as it counts: by pages, see runtime_internal.h. */
struct Taken {
    size_t large;            /* pieces that have pages of their own */
    size_t small, most_ever; /* the others, now and what has pages */
};
static Taken taken;

static size_t card_bytes()
{
    return environment("EMU_MEMORY", 16ull << 30);
}

static size_t whole_pages(size_t bytes)
{
    const size_t page = card_bytes() < 1 << 30 ? 1 : 2 << 20;
    return (bytes + page - 1) / page * page;
}

static size_t bytes_of(const Taken &all)
{
    const size_t page = whole_pages(1), code = page == 1 ? 0 : page * kernels_on_cards();
    return all.large + whole_pages(all.most_ever) + code;
}

static bool has_own_pages(size_t bytes)
{
    return bytes >= 1 << 20 || whole_pages(1) == 1;
}

bool take_memory(size_t bytes)
{
    const Taken before = taken;
    if (bytes > card_bytes())
        return false;
    if (has_own_pages(bytes))
        taken.large += whole_pages(bytes);
    else
        taken.small += bytes;
    taken.most_ever = std::max(taken.most_ever, taken.small);
    if (bytes_of(taken) <= card_bytes())
        return true;
    taken = before;
    return false;
}

void give_memory(size_t bytes)
{
    if (has_own_pages(bytes))
        taken.large -= whole_pages(bytes);
    else
        taken.small -= bytes;
}

/* Opens a block to the host or closes it. */
static void set_access(const Block &block, bool open)
{
#ifdef __SANITIZE_ADDRESS__
    if (open)
        ASAN_UNPOISON_MEMORY_REGION(block.base, block.bytes);
    else
        ASAN_POISON_MEMORY_REGION(block.base, block.bytes);
#else
    mprotect(block.base, block.mapped, open ? PROT_READ | PROT_WRITE : PROT_NONE);
#endif
}

DeviceAccess::DeviceAccess()
{
    if (accesses++ == 0)
        for (const auto &entry : device_blocks)
            set_access(entry.second, true);
}

DeviceAccess::~DeviceAccess()
{
    if (--accesses == 0)
        for (const auto &entry : device_blocks)
            set_access(entry.second, false);
}

static const Block *find_block(const std::map<const char *, Block> &blocks, const void *at)
{
    const char *address = static_cast<const char *>(at);
    const auto after = blocks.upper_bound(address);
    return after != blocks.end() && address >= after->second.base ? &after->second : nullptr;
}

bool is_device(const void *at)
{
    return find_block(device_blocks, at);
}

static bool block_holds(const Block *block, const void *at, size_t bytes)
{
    return block && static_cast<const char *>(at) + bytes <= block->base + block->bytes;
}

bool is_pinned(const void *at, size_t bytes)
{
    return block_holds(find_block(pinned_blocks, at), at, bytes);
}

void check_device_range(const void *at, size_t bytes, const char *call)
{
    if (bytes && !block_holds(find_block(device_blocks, at), at, bytes))
        die("%s: %zu bytes at %p are not inside one allocation of device memory", call, bytes, at);
}

void check_host_range(const void *at, size_t bytes, const char *call)
{
    if (bytes && (!at || is_device(at)))
        die("%s: %p is %s where host memory is expected", call, at, at ? "device memory" : "null");
}

/*
 * With AddressSanitizer from the heap, whose red zones see every byte too far;
 * else whole pages, so that they can be closed.
 */
static bool allocate(Block *block, size_t bytes)
{
    block->bytes = bytes;
#ifdef __SANITIZE_ADDRESS__
    void *base;
    block->mapped = 0;
    if (posix_memalign(&base, 256, bytes))
        return false;
#else
    block->mapped = (bytes + 4095) / 4096 * 4096;
    void *base = mmap(nullptr, block->mapped, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base == MAP_FAILED)
        return false;
#endif
    block->base = static_cast<char *>(base);
    memset(base, 0xff, bytes); /* NaN as f16, f32 and f64 */
    return true;
}

static void release(const Block &block)
{
    if (block.mapped) {
        munmap(block.base, block.mapped);
        return;
    }
    set_access(block, true);
    free(block.base);
}

/* Whose memory an address that faulted is. */
[[maybe_unused]] static const char *describe_address(const void *at)
{
    if (is_device(at))
        return "host code touches device memory";
    return fiber_owns(at) ? "a thread's stack overflowed" : "no memory is there";
}

/* AddressSanitizer has reports of its own. */
static void watch_faults()
{
#ifndef __SANITIZE_ADDRESS__
    static bool once;
    if (!once)
        report_faults(describe_address);
    once = true;
#endif
}

/* What a copy does, checked when it is queued, so that the report has the caller. */
struct CopyRange {
    char *dst;
    const char *src;
    size_t bytes;
    cudaMemcpyKind kind;
};

static void check_copy(CopyRange *copy, const char *call)
{
    const bool from_device = is_device(copy->src), to_device = is_device(copy->dst);
    if (copy->kind == cudaMemcpyDefault)
        copy->kind = from_device ? to_device ? cudaMemcpyDeviceToDevice : cudaMemcpyDeviceToHost
                     : to_device ? cudaMemcpyHostToDevice
                                 : cudaMemcpyHostToHost;
    const bool device_src =
        copy->kind == cudaMemcpyDeviceToHost || copy->kind == cudaMemcpyDeviceToDevice;
    const bool device_dst =
        copy->kind == cudaMemcpyHostToDevice || copy->kind == cudaMemcpyDeviceToDevice;
    (device_src ? check_device_range : check_host_range)(copy->src, copy->bytes, call);
    (device_dst ? check_device_range : check_host_range)(copy->dst, copy->bytes, call);
    if (copy->src < copy->dst + copy->bytes && copy->dst < copy->src + copy->bytes)
        die("%s: source and destination overlap", call);
}

static void run_copy(const CopyRange &copy)
{
    const DeviceAccess access;
    memcpy(copy.dst, copy.src, copy.bytes);
    if (watcher && is_device(copy.dst))
        watcher->host_wrote(copy.dst, copy.bytes);
}

/* Pageable memory takes a wait, which a capture cannot have. */
static bool is_pageable(const CopyRange &copy)
{
    return (copy.kind == cudaMemcpyHostToDevice && !is_pinned(copy.src, copy.bytes)) ||
           (copy.kind == cudaMemcpyDeviceToHost && !is_pinned(copy.dst, copy.bytes));
}

/* Of pageable memory too: NVIDIA says that the call "might be synchronous", no more. */
static cudaError_t queue_copy(CUstream_st &stream, CopyRange copy, const char *call)
{
    check_copy(&copy, call);
    if (!copy.bytes)
        return cudaSuccess;
    if (stream.capture && is_pageable(copy))
        return break_capture(stream);
    return queue_operation(stream, [copy] { run_copy(copy); });
}

static cudaError_t queue_fill(CUstream_st &stream, void *dst, int value, size_t bytes)
{
    check_device_range(dst, bytes, "cudaMemset");
    return queue_operation(stream, [=] {
        const DeviceAccess access;
        memset(dst, value, bytes);
        if (watcher)
            watcher->host_wrote(dst, bytes);
    });
}

static cudaError_t allocate_pinned(void **pointer, size_t bytes)
{
    const Entry entry;
    if (entry.error != cudaSuccess)
        return entry.error;
    if (const cudaError_t error = forbid_in_capture())
        return error;
    void *base;
    if (!bytes || posix_memalign(&base, 4096, bytes))
        return remember(bytes ? cudaErrorMemoryAllocation : cudaErrorInvalidValue);
    char *start = static_cast<char *>(base);
    pinned_blocks[start + bytes] = {start, bytes, 1};
    *pointer = base;
    return cudaSuccess;
}
} // namespace emu

using namespace emu;

cudaError_t cudaMalloc(void **pointer, size_t bytes)
{
    const Entry entry;
    if (entry.error != cudaSuccess)
        return entry.error;
    if (const cudaError_t error = forbid_in_capture())
        return error;
    watch_faults();
    *pointer = nullptr;
    Block block;
    if (bytes == 0)
        return cudaSuccess;
    if (!take_memory(bytes))
        return remember(cudaErrorMemoryAllocation);
    if (!allocate(&block, bytes)) {
        give_memory(bytes);
        return remember(cudaErrorMemoryAllocation);
    }
    device_blocks[block.base + bytes] = block;
    if (watcher)
        watcher->allocated(block.base, bytes);
    if (!accesses)
        set_access(block, false);
    *pointer = block.base;
    return cudaSuccess;
}

cudaError_t cudaFree(void *pointer)
{
    const Entry entry;
    if (!pointer)
        return cudaSuccess;
    if (const cudaError_t error = forbid_in_capture())
        return error;
    const Block *found = find_block(device_blocks, pointer);
    if (!found || found->base != pointer)
        die("cudaFree: %p is not what cudaMalloc gave", pointer);
    finish_device(); /* as the real one does */
    const Block block = *found;
    if (watcher)
        watcher->freed(pointer);
    device_blocks.erase(block.base + block.bytes);
    give_memory(block.bytes);
    release(block);
    return cudaSuccess;
}

cudaError_t cudaMallocHost(void **pointer, size_t bytes)
{
    return allocate_pinned(pointer, bytes);
}

cudaError_t cudaHostAlloc(void **pointer, size_t bytes, unsigned)
{
    return allocate_pinned(pointer, bytes);
}

cudaError_t cudaFreeHost(void *pointer)
{
    const Entry entry;
    if (!pointer)
        return cudaSuccess;
    if (const cudaError_t error = forbid_in_capture())
        return error;
    const Block *block = find_block(pinned_blocks, pointer);
    if (!block || block->base != pointer || !block->mapped)
        die("cudaFreeHost: %p is not what cudaMallocHost or cudaHostAlloc gave", pointer);
    finish_device();
    pinned_blocks.erase(block->base + block->bytes);
    free(pointer);
    return cudaSuccess;
}

cudaError_t cudaHostRegister(void *pointer, size_t bytes, unsigned)
{
    const Entry entry;
    if (entry.error != cudaSuccess)
        return entry.error;
    if (const cudaError_t error = forbid_in_capture())
        return error;
    if (!pointer || !bytes)
        return remember(cudaErrorInvalidValue);
    char *start = static_cast<char *>(pointer);
    if (find_block(pinned_blocks, start) || find_block(pinned_blocks, start + bytes - 1))
        return remember(cudaErrorHostMemoryAlreadyRegistered);
    pinned_blocks[start + bytes] = {start, bytes, 0};
    return cudaSuccess;
}

cudaError_t cudaHostUnregister(void *pointer)
{
    const Entry entry;
    if (const cudaError_t error = forbid_in_capture())
        return error;
    const Block *block = find_block(pinned_blocks, pointer);
    if (!block || block->base != pointer || block->mapped)
        return remember(cudaErrorHostMemoryNotRegistered);
    finish_device();
    pinned_blocks.erase(block->base + block->bytes);
    return cudaSuccess;
}

cudaError_t cudaMemGetInfo(size_t *available, size_t *total)
{
    const Entry entry;
    if (entry.error != cudaSuccess)
        return entry.error;
    *total = card_bytes();
    *available = *total - std::min(*total, bytes_of(taken));
    return cudaSuccess;
}

cudaError_t cudaMemcpyAsync(void *dst, const void *src, size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream)
{
    const Entry entry;
    if (entry.error != cudaSuccess)
        return entry.error;
    return queue_copy(stream_of(stream),
                      {static_cast<char *>(dst), static_cast<const char *>(src), bytes, kind},
                      "cudaMemcpyAsync");
}

cudaError_t cudaMemcpy2DAsync(void *dst, size_t dst_pitch, const void *src, size_t src_pitch,
                              size_t width, size_t height, cudaMemcpyKind kind, cudaStream_t stream)
{
    if (width > dst_pitch || width > src_pitch)
        return remember(cudaErrorInvalidValue);
    for (size_t row = 0; row < height; row++) {
        const cudaError_t error =
            cudaMemcpyAsync(static_cast<char *>(dst) + row * dst_pitch,
                            static_cast<const char *>(src) + row * src_pitch, width, kind, stream);
        if (error != cudaSuccess)
            return error;
    }
    return cudaSuccess;
}

cudaError_t cudaMemcpy(void *dst, const void *src, size_t bytes, cudaMemcpyKind kind)
{
    const Entry entry;
    if (entry.error != cudaSuccess)
        return entry.error;
    if (const cudaError_t error = forbid_in_capture())
        return error;
    CUstream_st &stream = stream_of(nullptr);
    const cudaError_t error =
        queue_copy(stream, {static_cast<char *>(dst), static_cast<const char *>(src), bytes, kind},
                   "cudaMemcpy");
    finish_stream(stream);
    return error;
}

cudaError_t cudaMemsetAsync(void *dst, int value, size_t bytes, cudaStream_t stream)
{
    const Entry entry;
    return entry.error != cudaSuccess ? entry.error
                                      : queue_fill(stream_of(stream), dst, value, bytes);
}

cudaError_t cudaMemset(void *dst, int value, size_t bytes)
{
    const Entry entry;
    if (const cudaError_t error = forbid_in_capture())
        return error;
    return cudaMemsetAsync(dst, value, bytes, nullptr);
}
