/* gpu_layers.c: how the layers of a model are shared out between a GPU and the CPU, and
 * what of it fits. */
#include "device.h"

#include "backend_cuda.h"
#include "shared.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Room that a model must leave for work: passes with a canvas of so many positions. */
enum { LEAST_CANVAS = 512 };

/* What a GPU needs that has the layers from `first` on. ranges: room for those of all. */
static struct backend_constants constants_from(const struct dllm_engine *engine,
                                               struct backend *gpu, int first,
                                               struct backend_range *ranges)
{
    const struct model *model = &engine->model;
    const struct placement place = {.main = gpu, .layers_before = first};
    const struct forward_limits canvas = shared_limits(engine, 1, LEAST_CANVAS);

    return (struct backend_constants){
        .ranges = ranges,
        .count = weights_constants(&model->weights, &model->hparams, first, ranges),
        .workspace = forward_bytes(&place, gpu, model, &canvas),
    };
}

/* Room for any of them; give to free. */
static enum dllm_status create_ranges(const struct dllm_engine *engine, struct backend_range **out,
                                      struct dllm_error *error)
{
    const struct model *model = &engine->model;
    size_t bytes =
        sizeof **out * (weights_constants(&model->weights, &model->hparams, 0, NULL) + 1);

    *out = malloc(bytes);
    return *out ? DLLM_OK : status_no_memory(error, bytes);
}

/* The first layer from which on the model fits; one more than there are: no part does. */
static int first_fitting(const struct dllm_engine *engine, struct backend *gpu,
                         struct backend_range *ranges)
{
    int first = 0;

    for (; first <= engine->model.hparams.layers; first++) {
        const struct backend_constants constants = constants_from(engine, gpu, first, ranges);

        if (backend_fits(gpu, &constants))
            break;
    }
    return first;
}

static uint64_t sum(const struct backend_constants *constants)
{
    uint64_t bytes = 0;

    for (size_t i = 0; i < constants->count; i++)
        bytes += constants->ranges[i].bytes;
    return bytes;
}

/* From what the caller says to the first layer that the GPU has. */
static enum dllm_status choose_first(const struct dllm_engine *engine, const char *layers,
                                     struct backend_range *ranges, int *first,
                                     struct dllm_error *error)
{
    const int all = engine->model.hparams.layers;
    int count;
    char end;

    *first = 0;
    if (!layers || strcmp(layers, "all") == 0)
        return DLLM_OK;
    if (strcmp(layers, "auto") == 0) {
        *first = MIN(first_fitting(engine, engine->place.main, ranges), all);
        return DLLM_OK;
    }
    if (strspn(layers, "0123456789") == strlen(layers) && strlen(layers) <= 9 &&
        sscanf(layers, "%d%c", &count, &end) == 1 && count <= all) {
        *first = all - count;
        return DLLM_OK;
    }
    return status_fail(
        error, DLLM_ERROR_USAGE,
        "the layers for the GPU are \"%.40s\"; a number from 0 to %d (as many as the "
        "model has), all or auto was expected",
        layers, all);
}

/* What would fit, behind the message that not all does. */
static void add_advice(const struct dllm_engine *engine, struct backend_range *ranges,
                       struct dllm_error *error)
{
    int layers = engine->model.hparams.layers - first_fitting(engine, engine->place.main, ranges);
    size_t used = error ? strlen(error->message) : 0;

    if (error && layers >= 0)
        snprintf(error->message + used, sizeof error->message - used,
                 "; %d of %d layers would fit (--gpu-layers %d)", layers,
                 engine->model.hparams.layers, layers);
}

static enum dllm_status load(struct dllm_engine *engine, const struct dllm_engine_options *options,
                             struct backend_range *ranges, struct dllm_error *error)
{
    struct backend *gpu = engine->place.main;
    struct backend_constants constants = constants_from(engine, gpu, 0, ranges);
    uint64_t all = sum(&constants);
    enum dllm_status status;
    bool fits;

    TRY(choose_first(engine, options->gpu_layers, ranges, &engine->place.layers_before, error));
    if (engine->place.layers_before == 0)
        TRY(engine_refuse_level(options->cpu_level, error));
    constants = constants_from(engine, gpu, engine->place.layers_before, ranges);
    constants.report = options->on_read;
    constants.context = options->context;
    engine->host_bytes = all - sum(&constants);
    fits = backend_fits(gpu, &constants);
    status = backend_load(gpu, &constants, error);
    if (status == DLLM_ERROR_DEVICE && !fits)
        add_advice(engine, ranges, error);
    return status;
}

enum dllm_status engine_load_gpu(struct dllm_engine *engine,
                                 const struct dllm_engine_options *options,
                                 struct dllm_error *error)
{
    struct backend_range *ranges;
    enum dllm_status status;

    TRY(create_ranges(engine, &ranges, error));
    status = load(engine, options, ranges, error);
    free(ranges);
    TRY(status);
    if (engine->place.layers_before == 0)
        return DLLM_OK;
    return engine_create_cpu(options->threads, options->cpu_level, &engine->place.before, error);
}

enum dllm_status dllm_gpu_layers_fitting(const struct dllm_engine *engine, int index, int *out,
                                         struct dllm_error *error)
{
    struct backend_range *ranges;
    struct backend *gpu;
    enum dllm_status status;

    *out = 0;
    if (engine->vocab_only)
        return DLLM_OK;
    TRY(backend_cuda_create(index, 1, &gpu, error));
    status = create_ranges(engine, &ranges, error);
    if (status == DLLM_OK) {
        *out = engine->model.hparams.layers - first_fitting(engine, gpu, ranges);
        free(ranges);
    }
    backend_destroy(gpu);
    return status;
}
