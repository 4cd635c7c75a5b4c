/*
 * runtime_stream.cpp: streams and events. A stream is a queue; its operations
 * run when something waits for them, and then those of other streams that they
 * depend on run first, and no others.
 */
#include "runtime_internal.h"

#include <ctime>
#include <set>

namespace emu
{
static CUstream_st default_stream = {true, ANY_DEVICE, {}, nullptr, false, {}, {}};
static std::set<CUstream_st *> streams = {&default_stream};
static uint64_t sequence;

/* What the card has waited for code of kernels to come. */
static double loading_seconds;
constexpr double LOADING_A_KERNEL = 0.02;

/* By the card's clock. */
static double seconds_now()
{
    timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return double(time.tv_sec) + 1e-9 * double(time.tv_nsec) + loading_seconds;
}

CUstream_st &stream_of(cudaStream_t handle)
{
    if (!handle || handle == cudaStreamLegacy)
        return default_stream;
    if (!streams.count(handle))
        die("a stream that was not created, or destroyed already");
    return *handle;
}

/* The default stream and the blocking ones run in the order of their calls. */
static void run_implicit_order(CUstream_st &stream, uint64_t before)
{
    if (!stream.waits_for_default)
        return;
    for (CUstream_st *other : streams)
        if (other != &stream && other->waits_for_default &&
            (other == &default_stream || &stream == &default_stream))
            while (!other->queue.empty() && other->queue.front().sequence < before)
                advance(*other);
}

bool advance(CUstream_st &stream)
{
    if (stream.queue.empty())
        return false;
    const Operation operation = std::move(stream.queue.front());
    stream.queue.pop_front();
    run_implicit_order(stream, operation.sequence);
    if (operation.after)
        finish_moment(*operation.after);
    operation.run();
    return true;
}

void finish_stream(CUstream_st &stream)
{
    const DeviceAccess access;
    while (advance(stream)) {
    }
}

void finish_moment(const Moment &moment)
{
    const DeviceAccess access;
    while (!moment.passed && advance(*moment.stream)) {
    }
}

void finish_device()
{
    for (CUstream_st *stream : streams)
        finish_stream(*stream);
}

/* The default stream waits for all blocking ones, which a capture among them cannot bear. */
static cudaError_t forbid_implicit_wait(const CUstream_st &stream)
{
    cudaError_t error = cudaSuccess;
    for (CUstream_st *other : streams)
        if (&stream == &default_stream && other->capture && other->waits_for_default) {
            other->capture_broken = true;
            error = remember(cudaErrorStreamCaptureImplicit);
        }
    return error;
}

cudaError_t queue_operation(CUstream_st &stream, std::function<void()> run,
                            std::shared_ptr<Moment> after)
{
    if (stream.capture) {
        if (after)
            die("a wait for an event of another stream in a capture is not emulated");
        stream.capture->nodes.push_back(std::move(run));
        return cudaSuccess;
    }
    if (const cudaError_t error = forbid_implicit_wait(stream))
        return error;
    stream.queue.push_back({std::move(run), std::move(after), ++sequence});
    if (settings().order == Settings::RANDOM && random_number() & 1)
        finish_stream(stream);
    return cudaSuccess;
}

cudaError_t launch_call(const Call &call, cudaStream_t handle)
{
    const std::shared_ptr<const Call> shared(new Call(call), [](const Call *c) {
        c->destroy(c->body);
        delete c;
    });
    const Entry entry;
    if (entry.error != cudaSuccess)
        return entry.error;
    CUstream_st &stream = stream_of(handle);
    bool first;
    if (const cudaError_t error = check_device(stream.device))
        return error;
    if (const cudaError_t error = check_call(call))
        return remember(error);
    if (const cudaError_t error = load_kernel(call.kernel, &first))
        return error;
    if (count_launch())
        return cudaSuccess; /* what waits for it is told */
    return queue_operation(stream, [shared, first] {
        const DeviceAccess access;
        loading_seconds += first ? LOADING_A_KERNEL : 0;
        run_call(*shared);
    });
}

static cudaError_t break_captures(bool (*does_it_break)(const CUstream_st &stream))
{
    cudaError_t error = cudaSuccess;
    for (CUstream_st *stream : streams)
        if (stream->capture && does_it_break(*stream)) {
            stream->capture_broken = true;
            error = remember(cudaErrorStreamCaptureUnsupported);
        }
    return error;
}

cudaError_t forbid_in_capture()
{
    return break_captures([](const CUstream_st &stream) {
        return stream.capture_mode == cudaStreamCaptureModeGlobal ||
               (stream.capture_mode == cudaStreamCaptureModeThreadLocal &&
                stream.capturer == std::this_thread::get_id());
    });
}

/* The whole device is no more waitable than the stream that captures. */
static cudaError_t check_waitable_device()
{
    return break_captures([](const CUstream_st &) { return true; });
}

cudaError_t break_capture(CUstream_st &stream)
{
    stream.capture_broken = true;
    return remember(cudaErrorStreamCaptureUnsupported);
}

/* A wait for a stream that captures would never end. */
static cudaError_t check_waitable(CUstream_st &stream)
{
    return stream.capture ? break_capture(stream) : cudaSuccess;
}
} // namespace emu

using namespace emu;

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags)
{
    const Entry entry;
    if (entry.error != cudaSuccess)
        return entry.error;
    *stream = new CUstream_st{
        !(flags & cudaStreamNonBlocking), device_of_thread(), {}, nullptr, false, {}, {}};
    streams.insert(*stream);
    return cudaSuccess;
}

cudaError_t cudaStreamCreate(cudaStream_t *stream)
{
    return cudaStreamCreateWithFlags(stream, cudaStreamDefault);
}

/* The real one lets what is queued run to its end. */
cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
    const Entry entry;
    if (!stream || !streams.count(stream))
        return remember(cudaErrorInvalidResourceHandle);
    finish_stream(*stream);
    streams.erase(stream);
    delete stream;
    return cudaSuccess;
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
    const Entry entry;
    if (entry.error != cudaSuccess)
        return entry.error;
    CUstream_st &waited = stream_of(stream);
    if (const cudaError_t error = check_waitable(waited))
        return error;
    finish_stream(waited);
    return cudaSuccess;
}

/* One operation at each call, so that a loop that polls ends. */
cudaError_t cudaStreamQuery(cudaStream_t stream)
{
    const Entry entry;
    if (entry.error != cudaSuccess)
        return entry.error;
    return advance(stream_of(stream)) ? cudaErrorNotReady : cudaSuccess;
}

cudaError_t cudaDeviceSynchronize()
{
    const Entry entry;
    if (entry.error != cudaSuccess)
        return entry.error;
    if (const cudaError_t error = check_waitable_device())
        return error;
    finish_device();
    return cudaSuccess;
}

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void *data)
{
    const Entry entry;
    if (entry.error != cudaSuccess)
        return entry.error;
    return queue_operation(stream_of(stream), [=] { function(data); });
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned flags)
{
    const Entry entry;
    if (entry.error != cudaSuccess)
        return entry.error;
    *event = new CUevent_st{nullptr, !(flags & cudaEventDisableTiming), device_of_thread()};
    return cudaSuccess;
}

cudaError_t cudaEventCreate(cudaEvent_t *event)
{
    return cudaEventCreateWithFlags(event, cudaEventDefault);
}

cudaError_t cudaEventDestroy(cudaEvent_t event)
{
    const Entry entry;
    delete event;
    return cudaSuccess;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t handle)
{
    const Entry entry;
    if (entry.error != cudaSuccess)
        return entry.error;
    CUstream_st &stream = stream_of(handle);
    if (stream.capture)
        die("cudaEventRecord in a capture is not emulated");
    if (stream.device != ANY_DEVICE && stream.device != event->device)
        return remember(cudaErrorInvalidResourceHandle);
    const auto moment = std::make_shared<Moment>(Moment{&stream, false, 0});
    event->moment = moment;
    return queue_operation(stream, [moment] {
        moment->passed = true;
        moment->seconds = seconds_now();
    });
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned)
{
    const Entry entry;
    if (entry.error != cudaSuccess)
        return entry.error;
    if (!event->moment)
        return cudaSuccess;
    return queue_operation(
        stream_of(stream), [] {}, event->moment);
}

cudaError_t cudaEventSynchronize(cudaEvent_t event)
{
    const Entry entry;
    if (entry.error != cudaSuccess)
        return entry.error;
    if (const cudaError_t error = forbid_in_capture())
        return error;
    if (event->moment)
        finish_moment(*event->moment);
    return cudaSuccess;
}

/* As cudaStreamQuery. */
cudaError_t cudaEventQuery(cudaEvent_t event)
{
    const Entry entry;
    if (entry.error != cudaSuccess)
        return entry.error;
    if (const cudaError_t error = forbid_in_capture())
        return error;
    if (!event->moment || event->moment->passed)
        return cudaSuccess;
    advance(*event->moment->stream);
    return cudaErrorNotReady;
}

cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t start, cudaEvent_t end)
{
    const Entry entry;
    if (entry.error != cudaSuccess)
        return entry.error;
    if (!start->moment || !end->moment || !start->timed || !end->timed)
        return remember(cudaErrorInvalidResourceHandle);
    if (!start->moment->passed || !end->moment->passed)
        return remember(cudaErrorNotReady);
    *milliseconds = float(1e3 * (end->moment->seconds - start->moment->seconds));
    return cudaSuccess;
}
