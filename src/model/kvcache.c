/* kvcache.c: buffers of a canvas that outlive a pass. */
#include "kvcache.h"

#include <stdatomic.h>
#include <stdlib.h>

static int kept_layers(const struct backend *backend, const struct hparams *hparams,
                       bool all_layers)
{
    return all_layers ? hparams->layers : backend_is_host(backend);
}

uint64_t kvcache_bytes(const struct backend *backend, const struct hparams *h, int length,
                       bool all_layers)
{
    uint64_t layers = (uint64_t)kept_layers(backend, h, all_layers), queries = 0;

    if (backend_is_host(backend))
        queries = backend_buffer_bytes(backend, length, h->heads * h->head_dim);
    return queries + 2 * layers * backend_buffer_bytes(backend, length, h->kv_heads * h->head_dim) +
           sizeof(int32_t) * (uint64_t)length;
}

static enum dllm_status create_layers(struct kvcache *cache, struct backend *backend,
                                      const struct hparams *h, int length, struct dllm_error *error)
{
    int width = h->kv_heads * h->head_dim;

    for (int i = 0; i < cache->layers; i++) {
        TRY(backend_buffer_create(backend, length, width, &cache->k[i], error));
        TRY(backend_buffer_create(backend, length, width, &cache->v[i], error));
    }
    if (!backend_is_host(backend))
        return DLLM_OK;
    return backend_buffer_create(backend, length, h->heads * h->head_dim, &cache->q, error);
}

enum dllm_status kvcache_create(struct backend *backend, const struct hparams *hparams, int length,
                                bool all_layers, struct kvcache **out, struct dllm_error *error)
{
    enum dllm_status status = DLLM_OK;
    struct kvcache *cache = calloc(1, sizeof *cache);
    size_t layers = (size_t)kept_layers(backend, hparams, all_layers);
    static atomic_ulong serial;

    if (!cache)
        return status_no_memory(error, sizeof *cache);
    cache->backend = backend;
    cache->serial = atomic_fetch_add(&serial, 1) + 1;
    cache->layers = (int)layers;
    cache->k = calloc(layers + 1, sizeof *cache->k);
    cache->v = calloc(layers + 1, sizeof *cache->v);
    cache->ids = malloc(sizeof *cache->ids * (size_t)length);
    if (!cache->k || !cache->v || !cache->ids) {
        status = status_no_memory(error, layers * 2 * sizeof *cache->k +
                                             sizeof *cache->ids * (size_t)length);
        goto fail;
    }
    for (int i = 0; i < length; i++)
        cache->ids[i] = -1;
    TRY_GOTO(create_layers(cache, backend, hparams, length, error));
    *out = cache;
    return DLLM_OK;
fail:
    kvcache_destroy(cache);
    return status;
}

void kvcache_destroy(struct kvcache *cache)
{
    if (!cache)
        return;
    for (int i = 0; i < cache->layers; i++) {
        if (cache->k)
            backend_buffer_destroy(cache->backend, cache->k[i]);
        if (cache->v)
            backend_buffer_destroy(cache->backend, cache->v[i]);
    }
    backend_buffer_destroy(cache->backend, cache->q);
    free(cache->k);
    free(cache->v);
    free(cache->ids);
    free(cache);
}
