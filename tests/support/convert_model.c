/*
 * convert_model.c: see convert_model.h. Keys are copied as the bytes they are in
 * the mapped file.
 */
#include "convert_model.h"
#include "dtype.h"
#include "gguf_writer.h"
#include "half.h"
#include "kernels.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_BYTES = 256 };

static const char *terminated(struct dllm_string name, char out[NAME_BYTES])
{
    snprintf(out, NAME_BYTES, "%.*s", (int)name.size, name.data);
    return out;
}

/* A value's bytes lie between its kind, which follows the name, and the length
 * of the name that comes next: `next` is that name's first byte. */
static void copy_key(struct gguf_writer *out, const struct dllm_key *key, const char *next)
{
    const char *payload = key->name.data + key->name.size + sizeof(uint32_t);
    size_t bytes = (size_t)(next - sizeof(uint64_t) - payload);
    char name[NAME_BYTES];

    gguf_write_value(out, terminated(key->name, name), key->value.type, payload, bytes);
}

static uint16_t to_half(float value, bool brain)
{
    return brain ? bfloat_from_float(value) : half_from_float(value);
}

static void put_matrix(struct gguf_writer *out, const struct dllm_tensor *tensor,
                       enum convert_kind kind)
{
    bool brain = kind == CONVERT_BF16 || kind == CONVERT_F32_ROUNDED_BF16;
    bool rounded = kind == CONVERT_F32_ROUNDED_F16 || kind == CONVERT_F32_ROUNDED_BF16;
    uint32_t type = rounded ? DTYPE_F32 : brain ? DTYPE_BF16 : DTYPE_F16;
    size_t count = tensor->size / sizeof(float);
    const float *values = tensor->data;
    char name[NAME_BYTES];
    float *floats = malloc(tensor->size);
    uint16_t *halves = malloc(tensor->size / 2);

    if (!floats || !halves)
        abort();
    for (size_t i = 0; i < count; i++) {
        halves[i] = to_half(values[i], brain);
        floats[i] = brain ? bfloat_to_float(halves[i]) : half_to_float(halves[i]);
    }
    gguf_write_tensor(out, terminated(tensor->name, name), type, tensor->shape[0], tensor->shape[1],
                      rounded ? (const void *)floats : halves);
    free(floats);
    free(halves);
}

/* The values of a matrix, malloc'ed. */
static float *expand(const struct dllm_tensor *tensor)
{
    size_t width = tensor->shape[0], rows = tensor->shape[1];
    size_t row_bytes = dtype_row_bytes(tensor->type, width);
    float *floats = malloc(sizeof(float) * width * rows);

    if (!floats)
        abort();
    for (size_t r = 0; r < rows; r++)
        dequantize_row(tensor->type, (const char *)tensor->data + r * row_bytes, (int)width,
                       floats + r * width);
    return floats;
}

static void put_expanded(struct gguf_writer *out, const struct dllm_tensor *tensor)
{
    float *floats = expand(tensor);
    char name[NAME_BYTES];

    gguf_write_tensor(out, terminated(tensor->name, name), DTYPE_F32, tensor->shape[0],
                      tensor->shape[1], floats);
    free(floats);
}

static void put_encoded(struct gguf_writer *out, const struct dllm_tensor *tensor, uint32_t type,
                        convert_encode *encode)
{
    size_t width = tensor->shape[0], rows = tensor->shape[1];
    float *floats = expand(tensor);
    void *blocks = malloc(dtype_row_bytes(type, width) * rows);
    char name[NAME_BYTES];

    if (!blocks || encode(type, floats, (int64_t)rows, (int64_t)width, blocks))
        abort();
    gguf_write_tensor(out, terminated(tensor->name, name), type, width, rows, blocks);
    free(blocks);
    free(floats);
}

static void put_tensor(struct gguf_writer *out, const struct dllm_tensor *tensor,
                       enum convert_kind kind)
{
    char name[NAME_BYTES];

    if (tensor->dims == 2 && kind == CONVERT_EXPANDED)
        put_expanded(out, tensor);
    else if (tensor->dims == 2)
        put_matrix(out, tensor, kind);
    else
        gguf_write_tensor(out, terminated(tensor->name, name), tensor->type, tensor->shape[0], 1,
                          tensor->data);
}

/* Opens the file at path and a writer with its keys; NULL when it cannot be
 * read. */
static struct gguf_writer *start(const char *path, struct dllm_file **in)
{
    const struct dllm_key *alignment;
    struct gguf_writer *out;
    size_t keys;

    if (dllm_file_open(path, in, NULL) != DLLM_OK)
        return NULL;
    alignment = dllm_file_find_key(*in, "general.alignment"); /* the writer puts it anew */
    out = gguf_writer_create(3, alignment ? (uint32_t)alignment->value.u : 32);
    keys = dllm_file_key_count(*in);
    for (size_t i = 0; i < keys; i++) {
        if (dllm_file_key(*in, i) == alignment)
            continue;
        copy_key(out, dllm_file_key(*in, i),
                 i + 1 < keys ? dllm_file_key(*in, i + 1)->name.data
                              : dllm_file_tensor(*in, 0)->name.data);
    }
    return out;
}

bool convert_model(const char *in_path, const char *out_path, enum convert_kind kind)
{
    struct dllm_file *in;
    struct gguf_writer *out = start(in_path, &in);

    if (!out)
        return false;
    for (size_t i = 0; i < dllm_file_tensor_count(in); i++)
        put_tensor(out, dllm_file_tensor(in, i), kind);
    dllm_file_close(in);
    return gguf_writer_save(out, out_path);
}

bool convert_model_encoded(const char *in_path, const char *out_path, uint32_t type,
                           convert_encode *encode)
{
    struct dllm_file *in;
    struct gguf_writer *out = start(in_path, &in);

    if (!out)
        return false;
    for (size_t i = 0; i < dllm_file_tensor_count(in); i++) {
        const struct dllm_tensor *tensor = dllm_file_tensor(in, i);

        if (tensor->dims == 2 && tensor->shape[0] % dtype_info(type)->block_weights == 0)
            put_encoded(out, tensor, type, encode);
        else
            put_tensor(out, tensor, CONVERT_EXPANDED);
    }
    dllm_file_close(in);
    return gguf_writer_save(out, out_path);
}
