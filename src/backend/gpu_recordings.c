/*
 * gpu_recordings.c: sequences of operations as CUDA graphs. The first time a
 * sequence is queued call by call, which also warms up what the runtime loads
 * lazily; the second time its calls are captured, and from then on it is one
 * launch. A graph holds addresses: of buffers, which live as long as the
 * recordings, and of the operations' own memory, which may move. It takes memory of the
 * card, some 64 KB an operation: where that is used up the other graphs go, and what has no
 * room then is queued call by call.
 */
#include "gpu_backend.h"

#include <stdlib.h>
#include <string.h>

/* A run of a few blocks has a shape for each and one or two more. */
enum { MOST = 64, KEY_BYTES = 1024 };

struct recording {
    char key[KEY_BYTES]; /* [key_bytes] used */
    size_t key_bytes;
    cudaGraphExec_t graph;          /* NULL: came once, or lost its memory */
    bool refused;                   /* there was no memory for a graph */
    struct backend_profile profile; /* what a replay adds */
    unsigned long used;             /* when last */
};

struct backend_recordings {
    struct recording *list; /* [MOST], count used */
    int count;
    unsigned room;              /* of the backend when they were made */
    unsigned long clock;        /* counts replays and records */
    struct recording *captured; /* under way, NULL: nothing is */
    struct backend_profile before;
};

enum dllm_status gpu_recordings_create(struct backend *base, struct backend_recordings **out,
                                       struct dllm_error *error)
{
    struct backend_recordings *recordings = calloc(1, sizeof *recordings);

    (void)base;
    if (recordings)
        recordings->list = calloc(MOST, sizeof *recordings->list);
    if (!recordings || !recordings->list) {
        free(recordings);
        return status_no_memory(error, MOST * sizeof *recordings->list);
    }
    *out = recordings;
    return DLLM_OK;
}

static void drop_graph(struct recording *recording)
{
    if (recording->graph)
        cudaGraphExecDestroy(recording->graph);
    recording->graph = NULL;
}

static void forget(struct recording *recording)
{
    drop_graph(recording);
    recording->key_bytes = 0;
    recording->refused = false;
}

static void forget_all(struct backend_recordings *recordings)
{
    for (int i = 0; i < recordings->count; i++)
        forget(&recordings->list[i]);
    recordings->count = 0;
}

void gpu_recordings_destroy(struct backend *base, struct backend_recordings *recordings)
{
    struct gpu_backend *backend = gpu_of(base);

    gpu_ready(backend);
    cudaStreamSynchronize(backend->stream);
    forget_all(recordings);
    free(recordings->list);
    free(recordings);
}

static struct recording *find(struct backend_recordings *recordings, const void *key, size_t bytes)
{
    for (int i = 0; i < recordings->count; i++) {
        struct recording *recording = &recordings->list[i];

        if (recording->key_bytes == bytes && memcmp(recording->key, key, bytes) == 0)
            return recording;
    }
    return NULL;
}

/* Room for a new one: the one that was not used for longest goes. */
static struct recording *add(struct backend_recordings *recordings, const void *key, size_t bytes)
{
    struct recording *oldest = recordings->list;

    if (recordings->count < MOST) {
        oldest = &recordings->list[recordings->count++];
    } else {
        for (int i = 1; i < MOST; i++)
            if (recordings->list[i].used < oldest->used)
                oldest = &recordings->list[i];
        forget(oldest);
    }
    memcpy(oldest->key, key, bytes);
    oldest->key_bytes = bytes;
    return oldest;
}

static void add_profile(struct backend_profile *to, const struct backend_profile *profile,
                        double sign)
{
    to->int8_operations += sign * profile->int8_operations;
    to->float_operations += sign * profile->float_operations;
    to->weight_bytes += sign * profile->weight_bytes;
}

static void start_capture(struct gpu_backend *backend, struct backend_recordings *recordings,
                          struct recording *recording)
{
    recordings->captured = recording;
    recordings->before = backend->base.profile;
    gpu_check(backend, cudaStreamBeginCapture(backend->stream, cudaStreamCaptureModeThreadLocal),
              "start of a recording");
}

bool gpu_replay(struct backend *base, struct backend_recordings *recordings, const void *key,
                size_t key_bytes)
{
    struct gpu_backend *backend = gpu_of(base);
    struct recording *recording;

    recordings->captured = NULL;
    if (key_bytes > KEY_BYTES || !gpu_ready(backend))
        return false;
    if (recordings->room != backend->room)
        forget_all(recordings);
    recordings->room = backend->room;
    recording = find(recordings, key, key_bytes);
    if (!recording) {
        add(recordings, key, key_bytes)->used = ++recordings->clock;
        return false;
    }
    recording->used = ++recordings->clock;
    if (recording->refused)
        return false;
    if (!recording->graph) {
        start_capture(backend, recordings, recording);
        return false;
    }
    gpu_check(backend, cudaGraphLaunch(recording->graph, backend->stream), "replay");
    add_profile(&backend->base.profile, &recording->profile, 1);
    return true;
}

/* The first replay of what was captured, which has not run yet. */
static cudaError_t run_captured(struct gpu_backend *backend, struct recording *recording,
                                cudaGraph_t graph)
{
    cudaError_t code = cudaGraphInstantiate(&recording->graph, graph, 0);

    return code == cudaSuccess ? cudaGraphLaunch(recording->graph, backend->stream) : code;
}

/* The same, with the memory of all other graphs where there is no other. They give it back when
 * they have run. */
static cudaError_t run_with_room(struct gpu_backend *backend, struct backend_recordings *recordings,
                                 cudaGraph_t graph)
{
    struct recording *recording = recordings->captured;
    cudaError_t code = run_captured(backend, recording, graph);

    if (code != cudaErrorMemoryAllocation)
        return code;
    for (int i = 0; i < recordings->count; i++)
        drop_graph(&recordings->list[i]);
    cudaStreamSynchronize(backend->stream);
    return run_captured(backend, recording, graph);
}

/* What was captured runs, or was refused. */
static bool end_capture(struct gpu_backend *backend, struct backend_recordings *recordings,
                        cudaGraph_t graph)
{
    struct recording *recording = recordings->captured;
    cudaError_t code = run_with_room(backend, recordings, graph);

    recording->profile = backend->base.profile;
    add_profile(&recording->profile, &recordings->before, -1);
    if (code != cudaErrorMemoryAllocation) {
        gpu_check(backend, code, "replay");
        return true;
    }
    cudaGetLastError();
    drop_graph(recording);
    recording->refused = true;
    backend->base.profile = recordings->before;
    return false;
}

bool gpu_record_end(struct backend *base, struct backend_recordings *recordings)
{
    struct gpu_backend *backend = gpu_of(base);
    cudaGraph_t graph = NULL;
    bool done = true;

    if (!recordings->captured)
        return true;
    gpu_check(backend, cudaStreamEndCapture(backend->stream, &graph), "end of a recording");
    if (backend->fault == cudaSuccess)
        done = end_capture(backend, recordings, graph);
    if (graph)
        cudaGraphDestroy(graph);
    recordings->captured = NULL;
    return done;
}
