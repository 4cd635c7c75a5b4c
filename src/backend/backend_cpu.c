/*
 * backend_cpu.c: the CPU backend's life: threads, kernels, buffers, scratch.
 * Nothing is allocated by an operation; backend_reserve has sized everything.
 */
#include "backend_cpu.h"

#include "clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PAGE = 4096 };

static enum dllm_status choose_level(const char *name, enum cpu_level *out,
                                     struct dllm_error *error)
{
    char usable[64] = "";

    *out = cpu_level_best();
    if (!name)
        return DLLM_OK;
    if (cpu_level_parse(name, out) && cpu_level_available(*out))
        return DLLM_OK;
    for (int level = 0; level < CPU_LEVELS; level++)
        if (cpu_level_available((enum cpu_level)level)) {
            size_t at = strlen(usable);

            snprintf(usable + at, sizeof usable - at, "%s%s", at ? ", " : "",
                     cpu_level_name((enum cpu_level)level));
        }
    return status_fail(error, DLLM_ERROR_USAGE, "CPU level '%s' %s; this machine has %s", name,
                       cpu_level_parse(name, out) ? "cannot run here" : "does not exist", usable);
}

static void destroy(struct backend *base)
{
    struct cpu_backend *backend = cpu_of(base);

    pool_destroy(backend->pool);
    free(backend->scratch);
    free(backend->turned_keys);
    free(backend);
}

static const char *device_name(const struct backend *base)
{
    (void)base;
    return "cpu";
}

static const char *level_name(const struct backend *base)
{
    const struct cpu_backend *backend = (const struct cpu_backend *)base;

    return cpu_level_name(backend->level);
}

static int threads(const struct backend *base)
{
    const struct cpu_backend *backend = (const struct cpu_backend *)base;

    return pool_threads(backend->pool);
}

/* At least a page lies between what two workers write: hardware prefetches past
 * the end of a stream and would fetch the neighbour's lines while it writes them. */
static size_t worker_scratch_bytes(const struct backend_limits *limits)
{
    size_t bytes = matmul_scratch_bytes(limits->rows);

    bytes = MAX(bytes, sizeof(float) * (size_t)limits->width);
    bytes = MAX(bytes, attention_scratch_bytes(limits->head_dim));
    bytes = MAX(bytes, pick_scratch_bytes(limits->vocab));
    return ROUND_UP(bytes + PAGE, (size_t)PAGE);
}

static size_t turned_keys_bytes(const struct backend_limits *limits)
{
    return sizeof(float) * (size_t)limits->kv_heads * (size_t)limits->head_dim *
           (size_t)ROUND_UP(limits->keys, ATTENTION_KEY_PAD);
}

static uint64_t reserve_bytes(const struct backend *base, const struct backend_limits *limits)
{
    return (uint64_t)threads(base) * worker_scratch_bytes(limits) + turned_keys_bytes(limits);
}

static enum dllm_status reserve(struct backend *base, const struct backend_limits *limits,
                                struct dllm_error *error)
{
    struct cpu_backend *backend = cpu_of(base);
    const struct backend_limits *old = &backend->limits;
    struct backend_limits grown = {
        .rows = MAX(old->rows, limits->rows),
        .width = MAX(old->width, limits->width),
        .keys = MAX(old->keys, limits->keys),
        .kv_heads = MAX(old->kv_heads, limits->kv_heads),
        .head_dim = MAX(old->head_dim, limits->head_dim),
        .vocab = MAX(old->vocab, limits->vocab),
    };
    size_t scratch_bytes = worker_scratch_bytes(&grown);
    size_t workers = (size_t)pool_threads(backend->pool);
    char *scratch = aligned_alloc(PAGE, workers * scratch_bytes);
    size_t keys_bytes = turned_keys_bytes(&grown);
    float *keys = aligned_alloc(CACHE_LINE, ROUND_UP(keys_bytes, (size_t)CACHE_LINE));

    if (!scratch || !keys) {
        free(scratch);
        free(keys);
        return status_no_memory(error, workers * scratch_bytes + keys_bytes);
    }
    free(backend->scratch);
    free(backend->turned_keys);
    backend->scratch = scratch;
    backend->scratch_bytes = scratch_bytes;
    backend->turned_keys = keys;
    backend->limits = grown;
    return DLLM_OK;
}

static uint64_t buffer_bytes(const struct backend *base, int rows, int width)
{
    (void)base;
    return ROUND_UP(sizeof(float) * (uint64_t)rows * (uint64_t)width, CACHE_LINE);
}

static enum dllm_status buffer_create(struct backend *base, int rows, int width,
                                      struct backend_buffer **out, struct dllm_error *error)
{
    uint64_t bytes = buffer_bytes(base, rows, width);
    struct backend_buffer *buffer = malloc(sizeof *buffer);

    if (!buffer)
        return status_no_memory(error, sizeof *buffer);
    *buffer = (struct backend_buffer){rows, width, aligned_alloc(CACHE_LINE, bytes)};
    if (!buffer->data) {
        free(buffer);
        return status_no_memory(error, bytes);
    }
    *out = buffer;
    return DLLM_OK;
}

static void buffer_destroy(struct backend *base, struct backend_buffer *buffer)
{
    (void)base;
    free(buffer->data);
    free(buffer);
}

unsigned backend_cpu_forms(uint64_t types)
{
    unsigned forms = 0;

    for (uint32_t type = 0; type < DTYPE_LIMIT; type++)
        if (types >> type & 1)
            forms |= activation_form_of(type);
    return forms;
}

static uint64_t activation_room(const struct backend *base, int rows, int width, uint64_t types)
{
    (void)base;
    return ROUND_UP(activations_bytes(rows, width, backend_cpu_forms(types)), CACHE_LINE);
}

static enum dllm_status activations_create(struct backend *base, int rows, int width,
                                           uint64_t types, struct backend_activations **out,
                                           struct dllm_error *error)
{
    uint64_t bytes = activation_room(base, rows, width, types);
    struct backend_activations *activations = calloc(1, sizeof *activations);

    if (!activations)
        return status_no_memory(error, sizeof *activations);
    activations->storage = aligned_alloc(CACHE_LINE, bytes);
    if (!activations->storage) {
        free(activations);
        return status_no_memory(error, bytes);
    }
    *out = activations;
    return DLLM_OK;
}

static void activations_destroy(struct backend *base, struct backend_activations *activations)
{
    (void)base;
    free(activations->storage);
    free(activations);
}

static enum dllm_status buffer_read(struct backend *base, const struct backend_buffer *buffer,
                                    int row, int count, float *out, struct dllm_error *error)
{
    (void)base;
    (void)error;
    memcpy(out, buffer->data + (size_t)row * (size_t)buffer->width,
           sizeof(float) * (size_t)count * (size_t)buffer->width);
    return DLLM_OK;
}

static void buffer_write(struct backend *base, struct backend_buffer *buffer, int row, int count,
                         const float *values)
{
    (void)base;
    memcpy(row_of(buffer, row), values, sizeof(float) * (size_t)count * (size_t)buffer->width);
}

static enum dllm_status lists_create(struct backend *base, size_t count, int32_t **out,
                                     struct dllm_error *error)
{
    (void)base;
    *out = malloc(sizeof **out * count);
    return *out ? DLLM_OK : status_no_memory(error, sizeof **out * count);
}

static void lists_destroy(struct backend *base, int32_t *lists)
{
    (void)base;
    free(lists);
}

/* They are read where they were written. */
static void lists_send(struct backend *base, const int32_t *values, int count)
{
    (void)base;
    (void)values;
    (void)count;
}

/* Constants are read where they are. */
static enum dllm_status load(struct backend *base, const struct backend_constants *constants,
                             struct dllm_error *error)
{
    (void)base;
    (void)constants;
    (void)error;
    return DLLM_OK;
}

static bool fits(struct backend *base, const struct backend_constants *constants)
{
    (void)base;
    (void)constants;
    return true;
}

/* An operation is done when its call returns. */
static enum dllm_status wait_for_nothing(struct backend *base, struct dllm_error *error)
{
    (void)base;
    (void)error;
    return DLLM_OK;
}

/* Operations are done, not queued: there is nothing to record. */
static enum dllm_status recordings_create(struct backend *base, struct backend_recordings **out,
                                          struct dllm_error *error)
{
    (void)base;
    (void)error;
    *out = NULL;
    return DLLM_OK;
}

static void recordings_destroy(struct backend *base, struct backend_recordings *recordings)
{
    (void)base;
    (void)recordings;
}

static bool replay(struct backend *base, struct backend_recordings *recordings, const void *key,
                   size_t key_bytes)
{
    (void)base;
    (void)recordings;
    (void)key;
    (void)key_bytes;
    return false;
}

static bool record_end(struct backend *base, struct backend_recordings *recordings)
{
    (void)base;
    (void)recordings;
    return true;
}

void *backend_cpu_scratch(const struct cpu_backend *backend, int worker)
{
    return backend->scratch + (size_t)worker * backend->scratch_bytes;
}

void backend_cpu_run(struct cpu_backend *backend, int items, pool_item *item, void *context,
                     double *seconds)
{
    double start = clock_seconds();

    pool_run(backend->pool, items, item, context);
    *seconds += clock_seconds() - start;
}

static const struct backend_ops cpu_ops = {
    .is_host = true,
    .device_name = device_name,
    .level_name = level_name,
    .threads = threads,
    .ceiling = cpu_ceiling,
    .bandwidth = cpu_bandwidth,
    .destroy = destroy,
    .load = load,
    .fits = fits,
    .wait = wait_for_nothing,
    .reserve = reserve,
    .reserve_bytes = reserve_bytes,
    .buffer_bytes = buffer_bytes,
    .buffer_create = buffer_create,
    .buffer_destroy = buffer_destroy,
    .buffer_read = buffer_read,
    .buffer_write = buffer_write,
    .lists_create = lists_create,
    .lists_destroy = lists_destroy,
    .lists_send = lists_send,
    .activations_bytes = activation_room,
    .activations_create = activations_create,
    .activations_destroy = activations_destroy,
    .routing_bytes = cpu_routing_bytes,
    .routing_create = cpu_routing_create,
    .routing_destroy = cpu_routing_destroy,
    .visits_bytes = cpu_visits_bytes,
    .visits_create = cpu_visits_create,
    .visits_destroy = cpu_visits_destroy,
    .recordings_create = recordings_create,
    .recordings_destroy = recordings_destroy,
    .replay = replay,
    .record_end = record_end,
    .embed = cpu_embed,
    .gather = cpu_gather,
    .scatter = cpu_scatter,
    .rope = cpu_rope,
    .attention = cpu_attention,
    .prepare = cpu_prepare,
    .prepare_gated = cpu_prepare_gated,
    .matmul = cpu_matmul,
    .route = cpu_route,
    .prepare_visits = cpu_prepare_visits,
    .prepare_gated_visits = cpu_prepare_gated_visits,
    .matmul_visits = cpu_matmul_visits,
    .mix_visits = cpu_mix_visits,
    .guide = cpu_guide,
    .pick_rows = cpu_pick_rows,
    .cross_entropy_rows = cpu_cross_entropy_rows,
};

enum dllm_status backend_cpu_create(int threads, const char *cpu_level, struct backend **out,
                                    struct dllm_error *error)
{
    enum dllm_status status;
    struct cpu_backend *backend = calloc(1, sizeof *backend);

    if (!backend)
        return status_no_memory(error, sizeof *backend);
    backend->base.ops = &cpu_ops;
    TRY_GOTO(choose_level(cpu_level, &backend->level, error));
    TRY_GOTO(pool_create(threads, &backend->pool, error));
    cpu_kernels_init(&backend->kernels, backend->level);
    *out = &backend->base;
    return DLLM_OK;
fail:
    destroy(&backend->base);
    return status;
}
