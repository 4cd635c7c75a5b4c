/* describe.c: what a model file calls itself and what its weights are made of. */
#include "engine.h"

#include "dtype.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A copy of a string value, cut at the first NUL; NULL without memory. */
static char *copy_string(const struct dllm_file *file, const char *key, const char *fallback)
{
    const struct dllm_key *found = dllm_file_find_key(file, key);

    if (!found || found->value.type != DLLM_VALUE_STRING || found->value.s.size == 0)
        return strdup(fallback);
    return strndup(found->value.s.data, found->value.s.size);
}

/* Bytes of matrices by type. */
static void sum_types(const struct dllm_file *file, uint64_t bytes[DTYPE_LIMIT])
{
    for (size_t i = 0; i < dllm_file_tensor_count(file); i++) {
        const struct dllm_tensor *tensor = dllm_file_tensor(file, i);
        if (tensor->dims >= 2 && tensor->type < DTYPE_LIMIT)
            bytes[tensor->type] += tensor->size;
    }
}

static int largest(const uint64_t bytes[DTYPE_LIMIT])
{
    int best = 0;

    for (int i = 1; i < DTYPE_LIMIT; i++)
        if (bytes[i] > bytes[best])
            best = i;
    return bytes[best] ? best : -1;
}

/* "Q4_K + Q6_K": the types of matrices, most bytes first. */
static void describe_types(const struct dllm_file *file, char *out, size_t size)
{
    uint64_t bytes[DTYPE_LIMIT] = {0};
    int type;

    sum_types(file, bytes);
    out[0] = 0;
    while ((type = largest(bytes)) >= 0) {
        const char *name = dllm_type_name((uint32_t)type);
        snprintf(out + strlen(out), size - strlen(out), "%s%s", out[0] ? " + " : "",
                 name ? name : "?");
        bytes[type] = 0;
    }
}

enum dllm_status engine_describe(struct dllm_engine *engine, struct dllm_error *error)
{
    engine->name = copy_string(engine->file, "general.name", "unnamed");
    engine->architecture = copy_string(engine->file, "general.architecture", "unknown");
    if (!engine->name || !engine->architecture)
        return status_no_memory(error, 64);
    describe_types(engine->file, engine->quantization, sizeof engine->quantization);
    return DLLM_OK;
}
