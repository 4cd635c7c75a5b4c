/* device.c: from the name of a device to the backend that computes. */
#include "device.h"

#include "backend_cuda.h"
#include "pool.h"

#include <stdio.h>
#include <string.h>

enum choice { CHOICE_CPU, CHOICE_GPU, CHOICE_AUTO };

/* A name; *gpu is the number of "gpu:N", 0 without one. */
static enum dllm_status parse(const char *name, enum choice *choice, int *gpu,
                              struct dllm_error *error)
{
    char end;

    *gpu = 0;
    *choice = CHOICE_CPU;
    if (!name || strcmp(name, "cpu") == 0)
        return DLLM_OK;
    *choice = CHOICE_AUTO;
    if (strcmp(name, "auto") == 0)
        return DLLM_OK;
    *choice = CHOICE_GPU;
    if (strcmp(name, "gpu") == 0)
        return DLLM_OK;
    if (strncmp(name, "gpu:", 4) == 0 && strspn(name + 4, "0123456789") == strlen(name + 4) &&
        strlen(name + 4) <= 4 && sscanf(name + 4, "%d%c", gpu, &end) == 1)
        return DLLM_OK;
    return status_fail(error, DLLM_ERROR_USAGE,
                       "the device is \"%.40s\"; cpu, gpu, gpu:N (the number of a GPU, from 0) or "
                       "auto was expected",
                       name);
}

enum dllm_status engine_create_cpu(int threads, const char *cpu_level, struct backend **out,
                                   struct dllm_error *error)
{
    TRY(pool_count_threads(threads, &threads, error));
    return backend_cpu_create(threads, cpu_level, out, error);
}

enum dllm_status engine_refuse_level(const char *cpu_level, struct dllm_error *error)
{
    if (!cpu_level)
        return DLLM_OK;
    return status_fail(error, DLLM_ERROR_USAGE,
                       "a CPU level (%s) has no effect on a GPU; leave it out, or compute on the "
                       "CPU (--device cpu)",
                       cpu_level);
}

enum dllm_status engine_create_backend(const char *device, int threads, const char *cpu_level,
                                       struct backend **out, struct dllm_error *error)
{
    enum choice choice;
    int gpu;

    TRY(parse(device, &choice, &gpu, error));
    TRY(pool_count_threads(threads, &threads, error));
    if (choice == CHOICE_AUTO && !cpu_level &&
        backend_cuda_create(0, threads, out, NULL) == DLLM_OK)
        return DLLM_OK;
    if (choice != CHOICE_GPU)
        return engine_create_cpu(threads, cpu_level, out, error);
    TRY(engine_refuse_level(cpu_level, error));
    return backend_cuda_create(gpu, threads, out, error);
}

static enum dllm_status create_gpu(struct dllm_engine *engine, int gpu,
                                   const struct dllm_engine_options *options,
                                   struct dllm_error *error)
{
    enum dllm_status status;
    int threads;

    TRY(pool_count_threads(options->threads, &threads, error));
    TRY(backend_cuda_create(gpu, threads, &engine->place.main, error));
    TRY_GOTO(engine_load_gpu(engine, options, error));
    return DLLM_OK;
fail:
    backend_destroy(engine->place.main);
    engine->place = (struct placement){0};
    return status;
}

/* The CPU computes all of it. */
static enum dllm_status create_host(struct dllm_engine *engine,
                                    const struct dllm_engine_options *options,
                                    struct dllm_error *error)
{
    return engine_create_cpu(options->threads, options->cpu_level, &engine->place.main, error);
}

/* Why it is the CPU: the part of the message before what to do about it. */
static void keep_reason(struct dllm_engine *engine, const char *message)
{
    snprintf(engine->device_note, sizeof engine->device_note, "%.*s", (int)strcspn(message, ";"),
             message);
}

/* A GPU if one can be used, unless the caller has wishes about the CPU. */
static enum dllm_status create_auto(struct dllm_engine *engine,
                                    const struct dllm_engine_options *options,
                                    struct dllm_error *error)
{
    struct dllm_error reason = {0};

    if (options->cpu_level)
        keep_reason(engine, "a CPU level was asked for");
    else if (create_gpu(engine, 0, options, &reason) == DLLM_OK)
        return DLLM_OK;
    else if (reason.status == DLLM_ERROR_USAGE)
        return status_fail(error, reason.status, "%s", reason.message);
    else
        keep_reason(engine, reason.message);
    return create_host(engine, options, error);
}

static enum dllm_status create(struct dllm_engine *engine,
                               const struct dllm_engine_options *options, struct dllm_error *error)
{
    enum choice choice;
    int gpu;

    TRY(parse(options->device, &choice, &gpu, error));
    if (choice == CHOICE_CPU && options->gpu_layers)
        return status_fail(error, DLLM_ERROR_USAGE,
                           "layers for a GPU (%.40s) have no effect on the CPU; leave that out, or "
                           "compute on a GPU (--device gpu)",
                           options->gpu_layers);
    if (choice == CHOICE_CPU)
        return create_host(engine, options, error);
    if (choice == CHOICE_AUTO && !options->gpu_layers)
        return create_auto(engine, options, error);
    return create_gpu(engine, gpu, options, error);
}

/* For those who ask what computes. */
static void name_device(struct dllm_engine *engine)
{
    const struct placement *place = &engine->place;
    const int all = engine->model.hparams.layers;
    const char *device = backend_device_name(place->main), *level = backend_level_name(place->main);

    snprintf(engine->device, sizeof engine->device, "%s", device);
    snprintf(engine->level, sizeof engine->level, "%s", level);
    if (!place->before)
        return;
    snprintf(engine->device, sizeof engine->device, "%s (%d of %d layers)", device,
             all - place->layers_before, all);
    snprintf(engine->level, sizeof engine->level, "%s + %s", level,
             backend_level_name(place->before));
}

enum dllm_status engine_create_device(struct dllm_engine *engine,
                                      const struct dllm_engine_options *options,
                                      struct dllm_error *error)
{
    TRY(create(engine, options, error));
    name_device(engine);
    return DLLM_OK;
}

enum dllm_status dllm_device_check(const char *device, struct dllm_error *error)
{
    struct dllm_gpu unused;
    enum choice choice;
    int gpu;

    TRY(parse(device, &choice, &gpu, error));
    return choice == CHOICE_GPU ? backend_cuda_describe(gpu, &unused, error) : DLLM_OK;
}

enum dllm_status dllm_gpu_count(int *out, struct dllm_error *error)
{
    return backend_cuda_count(out, error);
}

enum dllm_status dllm_gpu_describe(int index, struct dllm_gpu *out, struct dllm_error *error)
{
    return backend_cuda_describe(index, out, error);
}
