/* kvcache.c: buffers of a canvas that outlive a pass. */
#include "kvcache.h"

#include <stdatomic.h>
#include <stdlib.h>

static int kept_layers(const struct placement *placement, const struct hparams *hparams,
                       bool all_layers)
{
    return all_layers ? hparams->layers : placement_is_host(placement);
}

uint64_t kvcache_bytes(const struct placement *placement, const struct backend *of,
                       const struct hparams *h, int length, bool all_layers)
{
    int layers = kept_layers(placement, h, all_layers);
    uint64_t bytes = 0;

    for (int i = 0; i < layers; i++) {
        const struct backend *backend = placement_of_layer(placement, i);

        if (!of || of == backend)
            bytes += 2 * backend_buffer_bytes(backend, length, h->kv_heads * h->head_dim);
    }
    if (placement_is_host(placement))
        bytes += backend_buffer_bytes(placement->main, length, h->heads * h->head_dim);
    if (!of || of == placement->main)
        bytes += sizeof(int32_t) * (uint64_t)length;
    return bytes;
}

static enum dllm_status create_layers(struct kvcache *cache, const struct hparams *h, int length,
                                      struct dllm_error *error)
{
    const struct placement *placement = &cache->placement;
    int width = h->kv_heads * h->head_dim;

    for (int i = 0; i < cache->layers; i++) {
        struct backend *backend = placement_of_layer(placement, i);

        TRY(backend_buffer_create(backend, length, width, &cache->k[i], error));
        TRY(backend_buffer_create(backend, length, width, &cache->v[i], error));
    }
    if (!placement_is_host(placement))
        return DLLM_OK;
    return backend_buffer_create(placement->main, length, h->heads * h->head_dim, &cache->q, error);
}

enum dllm_status kvcache_create(const struct placement *placement, const struct hparams *hparams,
                                int length, bool all_layers, struct kvcache **out,
                                struct dllm_error *error)
{
    enum dllm_status status = DLLM_OK;
    struct kvcache *cache = calloc(1, sizeof *cache);
    size_t layers = (size_t)kept_layers(placement, hparams, all_layers);
    static atomic_ulong serial;

    if (!cache)
        return status_no_memory(error, sizeof *cache);
    cache->placement = *placement;
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
    TRY_GOTO(create_layers(cache, hparams, length, error));
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
        struct backend *backend = placement_of_layer(&cache->placement, i);

        if (cache->k)
            backend_buffer_destroy(backend, cache->k[i]);
        if (cache->v)
            backend_buffer_destroy(backend, cache->v[i]);
    }
    backend_buffer_destroy(cache->placement.main, cache->q);
    free(cache->k);
    free(cache->v);
    free(cache->ids);
    free(cache);
}
