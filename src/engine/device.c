/* device.c: from the name of a device to the backend that computes. */
#include "device.h"

#include "backend_cuda.h"
#include "machine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* More threads than any machine has cores are a mistake that would exhaust it. */
enum { THREADS_MOST = 1024 };

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

static enum dllm_status count_threads(int asked, int *out, struct dllm_error *error)
{
    *out = asked ? asked : machine_usable_cores();
    if (asked >= 0 && asked <= THREADS_MOST)
        return DLLM_OK;
    return status_fail(error, DLLM_ERROR_USAGE,
                       "threads is %d; 1 to %d, or 0 for all cores, was expected", asked,
                       THREADS_MOST);
}

enum dllm_status engine_create_cpu(int threads, const char *cpu_level, struct backend **out,
                                   struct dllm_error *error)
{
    TRY(count_threads(threads, &threads, error));
    return backend_cpu_create(threads, cpu_level, out, error);
}

/* Room that a model must leave for work: a canvas of so many positions. */
enum { LEAST_CANVAS = 512, LEAST_ROWS = 64 };

/* Copies the weights to the backend's device. */
static enum dllm_status load(const struct dllm_engine *engine,
                             const struct dllm_engine_options *options, struct dllm_error *error)
{
    const struct model *model = &engine->model;
    struct forward_limits canvas = {.canvases = 1, .length = LEAST_CANVAS};
    struct backend_constants constants = {.report = options->on_read, .context = options->context};
    struct backend_range *ranges;
    enum dllm_status status;

    canvas.rows = engine_chunk_rows(engine, LEAST_ROWS);
    constants.workspace = forward_bytes(engine->backend, model, &canvas);
    constants.count = weights_constants(&model->weights, &model->hparams, NULL);
    ranges = malloc(constants.count * sizeof *ranges);
    if (!ranges)
        return status_no_memory(error, constants.count * sizeof *ranges);
    weights_constants(&model->weights, &model->hparams, ranges);
    constants.ranges = ranges;
    status = backend_load(engine->backend, &constants, error);
    free(ranges);
    return status;
}

static enum dllm_status create_gpu(struct dllm_engine *engine, int gpu,
                                   const struct dllm_engine_options *options,
                                   struct dllm_error *error)
{
    enum dllm_status status;
    int threads;

    TRY(count_threads(options->threads, &threads, error));
    TRY(backend_cuda_create(gpu, threads, &engine->backend, error));
    TRY_GOTO(load(engine, options, error));
    return DLLM_OK;
fail:
    backend_destroy(engine->backend);
    engine->backend = NULL;
    return status;
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
    return engine_create_cpu(options->threads, options->cpu_level, &engine->backend, error);
}

enum dllm_status engine_create_device(struct dllm_engine *engine,
                                      const struct dllm_engine_options *options,
                                      struct dllm_error *error)
{
    enum choice choice;
    int gpu;

    TRY(parse(options->device, &choice, &gpu, error));
    if (choice == CHOICE_AUTO)
        return create_auto(engine, options, error);
    if (choice == CHOICE_CPU)
        return engine_create_cpu(options->threads, options->cpu_level, &engine->backend, error);
    if (options->cpu_level)
        return status_fail(error, DLLM_ERROR_USAGE,
                           "a CPU level (%s) has no effect on a GPU; leave it out, or compute on "
                           "the CPU (--device cpu)",
                           options->cpu_level);
    return create_gpu(engine, gpu, options, error);
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
