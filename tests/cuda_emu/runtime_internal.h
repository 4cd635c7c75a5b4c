/*
 * runtime_internal.h: the mock of the CUDA runtime, shared by its files. What a
 * program queues runs as late as it may: when something waits for it. With
 * EMU_ORDER=random it may also run at once. Forgotten waits are seen so.
 *
 * environment
 *   EMU_DEVICES     how many GPUs there are (1)
 *   EMU_DRIVER      the driver's version, 0: no driver (the runtime's)
 *   EMU_COMPUTE     compute capability, "86" (80)
 *   EMU_MEMORY      bytes of device memory (16 GB)
 *   EMU_GRAPH_NODE  bytes of it that an operation of a graph takes (64 KB)
 *   EMU_SMEM        bytes of shared memory that a block may have (99 KB)
 *   EMU_FAULT       the number of a launch whose kernel faults, after which every call fails
 *                   (none does)
 *
 * Where the real runtime promises less than it mostly does, this one does the least: a copy
 * from pageable memory may read it late; a kernel's code comes to the card with its first
 * launch, which takes time there and memory, and which no capture may hold; an executable graph
 * that is destroyed keeps its memory until its last launch has run; memory of a card
 * of a GB or more goes by pages of 2 MB, one for each kernel's code, and some that small
 * pieces share and that stay.
 */
#pragma once
#include "emu_internal.h"

#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

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

/* The nodes, and the memory of the card that they take as long as one of these lives. */
struct GraphOnCard;

struct CUgraphExec_st {
    std::shared_ptr<const GraphOnCard> graph; /* launches under way hold it too */
};

struct CUstream_st {
    bool waits_for_default; /* and it for this one: not cudaStreamNonBlocking */
    int device;             /* ANY_DEVICE: the default stream */
    std::deque<emu::Operation> queue;
    std::unique_ptr<CUgraph_st> capture; /* null: not capturing */
    bool capture_broken;
    cudaStreamCaptureMode capture_mode;
    std::thread::id capturer;
};
constexpr int ANY_DEVICE = -1;

struct CUevent_st {
    std::shared_ptr<emu::Moment> moment; /* of the last record, null: none */
    bool timed;
    int device;
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

/* For calls that a capture does not allow: breaks the captures that forbid them to this thread. */
cudaError_t forbid_in_capture();

/* For what a stream that captures cannot do. */
cudaError_t break_capture(CUstream_st &stream);

/* The device that this thread has chosen. */
int device_of_thread();

/* Whether a stream or event that was made on `device` can be used by this thread now. */
cudaError_t check_device(int device);

/* Brings a kernel's code to this thread's device. *first: it was not there yet. */
cudaError_t load_kernel(const void *kernel, bool *first);

/* How many have come. */
size_t kernels_on_cards();

/* Takes memory of the card, false: there is not so much, and gives it back. */
bool take_memory(size_t bytes);
void give_memory(size_t bytes);

/* Counts a launch; true: it is the one whose kernel faults, after which every call fails. */
bool count_launch();

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
