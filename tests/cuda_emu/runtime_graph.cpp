/*
 * runtime_graph.cpp: stream capture and graphs. A graph is the list of what one
 * stream was given between begin and end, with the arguments of then; a launch
 * runs it again in that order. An executable takes memory of the card, 64 KB a node unless
 * EMU_GRAPH_NODE says otherwise: https://forums.developer.nvidia.com/t/244901 shows 63 MB for a
 * thousand.
 */
#include "runtime_internal.h"

using namespace emu;

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
    *executable = new CUgraphExec_st{graph->nodes, bytes};
    return cudaSuccess;
}

/* The nodes are copied: the executable may be destroyed before they have run. */
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
    const auto nodes = executable->nodes;
    return queue_operation(stream, [nodes] {
        for (const auto &node : nodes)
            node();
    });
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t executable)
{
    const Entry entry;
    if (executable)
        give_memory(executable->bytes);
    delete executable;
    return cudaSuccess;
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph)
{
    const Entry entry;
    delete graph;
    return cudaSuccess;
}
