/*
 * runtime_internal.h: the mock of the CUDA runtime, shared by its files. What a
 * program queues runs as late as it may: when something waits for it. With
 * EMU_ORDER=random it may also run at once. Forgotten waits are seen so.
 *
 * environment
 *   EMU_DEVICES  how many GPUs there are (1)
 *   EMU_DRIVER   the driver's version as cudaDriverGetVersion gives it, 0: no driver (the
 * runtime's) EMU_COMPUTE  compute capability, "86" (80) EMU_MEMORY   bytes of device memory (16 GB)
 *   EMU_SMEM     bytes of shared memory that a block may have (99 KB)
 */
#pragma once
#include "emu_internal.h"

#include <deque>
#include <functional>
#include <memory>
#include <mutex>

namespace emu
{
/* Something a stream gets to: an event's record. */
struct Moment {
    CUstream_st *stream;
    bool passed;
    double seconds; /* when */
};

struct Operation {
    std::function<void()> run;
    std::shared_ptr<Moment> after; /* what it waits for, null: nothing */
    uint64_t sequence;             /* rises over all streams */
};
} // namespace emu

struct CUgraph_st {
    std::vector<std::function<void()>> nodes;
};

struct CUgraphExec_st {
    std::vector<std::function<void()>> nodes;
};

struct CUstream_st {
    std::deque<emu::Operation> queue;
    bool waits_for_default;              /* and it for this one: not cudaStreamNonBlocking */
    std::unique_ptr<CUgraph_st> capture; /* null: not capturing */
    bool capture_broken;
};

struct CUevent_st {
    std::shared_ptr<emu::Moment> moment; /* of the last record, null: none */
    bool timed;
};

namespace emu
{
/*
 * Stands at the head of every call of the API: one at a time, and none without
 * a device. error is what the call must return, cudaSuccess: go on.
 */
class Entry
{
  public:
    Entry();
    cudaError_t error;

  private:
    std::lock_guard<std::recursive_mutex> lock;
};

/* Remembers an error for cudaGetLastError and returns it. */
cudaError_t remember(cudaError_t error);

/* The stream of a handle; 0 and cudaStreamLegacy: the default one. Dies on one that is not alive.
 */
CUstream_st &stream_of(cudaStream_t handle);

/* Queues an operation, adds it to a capture, or runs what is queued up to it. */
cudaError_t queue_operation(CUstream_st &stream, std::function<void()> run,
                            std::shared_ptr<Moment> after = nullptr);

/* Runs all that a stream has queued, or up to a moment, with what it waits for. */
void finish_stream(CUstream_st &stream);
void finish_moment(const Moment &moment);
void finish_device();

/* Runs one operation; false when nothing is queued. */
bool advance(CUstream_st &stream);

/* For calls that a capture does not allow: breaks every capture under way. */
cudaError_t forbid_in_capture();

/* Kernels and copies may touch device memory as long as one of these lives; other code faults. */
class DeviceAccess
{
  public:
    DeviceAccess();
    ~DeviceAccess();
    DeviceAccess(const DeviceAccess &) = delete;
};

/* Dies unless [at, at + bytes) lies in one allocation (device) or touches none (host). */
void check_device_range(const void *at, size_t bytes, const char *call);
void check_host_range(const void *at, size_t bytes, const char *call);
bool is_device(const void *at);

/* Whether the range lies in memory of cudaMallocHost, cudaHostAlloc or cudaHostRegister. */
bool is_pinned(const void *at, size_t bytes);

/* An integer from the environment, or the default. */
uint64_t environment(const char *name, uint64_t otherwise);
} // namespace emu
