/*
 * model_data.c: see model_data.h.
 */
#include "model_data.h"

#include "test_paths.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

bool model_data_find(const char *file, char path[PATH_BYTES])
{
    char name[PATH_BYTES];
    const char *found;

    snprintf(name, sizeof name, "data/models/%s", file);
    found = test_shared_path(name);
    snprintf(path, PATH_BYTES, "%s", found ? found : test_data_path(name + strlen("data/")));
    return access(path, R_OK) == 0;
}

bool model_data_find_model(const char *name, const char *ending, char path[PATH_BYTES])
{
    char file[PATH_BYTES / 2];

    snprintf(file, sizeof file, "%s%s", name, ending);
    return model_data_find(file, path);
}

size_t model_data_read_ids(const char *text, int32_t ids[MAX_TOKENS])
{
    size_t count = 0;
    char *end;

    for (;; text = end + 1) {
        assert_true(count < MAX_TOKENS);
        ids[count++] = (int32_t)strtol(text, &end, 10);
        if (*end != ',')
            return count;
    }
}

static struct opened open_with(const struct dllm_engine_options *options)
{
    struct dllm_error error = {0};
    struct opened model;

    if (dllm_engine_open(options, &model.engine, &error) != DLLM_OK ||
        dllm_session_create(model.engine, &model.session, &error) != DLLM_OK)
        fail_msg("%s: %s", options->model_path, error.message);
    dllm_engine_info(model.engine, &model.info);
    return model;
}

struct opened model_data_open(const char *path, const char *level, int threads)
{
    const struct dllm_engine_options options = {
        .model_path = path, .threads = threads, .cpu_level = level};

    return open_with(&options);
}

struct opened model_data_open_on(const char *path, const char *device)
{
    const struct dllm_engine_options options = {.model_path = path, .threads = 2, .device = device};

    return open_with(&options);
}

struct opened model_data_open_shared(const char *path, const char *gpu_layers)
{
    const struct dllm_engine_options options = {
        .model_path = path, .threads = 2, .device = "gpu", .gpu_layers = gpu_layers};

    return open_with(&options);
}

void model_data_close(struct opened *model)
{
    dllm_session_destroy(model->session);
    dllm_engine_close(model->engine);
}

float *model_data_logits(const char *path, const char *level, int threads, const int32_t *ids,
                         size_t count)
{
    struct opened model = model_data_open(path, level, threads);
    struct dllm_error error = {0};
    int32_t rows[MAX_TOKENS];
    float *logits = calloc(count * (size_t)model.info.vocab, sizeof *logits);

    assert_non_null(logits);
    for (size_t i = 0; i < count; i++)
        rows[i] = (int32_t)i;
    if (dllm_logits(model.session, ids, count, rows, count, false, logits, &error) != DLLM_OK)
        fail_msg("%s: %s", path, error.message);
    model_data_close(&model);
    return logits;
}

/* The file NAME + ending, which is there when the model is. */
static void *read_beside(const char *name, const char *ending, size_t *size)
{
    char path[PATH_BYTES];
    uint8_t *bytes;

    if (!model_data_find_model(name, ending, path))
        fail_msg("%s%s is missing beside its model", name, ending);
    bytes = test_read_file(path, size);
    assert_non_null(bytes);
    return bytes;
}

void model_data_load_reference(const char *name, struct reference *out)
{
    size_t size;
    char *text = read_beside(name, ".tokens", &size);

    text[size] = '\0'; /* test_read_file leaves room for it */
    out->count = model_data_read_ids(text, out->ids);
    free(text);
    out->logits = read_beside(name, ".logits", &size);
    out->vocab = size / sizeof(float) / out->count;
    assert_int_equal(out->count * out->vocab * sizeof(float), size);
}
