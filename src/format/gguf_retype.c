/* gguf_retype.c: see gguf_retype.h. Numbers are little endian, as the machine's
 * are. */
#include "gguf_retype.h"

#include "dtype.h"
#include "gguf_parse.h"

#include <stdlib.h>
#include <string.h>

/* Bytes that grow; failed: memory ran out, and nothing more is added. */
struct bytes {
    uint8_t *data;
    size_t size, capacity;
    bool failed;
};

static void put(struct bytes *out, const void *data, size_t size)
{
    if (out->capacity - out->size < size && !out->failed) {
        size_t capacity = 2 * (out->capacity + size);
        uint8_t *grown = realloc(out->data, capacity);

        out->failed = !grown;
        out->data = grown ? grown : out->data;
        out->capacity = grown ? capacity : out->capacity;
    }
    if (out->failed)
        return;
    if (size)
        memcpy(out->data + out->size, data, size);
    out->size += size;
}

static void put_u32(struct bytes *out, uint32_t value)
{
    put(out, &value, sizeof value);
}

static void put_u64(struct bytes *out, uint64_t value)
{
    put(out, &value, sizeof value);
}

static void put_string(struct bytes *out, struct dllm_string text)
{
    put_u64(out, text.size);
    put(out, text.data, text.size);
}

static void put_integer_key(struct bytes *out, const char *name, uint32_t value)
{
    put_string(out, (struct dllm_string){name, strlen(name)});
    put_u32(out, DLLM_VALUE_U32);
    put_u32(out, value);
}

static void put_value(struct bytes *out, const struct dllm_value *value)
{
    static const size_t sizes[] = {
        [DLLM_VALUE_U8] = 1,  [DLLM_VALUE_I8] = 1,  [DLLM_VALUE_U16] = 2, [DLLM_VALUE_I16] = 2,
        [DLLM_VALUE_U32] = 4, [DLLM_VALUE_I32] = 4, [DLLM_VALUE_F32] = 4, [DLLM_VALUE_BOOL] = 1,
        [DLLM_VALUE_U64] = 8, [DLLM_VALUE_I64] = 8, [DLLM_VALUE_F64] = 8};
    float single = (float)value->f;

    put_u32(out, value->type);
    if (value->type == DLLM_VALUE_STRING) {
        put_string(out, value->s);
    } else if (value->type == DLLM_VALUE_ARRAY) {
        put_u32(out, value->array.element_type);
        put_u64(out, value->array.count);
        put(out, value->array.bytes, value->array.size);
    } else if (value->type == DLLM_VALUE_F32) {
        put(out, &single, sizeof single);
    } else { /* low bytes of an integer, or a double */
        put(out, &value->u, sizes[value->type]);
    }
}

static bool is_carried(struct dllm_string name)
{
    static const char *const dropped[] = {"general.file_type", "general.quantization_version",
                                          "split.no", "split.count", "split.tensors.count"};

    for (size_t i = 0; i < ARRAY_COUNT(dropped); i++)
        if (name.size == strlen(dropped[i]) && memcmp(name.data, dropped[i], name.size) == 0)
            return false;
    return true;
}

static void put_keys(struct bytes *out, const struct dllm_file *file, uint32_t file_type)
{
    enum { QUANTIZATION_VERSION = 2 };

    for (size_t i = 0; i < file->key_count; i++)
        if (is_carried(file->keys[i].name)) {
            put_string(out, file->keys[i].name);
            put_value(out, &file->keys[i].value);
        }
    put_integer_key(out, "general.quantization_version", QUANTIZATION_VERSION);
    put_integer_key(out, "general.file_type", file_type);
}

uint64_t gguf_retyped_bytes(const struct dllm_tensor *tensor, uint32_t type)
{
    return dtype_row_bytes(type, tensor->shape[0]) * tensor->shape[1] * tensor->shape[2] *
           tensor->shape[3];
}

static void put_directory(struct bytes *out, const struct dllm_file *file, const uint32_t *types)
{
    uint64_t offset = 0;

    for (size_t i = 0; i < file->tensor_count; i++) {
        const struct dllm_tensor *tensor = &file->tensors[i];

        put_string(out, tensor->name);
        put_u32(out, tensor->dims);
        for (uint32_t k = 0; k < tensor->dims; k++)
            put_u64(out, tensor->shape[k]);
        put_u32(out, types[i]);
        put_u64(out, offset);
        offset += ROUND_UP(gguf_retyped_bytes(tensor, types[i]), file->alignment);
    }
}

enum dllm_status gguf_retype(const struct dllm_file *file, const uint32_t *types,
                             uint32_t file_type, struct gguf_head *out, struct dllm_error *error)
{
    static const uint8_t zero;
    struct bytes bytes = {0};
    uint64_t keys = 2;

    for (size_t i = 0; i < file->key_count; i++)
        keys += is_carried(file->keys[i].name);
    put(&bytes, "GGUF", 4);
    put_u32(&bytes, 3);
    put_u64(&bytes, file->tensor_count);
    put_u64(&bytes, keys);
    put_keys(&bytes, file, file_type);
    put_directory(&bytes, file, types);
    while (!bytes.failed && bytes.size % file->alignment != 0)
        put(&bytes, &zero, 1);
    *out = (struct gguf_head){bytes.data, bytes.size, file->alignment};
    if (!bytes.failed)
        return DLLM_OK;
    gguf_head_free(out);
    return status_no_memory(error, bytes.size);
}

void gguf_head_free(struct gguf_head *head)
{
    free(head->bytes);
    *head = (struct gguf_head){0};
}
