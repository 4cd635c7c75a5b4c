/*
 * gpu_logits.c: guidance, picks and cross entropies. Logits stay on the device:
 * a few numbers a row go there and come back. Only a bad row is copied, for the
 * message that the CPU's code has for it.
 */
#include "gpu_backend.h"

#include "cuda_pick.h"

#include <stdlib.h>
#include <string.h>

/* What goes to and fro; on both sides of the bus it is cut alike. */
struct exchange {
    struct cuda_pick *picks;     /* [rows] */
    double *losses;              /* [rows] */
    int32_t *numbers;            /* [rows] positions or targets */
    uint32_t *banned, *deferred; /* id sets */
};

struct gpu_picks {
    int rows, vocab;
    struct exchange host, device;
    void *pinned; /* of host */
    struct gpu_block *block;
    float *bad_row; /* [vocab] pinned */
    void *scratch;  /* of pick_row */
};

static size_t set_words(int vocab)
{
    return (size_t)DIV_UP(vocab, 32);
}

/* Cuts a block; what is aligned to 8 bytes comes first. Returns its bytes. */
static size_t cut(int rows, int vocab, char *base, struct exchange *out)
{
    size_t count = (size_t)rows, words = set_words(vocab);
    size_t losses = count * sizeof *out->picks, numbers = losses + count * sizeof *out->losses;
    size_t banned = numbers + count * sizeof *out->numbers;
    size_t deferred = banned + words * sizeof *out->banned;

    if (base)
        *out = (struct exchange){
            (struct cuda_pick *)(void *)base, (double *)(void *)(base + losses),
            (int32_t *)(void *)(base + numbers), (uint32_t *)(void *)(base + banned),
            (uint32_t *)(void *)(base + deferred)};
    return deferred + words * sizeof *out->deferred;
}

size_t gpu_picks_bytes(const struct backend_limits *limits)
{
    return gpu_piece_bytes(cut(limits->rows, limits->vocab, NULL, NULL));
}

static enum dllm_status allocate(struct gpu_backend *backend, struct gpu_picks *picks,
                                 struct dllm_error *error)
{
    size_t bytes = cut(picks->rows, picks->vocab, NULL, NULL);
    size_t row = (size_t)picks->vocab * sizeof *picks->bad_row;
    size_t scratch = pick_scratch_bytes(picks->vocab);
    void *device, *pinned;

    TRY(gpu_memory_take(&backend->memory, bytes, &picks->block, &device, error));
    cut(picks->rows, picks->vocab, device, &picks->device);
    TRY(gpu_pinned_take(bytes, &picks->pinned, error));
    cut(picks->rows, picks->vocab, picks->pinned, &picks->host);
    TRY(gpu_pinned_take(row, &pinned, error));
    picks->bad_row = pinned;
    picks->scratch = aligned_alloc(CACHE_LINE, scratch);
    return picks->scratch ? DLLM_OK : status_no_memory(error, scratch);
}

enum dllm_status gpu_picks_create(struct gpu_backend *backend, const struct backend_limits *limits,
                                  struct gpu_picks **out, struct dllm_error *error)
{
    struct gpu_picks *picks = calloc(1, sizeof *picks);
    enum dllm_status status;

    if (!picks)
        return status_no_memory(error, sizeof *picks);
    picks->rows = limits->rows;
    picks->vocab = limits->vocab;
    status = allocate(backend, picks, error);
    if (status == DLLM_OK)
        *out = picks;
    else
        gpu_picks_destroy(backend, picks);
    return status;
}

void gpu_picks_destroy(struct gpu_backend *backend, struct gpu_picks *picks)
{
    if (!picks)
        return;
    gpu_memory_give(&backend->memory, picks->block);
    cudaFreeHost(picks->pinned);
    cudaFreeHost(picks->bad_row);
    free(picks->scratch);
    free(picks);
}

static void copy(struct gpu_backend *backend, void *to, const void *from, size_t bytes,
                 enum cudaMemcpyKind kind)
{
    gpu_check(backend, cudaMemcpyAsync(to, from, bytes, kind, backend->stream), "copy");
}

static const float *logits_row(struct backend_rows logits, int row)
{
    return logits.buffer->data + (size_t)(logits.first + row) * (size_t)logits.buffer->width;
}

void gpu_guide(struct backend *base, struct backend_buffer *logits, int count, double scale)
{
    struct gpu_backend *backend = gpu_of(base);

    if (gpu_ready(backend))
        gpu_check(backend,
                  cuda_guide_logits(logits->data, count, logits->width, scale, backend->stream),
                  "guidance");
}

/* A list as bits; NULL for an empty one. */
static cuda_id_set send_set(struct gpu_backend *backend, const int32_t *ids, int count,
                            uint32_t *host, uint32_t *device)
{
    int vocab = backend->picks->vocab;
    size_t bytes = set_words(vocab) * sizeof *host;

    if (count == 0)
        return NULL;
    memset(host, 0, bytes);
    for (int i = 0; i < count; i++)
        if (ids[i] >= 0 && ids[i] < vocab)
            host[ids[i] / 32] |= UINT32_C(1) << ids[i] % 32;
    copy(backend, device, host, bytes, cudaMemcpyHostToDevice);
    return device;
}

static struct cuda_pick_rules describe_rules(const struct pick_rules *rules)
{
    return (struct cuda_pick_rules){.method = (int)rules->method,
                                    .confidence = (int)rules->confidence,
                                    .temperature = rules->temperature,
                                    .top_p = rules->top_p,
                                    .top_k = rules->top_k,
                                    .runner_up = rules->runner_up,
                                    .gap = rules->gap,
                                    .seed = rules->seed,
                                    .step = rules->step};
}

static void send_numbers(struct gpu_backend *backend, const int32_t *numbers, int count)
{
    size_t bytes = sizeof *numbers * (size_t)count;

    memcpy(backend->picks->host.numbers, numbers, bytes);
    copy(backend, backend->picks->device.numbers, backend->picks->host.numbers, bytes,
         cudaMemcpyHostToDevice);
}

/* Queues the picks and waits for them, in picks->host. */
static enum dllm_status pick_on_device(struct gpu_backend *backend, struct backend_rows logits,
                                       const struct pick_rules *rules, const int32_t *positions,
                                       struct dllm_error *error)
{
    struct gpu_picks *room = backend->picks;
    struct cuda_pick_rules launch = describe_rules(rules);

    launch.banned = send_set(backend, rules->banned, rules->banned_count, room->host.banned,
                             room->device.banned);
    launch.deferred = send_set(backend, rules->deferred, rules->deferred_count, room->host.deferred,
                               room->device.deferred);
    send_numbers(backend, positions, logits.count);
    gpu_check(backend,
              cuda_pick_rows(logits_row(logits, 0), logits.count, logits.buffer->width, &launch,
                             room->device.numbers, room->device.picks, backend->stream),
              "choice of tokens");
    copy(backend, room->host.picks, room->device.picks,
         sizeof *room->host.picks * (size_t)logits.count, cudaMemcpyDeviceToHost);
    return gpu_finish(backend, error);
}

static struct pick pick_of(const struct cuda_pick *pick)
{
    return (struct pick){.token = pick->token,
                         .confidence = pick->confidence,
                         .probability = pick->probability,
                         .runner_up = pick->runner_up,
                         .runner_up_probability = pick->runner_up_probability,
                         .gap = pick->gap};
}

/* A row that the device refused, by the CPU's code, which has the message. */
static enum dllm_status pick_on_host(struct gpu_backend *backend, const float *row,
                                     const struct pick_rules *rules, int32_t position,
                                     struct pick *pick, struct dllm_error *error)
{
    struct gpu_picks *room = backend->picks;

    copy(backend, room->bad_row, row, sizeof *row * (size_t)room->vocab, cudaMemcpyDeviceToHost);
    TRY(gpu_finish(backend, error));
    return pick_row(room->bad_row, room->vocab, rules, position, room->scratch, pick, error);
}

enum dllm_status gpu_pick_rows(struct backend *base, struct backend_rows logits,
                               const struct pick_rules *rules, const int32_t *positions,
                               struct pick *picks, struct dllm_error *error)
{
    struct gpu_backend *backend = gpu_of(base);
    const struct cuda_pick *got;

    if (!gpu_ready(backend))
        return gpu_finish(backend, error);
    TRY(pick_on_device(backend, logits, rules, positions, error));
    got = backend->picks->host.picks;
    for (int i = 0; i < logits.count; i++)
        if (got[i].state == CUDA_ROW_GOOD)
            picks[i] = pick_of(&got[i]);
        else
            TRY(pick_on_host(backend, logits_row(logits, i), rules, positions[i], &picks[i],
                             error));
    return DLLM_OK;
}

enum dllm_status gpu_cross_entropy_rows(struct backend *base, struct backend_rows logits,
                                        const int32_t *targets, double *losses,
                                        struct dllm_error *error)
{
    struct gpu_backend *backend = gpu_of(base);
    struct gpu_picks *room = backend->picks;
    size_t bytes = sizeof *losses * (size_t)logits.count;

    if (!gpu_ready(backend))
        return gpu_finish(backend, error);
    send_numbers(backend, targets, logits.count);
    gpu_check(backend,
              cuda_cross_entropy_rows(logits_row(logits, 0), logits.count, logits.buffer->width,
                                      room->device.numbers, room->device.losses, backend->stream),
              "cross entropies");
    copy(backend, room->host.losses, room->device.losses, bytes, cudaMemcpyDeviceToHost);
    TRY(gpu_finish(backend, error));
    memcpy(losses, room->host.losses, bytes);
    return DLLM_OK;
}
