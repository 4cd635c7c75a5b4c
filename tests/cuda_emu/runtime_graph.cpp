/*
 * runtime_graph.cpp: stream capture and graphs. A graph is the list of what one
 * stream was given between begin and end, with the arguments of then; a launch
 * runs it again in that order. An executable takes memory of the card, 64 KB a node unless
 * EMU_GRAPH_NODE says otherwise: https://forums.developer.nvidia.com/t/244901 shows 63 MB for a
 * thousand.
 */
#include "runtime_internal.h"

using namespace emu;

struct GraphOnCard {
    GraphOnCard(const std::vector<std::function<void()>> &queued, size_t taken)
        : nodes(queued), bytes(taken)
    {
    }
    ~GraphOnCard()
    {
        give_memory(bytes);
    }
    GraphOnCard(const GraphOnCard &) = delete;
    const std::vector<std::function<void()>> nodes;
    const size_t bytes;
};

cudaError_t cudaStreamBeginCapture(cudaStream_t handle, cudaStreamCaptureMode mode)
{
    const Entry entry;
    if (entry.error != cudaSuccess)
        return entry.error;
    CUstream_st &stream = stream_of(handle);
    if (&stream == &stream_of(nullptr))
        return remember(cudaErrorStreamCaptureUnsupported);
    if (stream.capture)
        return remember(cudaErrorStreamCaptureUnmatched);
    stream.capture = std::make_unique<CUgraph_st>();
    stream.capture_broken = false;
    stream.capture_mode = mode;
    stream.capturer = std::this_thread::get_id();
    return cudaSuccess;
}

cudaError_t cudaStreamEndCapture(cudaStream_t handle, cudaGraph_t *graph)
{
    const Entry entry;
    *graph = nullptr;
    if (entry.error != cudaSuccess)
        return entry.error;
    CUstream_st &stream = stream_of(handle);
    if (!stream.capture)
        return remember(cudaErrorStreamCaptureUnmatched);
    if (stream.capture_mode != cudaStreamCaptureModeRelaxed &&
        stream.capturer != std::this_thread::get_id())
        return remember(cudaErrorStreamCaptureWrongThread);
    const std::unique_ptr<CUgraph_st> captured = std::move(stream.capture);
    if (stream.capture_broken)
        return remember(cudaErrorStreamCaptureInvalidated);
    *graph = new CUgraph_st(*captured);
    return cudaSuccess;
}

cudaError_t cudaStreamIsCapturing(cudaStream_t handle, cudaStreamCaptureStatus *status)
{
    const Entry entry;
    if (entry.error != cudaSuccess)
        return entry.error;
    const CUstream_st &stream = stream_of(handle);
    *status = !stream.capture         ? cudaStreamCaptureStatusNone
              : stream.capture_broken ? cudaStreamCaptureStatusInvalidated
                                      : cudaStreamCaptureStatusActive;
    return cudaSuccess;
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t *executable, cudaGraph_t graph, unsigned long long)
{
    const Entry entry;
    if (entry.error != cudaSuccess)
        return entry.error;
    if (!graph)
        return remember(cudaErrorInvalidValue);
    const size_t bytes = graph->nodes.size() * environment("EMU_GRAPH_NODE", 64 << 10);
    if (!take_memory(bytes))
        return remember(cudaErrorMemoryAllocation);
    *executable = new CUgraphExec_st{std::make_shared<const GraphOnCard>(graph->nodes, bytes)};
    return cudaSuccess;
}

/* The executable may be destroyed before this has run, and is gone afterwards (cuda.h, of
 * cuGraphExecDestroy). */
cudaError_t cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t handle)
{
    const Entry entry;
    if (entry.error != cudaSuccess)
        return entry.error;
    if (!executable)
        return remember(cudaErrorInvalidValue);
    CUstream_st &stream = stream_of(handle);
    if (const cudaError_t error = check_device(stream.device))
        return error;
    const auto graph = executable->graph;
    return queue_operation(stream, [graph] {
        for (const auto &node : graph->nodes)
            node();
    });
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t executable)
{
    const Entry entry;
    delete executable;
    return cudaSuccess;
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph)
{
    const Entry entry;
    delete graph;
    return cudaSuccess;
}
