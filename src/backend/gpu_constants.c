/*
 * gpu_constants.c: the weights on the device: one allocation, in the order in
 * which they are used. Operations name a constant by its address on the host;
 * a table sorted by these says where its twin lies.
 *
 * An upload goes through two pinned buffers: while one is on its way, the
 * threads of the host fill the other from the file.
 */
#include "gpu_backend.h"

#include "mapfile.h"

#include <stdlib.h>
#include <string.h>

enum { STAGE_BYTES = 16 << 20, ITEM_BYTES = 1 << 20 };

struct constant {
    const char *host;
    uint64_t bytes, offset; /* on the device */
};

struct gpu_constants {
    char *base; /* device */
    size_t count;
    struct constant sorted[]; /* [count] by address */
};

void gpu_constants_destroy(struct gpu_constants *constants)
{
    if (!constants)
        return;
    cudaFree(constants->base);
    free(constants);
}

static int compare(const void *left, const void *right)
{
    const struct constant *a = left, *b = right;

    return (a->host > b->host) - (a->host < b->host);
}

/* Where each constant goes; returns the bytes of all. */
static uint64_t lay_out(const struct backend_constants *from, struct gpu_constants *constants)
{
    uint64_t bytes = 0;

    for (size_t i = 0; i < from->count; i++) {
        constants->sorted[i] =
            (struct constant){from->ranges[i].data, from->ranges[i].bytes, bytes};
        bytes += gpu_piece_bytes(from->ranges[i].bytes);
    }
    constants->count = from->count;
    qsort(constants->sorted, constants->count, sizeof *constants->sorted, compare);
    return bytes;
}

/* Memory for the weights, if there is room for them and the workspace. */
static enum dllm_status allocate(const struct gpu_backend *backend, uint64_t weights,
                                 uint64_t workspace, char **out, struct dllm_error *error)
{
    size_t available = 0, total = 0;
    void *memory;

    cudaMemGetInfo(&available, &total);
    if (weights + workspace <= available && cudaMalloc(&memory, weights) == cudaSuccess) {
        *out = memory;
        return DLLM_OK;
    }
    cudaGetLastError();
    return status_fail(error, DLLM_ERROR_DEVICE,
                       "the model does not fit on %s: its weights take %.1f MB and a canvas %.1f "
                       "MB, and %.1f of %.1f MB are free; take a smaller quantization, or compute "
                       "on the CPU (--device cpu)",
                       backend->name, (double)weights * 1e-6, (double)workspace * 1e-6,
                       (double)available * 1e-6, (double)total * 1e-6);
}

/* --- the upload --- */

struct upload {
    struct gpu_backend *backend;
    const struct backend_constants *from;
    char *stage[2]; /* [STAGE_BYTES] pinned */
    cudaEvent_t sent[2];
    int turn;
    uint64_t done, bytes;
};

/* A portion on its way into pinned memory. */
struct portion {
    const char *from;
    char *to;
    uint64_t bytes;
};

static void copy_item(void *context, int item, int worker)
{
    const struct portion *portion = context;
    uint64_t at = (uint64_t)item * ITEM_BYTES;

    (void)worker;
    memcpy(portion->to + at, portion->from + at, MIN(portion->bytes - at, (uint64_t)ITEM_BYTES));
}

static void send_portion(struct upload *upload, const char *from, char *to, uint64_t bytes)
{
    struct gpu_backend *backend = upload->backend;
    int turn = upload->turn;
    struct portion portion = {from, upload->stage[turn], bytes};

    gpu_check(backend, cudaEventSynchronize(upload->sent[turn]), "upload");
    pool_run(backend->pool, (int)DIV_UP(bytes, ITEM_BYTES), copy_item, &portion);
    gpu_check(backend,
              cudaMemcpyAsync(to, portion.to, bytes, cudaMemcpyHostToDevice, backend->stream),
              "upload");
    gpu_check(backend, cudaEventRecord(upload->sent[turn], backend->stream), "upload");
    mapfile_release(from, bytes);
    upload->turn ^= 1;
    upload->done += bytes;
    if (upload->from->report)
        upload->from->report(upload->from->context, upload->done, upload->bytes);
}

static void send_range(struct upload *upload, const struct backend_range *range, char *to)
{
    const char *from = range->data;

    for (uint64_t at = 0; at < range->bytes; at += STAGE_BYTES) {
        uint64_t bytes = MIN(range->bytes - at, (uint64_t)STAGE_BYTES);

        if (at + bytes < range->bytes)
            mapfile_want(from + at + bytes, MIN(range->bytes - at - bytes, (uint64_t)STAGE_BYTES));
        send_portion(upload, from + at, to + at, bytes);
    }
}

static enum dllm_status open_upload(struct upload *upload, struct dllm_error *error)
{
    for (int i = 0; i < 2; i++) {
        void *stage;

        TRY(gpu_pinned_take(STAGE_BYTES, &stage, error));
        upload->stage[i] = stage;
        gpu_check(upload->backend,
                  cudaEventCreateWithFlags(&upload->sent[i], cudaEventDisableTiming), "event");
    }
    for (size_t i = 0; i < upload->from->count; i++)
        upload->bytes += upload->from->ranges[i].bytes;
    return DLLM_OK;
}

static void close_upload(struct upload *upload)
{
    for (int i = 0; i < 2; i++) {
        cudaFreeHost(upload->stage[i]);
        if (upload->sent[i])
            cudaEventDestroy(upload->sent[i]);
    }
}

static enum dllm_status send_all(struct gpu_backend *backend, const struct backend_constants *from,
                                 struct dllm_error *error)
{
    struct upload upload = {.backend = backend, .from = from};
    enum dllm_status status = open_upload(&upload, error);

    for (size_t i = 0; status == DLLM_OK && i < from->count; i++)
        send_range(&upload, &from->ranges[i],
                   (char *)(uintptr_t)gpu_constant(backend, from->ranges[i].data));
    if (status == DLLM_OK)
        status = gpu_finish(backend, error);
    close_upload(&upload);
    return status;
}

bool gpu_fits(struct backend *base, const struct backend_constants *constants)
{
    struct gpu_backend *backend = gpu_of(base);
    uint64_t bytes = constants->workspace;
    size_t available = 0, total = 0;

    for (size_t i = 0; i < constants->count; i++)
        bytes += gpu_piece_bytes(constants->ranges[i].bytes);
    if (gpu_ready(backend))
        gpu_check(backend, cudaMemGetInfo(&available, &total), "question for free memory");
    return bytes <= available;
}

enum dllm_status gpu_load(struct backend *base, const struct backend_constants *from,
                          struct dllm_error *error)
{
    struct gpu_backend *backend = gpu_of(base);
    struct gpu_constants *constants =
        calloc(1, sizeof *constants + from->count * sizeof *constants->sorted);
    uint64_t bytes;

    if (!constants)
        return status_no_memory(error, from->count * sizeof *constants->sorted);
    gpu_ready(backend);
    bytes = lay_out(from, constants);
    backend->constants = constants;
    TRY(allocate(backend, bytes, from->workspace, &constants->base, error));
    return send_all(backend, from, error);
}

const void *gpu_constant(struct gpu_backend *backend, const void *host)
{
    const struct gpu_constants *constants = backend->constants;
    const char *address = host;
    size_t low = 0, high = constants ? constants->count : 0;

    if (!host)
        return NULL;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct constant *at = &constants->sorted[middle];

        if (address < at->host)
            high = middle;
        else if (address >= at->host + at->bytes)
            low = middle + 1;
        else
            return constants->base + at->offset + (address - at->host);
    }
    gpu_check(backend, cudaErrorInvalidValue, "look-up of a constant");
    return NULL;
}
