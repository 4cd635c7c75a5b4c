/*
 * test_runtime.cpp: the mock of the CUDA runtime: what a program queues is seen
 * as late as it may be, streams depend on each other as documented, graphs replay,
 * and machines without a GPU can be played.
 */
#include "device_test.h"
#include "forked.h"
#include "probe_kernels.h"

#include <cstring>
#include <thread>

using namespace device_test;

/* A stream, and pinned memory to copy to. */
struct Stream {
    explicit Stream(unsigned flags = cudaStreamNonBlocking)
    {
        succeed(cudaStreamCreateWithFlags(&handle, flags), "cudaStreamCreateWithFlags");
    }
    ~Stream()
    {
        cudaStreamDestroy(handle);
    }
    operator cudaStream_t() const
    {
        return handle;
    }
    cudaStream_t handle;
};

struct Pinned {
    explicit Pinned(size_t count)
    {
        succeed(cudaMallocHost(reinterpret_cast<void **>(&data), count * sizeof(float)),
                "cudaMallocHost");
        memset(data, 0, count * sizeof(float));
    }
    ~Pinned()
    {
        cudaFreeHost(data);
    }
    float *data = nullptr;
};

static void copy_out(Pinned &to, const DeviceArray<float> &from, cudaStream_t stream)
{
    succeed(cudaMemcpyAsync(to.data, from.data, from.size * sizeof(float), cudaMemcpyDeviceToHost,
                            stream),
            "cudaMemcpyAsync");
}

/* In the order that runs nothing early. */
static bool late()
{
    const char *order = getenv("EMU_ORDER");
    return !order || strcmp(order, "random") != 0;
}

DEVICE_TEST(nothing_runs_before_a_wait)
{
    const Stream stream;
    DeviceArray<float> x(std::vector<float>(40, 1));
    Pinned out(40);
    succeed(launch_add(x.data, 2, 40, stream), "launch");
    copy_out(out, x, stream);
    if (late())
        expect(out.data[39] == 0, "copied before anything waited");
    succeed(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
    expect(out.data[0] == 3 && out.data[39] == 3, "%g and %g, not 3", double(out.data[0]),
           double(out.data[39]));
}

DEVICE_TEST(a_stream_does_not_wait_for_another)
{
    const Stream one, two;
    DeviceArray<float> x(std::vector<float>(8, 1));
    Pinned out(8);
    succeed(launch_add(x.data, 2, 8, one), "launch");
    copy_out(out, x, two);
    succeed(cudaStreamSynchronize(two), "cudaStreamSynchronize");
    if (late())
        expect(out.data[0] == 1, "%g: the copy waited for a stream that it does not know",
               double(out.data[0]));
}

DEVICE_TEST(an_event_orders_two_streams)
{
    const Stream one, two;
    DeviceArray<float> x(std::vector<float>(8, 1));
    Pinned out(8);
    cudaEvent_t event;
    succeed(cudaEventCreate(&event), "cudaEventCreate");
    succeed(launch_add(x.data, 2, 8, one), "launch");
    succeed(cudaEventRecord(event, one), "cudaEventRecord");
    succeed(launch_add(x.data, 10, 8, one), "launch");
    succeed(cudaStreamWaitEvent(two, event, 0), "cudaStreamWaitEvent");
    copy_out(out, x, two);
    succeed(cudaStreamSynchronize(two), "cudaStreamSynchronize");
    if (late())
        expect(out.data[0] == 3, "%g, not 3", double(out.data[0]));
    succeed(cudaEventDestroy(event), "cudaEventDestroy");
}

DEVICE_TEST(the_default_stream_waits_for_blocking_ones)
{
    const Stream blocking(cudaStreamDefault);
    DeviceArray<float> x(std::vector<float>(8, 1));
    succeed(launch_add(x.data, 2, 8, blocking), "launch");
    float got = 0;
    succeed(cudaMemcpy(&got, x.data, sizeof got, cudaMemcpyDeviceToHost), "cudaMemcpy");
    expect(got == 3, "%g, not 3", double(got));
}

DEVICE_TEST(the_host_s_memory_is_read_and_written_late)
{
    const Stream stream;
    DeviceArray<float> x(1), y(1);
    float pageable = 1, copied = 0;
    Pinned pinned(1);
    pinned.data[0] = 1;
    succeed(cudaMemcpyAsync(x.data, &pageable, 4, cudaMemcpyHostToDevice, stream), "copy");
    succeed(cudaMemcpyAsync(y.data, pinned.data, 4, cudaMemcpyHostToDevice, stream), "copy");
    succeed(cudaMemcpyAsync(&copied, y.data, 4, cudaMemcpyDeviceToHost, stream), "copy");
    if (late())
        expect(copied == 0, "pageable memory was written early");
    pageable = pinned.data[0] = 2;
    succeed(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
    if (late())
        expect(x.get()[0] == 2 && y.get()[0] == 2 && copied == 2, "a source was read early");
}

DEVICE_TEST(events_tell_time)
{
    const Stream stream;
    DeviceArray<float> x(std::vector<float>(4096, 1));
    cudaEvent_t start, end;
    succeed(cudaEventCreate(&start), "cudaEventCreate");
    succeed(cudaEventCreate(&end), "cudaEventCreate");
    succeed(cudaEventRecord(start, stream), "cudaEventRecord");
    succeed(launch_add(x.data, 1, 4096, stream), "launch");
    succeed(cudaEventRecord(end, stream), "cudaEventRecord");
    float milliseconds = 0;
    if (late())
        expect(cudaEventElapsedTime(&milliseconds, start, end) == cudaErrorNotReady, "ready early");
    int polls = 0;
    while (cudaEventQuery(end) == cudaErrorNotReady)
        expect(++polls < 100, "polling does not end");
    succeed(cudaEventSynchronize(end), "cudaEventSynchronize");
    succeed(cudaEventElapsedTime(&milliseconds, start, end), "cudaEventElapsedTime");
    expect(milliseconds > 0, "no time went by");
    cudaEventDestroy(start);
    cudaEventDestroy(end);
}

DEVICE_TEST(a_graph_replays)
{
    const Stream stream;
    DeviceArray<float> x(std::vector<float>(8, 1));
    Pinned out(8);
    cudaGraph_t graph;
    cudaGraphExec_t executable;
    cudaStreamCaptureStatus status;
    succeed(launch_add(x.data, 0, 8, stream), "launch");
    succeed(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), "begin");
    succeed(launch_add(x.data, 2, 8, stream), "launch");
    copy_out(out, x, stream);
    succeed(cudaStreamIsCapturing(stream, &status), "cudaStreamIsCapturing");
    expect(status == cudaStreamCaptureStatusActive, "status %d", int(status));
    succeed(cudaStreamEndCapture(stream, &graph), "end");
    succeed(cudaGraphInstantiate(&executable, graph, 0), "cudaGraphInstantiate");
    succeed(cudaGraphDestroy(graph), "cudaGraphDestroy");
    succeed(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
    expect(out.data[0] == 0, "the capture ran something");
    for (int i = 0; i < 3; i++)
        succeed(cudaGraphLaunch(executable, stream), "cudaGraphLaunch");
    succeed(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
    expect(out.data[0] == 7, "%g, not 7", double(out.data[0]));
    succeed(cudaGraphExecDestroy(executable), "cudaGraphExecDestroy");
}

DEVICE_TEST(a_capture_forbids_waiting_and_allocating)
{
    const Stream stream;
    cudaGraph_t graph;
    void *memory = nullptr;
    succeed(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), "begin");
    expect(cudaStreamSynchronize(stream) == cudaErrorStreamCaptureUnsupported, "waited");
    expect(cudaStreamEndCapture(stream, &graph) == cudaErrorStreamCaptureInvalidated, "ended well");
    succeed(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), "begin");
    expect(cudaMalloc(&memory, 4) == cudaErrorStreamCaptureUnsupported, "allocated");
    expect(cudaStreamEndCapture(stream, &graph) == cudaErrorStreamCaptureInvalidated, "ended well");
    expect(cudaGetLastError() == cudaErrorStreamCaptureInvalidated, "no last error");
    expect(cudaGetLastError() == cudaSuccess, "the last error stayed");
}

/* That a capture with this call in it ends badly. */
static void expect_broken(const char *what, const std::function<cudaError_t(cudaStream_t)> &call)
{
    const Stream stream;
    cudaGraph_t graph;
    succeed(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "begin");
    expect(call(stream) == cudaErrorStreamCaptureUnsupported, "%s passed", what);
    expect(cudaStreamEndCapture(stream, &graph) == cudaErrorStreamCaptureInvalidated,
           "%s: the capture ended well", what);
}

DEVICE_TEST(a_capture_forbids_what_may_wait)
{
    Pinned pinned(1);
    DeviceArray<float> x(1);
    float pageable = 0;
    void *memory;
    cudaEvent_t event;
    succeed(cudaEventCreate(&event), "cudaEventCreate");
    expect_broken("pinned memory",
                  [&](cudaStream_t) { return cudaMallocHost(&memory, sizeof pageable); });
    expect_broken("freed pinned memory", [&](cudaStream_t) { return cudaFreeHost(pinned.data); });
    expect_broken("a wait for an event", [&](cudaStream_t) { return cudaEventSynchronize(event); });
    expect_broken("memset", [&](cudaStream_t) { return cudaMemset(x.data, 0, sizeof pageable); });
    expect_broken("a copy from pageable memory", [&](cudaStream_t stream) {
        return cudaMemcpyAsync(x.data, &pageable, sizeof pageable, cudaMemcpyHostToDevice, stream);
    });
    expect_broken("a copy to pageable memory", [&](cudaStream_t stream) {
        return cudaMemcpyAsync(&pageable, x.data, sizeof pageable, cudaMemcpyDeviceToHost, stream);
    });
    cudaEventDestroy(event);
}

DEVICE_TEST(captures_belong_to_threads)
{
    const Stream stream;
    cudaGraph_t graph = nullptr;
    void *memory = nullptr;
    cudaError_t ended, allocated, waited;
    succeed(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "begin");
    std::thread([&] {
        ended = cudaStreamEndCapture(stream, &graph);
        allocated = cudaMalloc(&memory, 4);
        waited = cudaDeviceSynchronize();
    }).join();
    expect(ended == cudaErrorStreamCaptureWrongThread, "another thread ended it");
    expect(allocated == cudaSuccess, "another thread could not allocate");
    expect(waited == cudaErrorStreamCaptureUnsupported, "another thread waited for the device");
    expect(cudaStreamEndCapture(stream, &graph) == cudaErrorStreamCaptureInvalidated, "ended well");
    cudaFree(memory);
}

DEVICE_TEST(shared_memory_has_the_limits_of_a_card)
{
    const Stream stream;
    DeviceArray<float> x(1);
    succeed(launch_with_smem(x.data, 47 << 10, false, stream), "47 KB");
    expect(launch_with_smem(x.data, 48 << 10, false, stream) == cudaErrorInvalidValue,
           "48 KB without asking, with no room for static arrays");
    succeed(launch_with_smem(x.data, 99 << 10, true, stream), "99 KB");
    expect(launch_with_smem(x.data, (99 << 10) + 1, true, stream) == cudaErrorInvalidValue,
           "more than the card has");
    succeed(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
    expect(x.get()[0] == 7, "%g, not 7", double(x.get()[0]));
}
