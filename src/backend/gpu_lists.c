/*
 * gpu_lists.c: lists of numbers that the host writes and operations read. They
 * are ordinary memory here and have a twin on the device. A send goes through
 * pinned memory: two halves in turn, each used again when its copies are done.
 */
#include "gpu_backend.h"

#include <stdlib.h>
#include <string.h>

struct gpu_lists {
    struct gpu_lists *next;
    int32_t *host, *device; /* [count] */
    struct gpu_block *block;
    size_t count;
    int32_t *stage; /* [2, count] pinned */
    size_t staged;  /* of the half in use */
    int half;
    cudaEvent_t sent[2]; /* all copies from that half are done */
};

static void release(struct gpu_backend *backend, struct gpu_lists *lists)
{
    for (int half = 0; half < 2; half++)
        if (lists->sent[half])
            cudaEventDestroy(lists->sent[half]);
    cudaFreeHost(lists->stage);
    gpu_memory_give(&backend->memory, lists->block);
    free(lists->host);
    free(lists);
}

static enum dllm_status fill(struct gpu_backend *backend, struct gpu_lists *lists,
                             struct dllm_error *error)
{
    size_t bytes = sizeof *lists->host * lists->count;
    void *device, *stage;

    lists->host = malloc(bytes);
    if (!lists->host)
        return status_no_memory(error, bytes);
    TRY(gpu_memory_take(&backend->memory, bytes, &lists->block, &device, error));
    lists->device = device;
    TRY(gpu_pinned_take(2 * bytes, &stage, error));
    lists->stage = stage;
    for (int half = 0; half < 2; half++)
        gpu_check(backend, cudaEventCreateWithFlags(&lists->sent[half], cudaEventDisableTiming),
                  "event");
    return DLLM_OK;
}

enum dllm_status gpu_lists_create(struct backend *base, size_t count, int32_t **out,
                                  struct dllm_error *error)
{
    struct gpu_backend *backend = gpu_of(base);
    struct gpu_lists *lists = calloc(1, sizeof *lists);
    enum dllm_status status;

    if (!lists)
        return status_no_memory(error, sizeof *lists);
    gpu_ready(backend);
    lists->count = count;
    status = fill(backend, lists, error);
    if (status != DLLM_OK) {
        release(backend, lists);
        return status;
    }
    lists->next = backend->lists;
    backend->lists = lists;
    *out = lists->host;
    return DLLM_OK;
}

/* The lists that a number lies in. */
static struct gpu_lists **find(struct gpu_backend *backend, const int32_t *host)
{
    struct gpu_lists **at = &backend->lists;

    while (*at && !(host >= (*at)->host && host < (*at)->host + (*at)->count))
        at = &(*at)->next;
    return at;
}

void gpu_lists_destroy(struct backend *base, int32_t *host)
{
    struct gpu_backend *backend = gpu_of(base);
    struct gpu_lists **at = find(backend, host), *lists = *at;

    gpu_ready(backend);
    *at = lists->next;
    cudaStreamSynchronize(backend->stream);
    release(backend, lists);
}

/* Pinned room for `count` numbers. */
static int32_t *stage(struct gpu_backend *backend, struct gpu_lists *lists, size_t count)
{
    int32_t *room;

    if (lists->staged + count > lists->count) {
        gpu_check(backend, cudaEventRecord(lists->sent[lists->half], backend->stream), "event");
        lists->half ^= 1;
        lists->staged = 0;
        gpu_check(backend, cudaEventSynchronize(lists->sent[lists->half]), "event");
    }
    room = lists->stage + (size_t)lists->half * lists->count + lists->staged;
    lists->staged += count;
    return room;
}

void gpu_lists_send(struct backend *base, const int32_t *values, int count)
{
    struct gpu_backend *backend = gpu_of(base);
    struct gpu_lists *lists = *find(backend, values);
    size_t bytes = sizeof *values * (size_t)count;
    int32_t *staged;

    if (count == 0 || !gpu_ready(backend))
        return;
    staged = stage(backend, lists, (size_t)count);
    memcpy(staged, values, bytes);
    gpu_check(backend,
              cudaMemcpyAsync(lists->device + (values - lists->host), staged, bytes,
                              cudaMemcpyHostToDevice, backend->stream),
              "sending of lists");
}

const int32_t *gpu_list(struct gpu_backend *backend, const int32_t *host)
{
    const struct gpu_lists *lists = *find(backend, host);

    if (lists)
        return lists->device + (host - lists->host);
    gpu_check(backend, cudaErrorInvalidValue, "look-up of a list");
    return NULL;
}
