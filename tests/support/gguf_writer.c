/* gguf_writer.c: keys, directory and data grow apart and are joined at the end. */
#include "gguf_writer.h"

#include "dtype.h"
#include "test_bytes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct gguf_writer {
    uint32_t version, alignment;
    uint64_t key_count, tensor_count;
    struct test_bytes keys, directory, data;
};

struct gguf_writer *gguf_writer_create(uint32_t version, uint32_t alignment)
{
    struct gguf_writer *writer = calloc(1, sizeof *writer);

    if (!writer)
        exit(1);
    writer->version = version;
    writer->alignment = alignment;
    if (alignment != 32)
        gguf_write_integer(writer, "general.alignment", DLLM_VALUE_U32, alignment);
    return writer;
}

uint8_t *gguf_writer_finish(struct gguf_writer *writer, size_t *size)
{
    struct test_bytes file = {0};

    test_bytes_append(&file, "GGUF", 4);
    test_bytes_u32(&file, writer->version);
    test_bytes_u64(&file, writer->tensor_count);
    test_bytes_u64(&file, writer->key_count);
    test_bytes_append(&file, writer->keys.data, writer->keys.size);
    test_bytes_append(&file, writer->directory.data, writer->directory.size);
    if (writer->tensor_count > 0)
        test_bytes_pad(&file, writer->alignment);
    test_bytes_append(&file, writer->data.data, writer->data.size);
    free(writer->keys.data);
    free(writer->directory.data);
    free(writer->data.data);
    free(writer);
    *size = file.size;
    return file.data;
}

bool gguf_writer_save(struct gguf_writer *writer, const char *path)
{
    size_t size;
    uint8_t *bytes = gguf_writer_finish(writer, &size);
    FILE *file = fopen(path, "wb");
    bool saved = file && fwrite(bytes, 1, size, file) == size;

    if (file && fclose(file) != 0)
        saved = false;
    free(bytes);
    return saved;
}

static void write_key(struct gguf_writer *writer, const char *key, enum dllm_value_type type)
{
    writer->key_count++;
    test_bytes_string(&writer->keys, key, strlen(key));
    test_bytes_u32(&writer->keys, type);
}

static size_t integer_bytes(enum dllm_value_type type)
{
    switch (type) {
    case DLLM_VALUE_U16:
    case DLLM_VALUE_I16:
        return 2;
    case DLLM_VALUE_U32:
    case DLLM_VALUE_I32:
    case DLLM_VALUE_F32:
        return 4;
    case DLLM_VALUE_U64:
    case DLLM_VALUE_I64:
    case DLLM_VALUE_F64:
        return 8;
    default:
        return 1;
    }
}

void gguf_write_integer(struct gguf_writer *writer, const char *key, enum dllm_value_type type,
                        int64_t value)
{
    struct test_bytes *keys = &writer->keys;

    write_key(writer, key, type);
    test_bytes_u64(keys, (uint64_t)value);
    keys->size -= 8 - integer_bytes(type);
}

void gguf_write_f32(struct gguf_writer *writer, const char *key, float value)
{
    gguf_write_value(writer, key, DLLM_VALUE_F32, &value, sizeof value);
}

void gguf_write_value(struct gguf_writer *writer, const char *key, enum dllm_value_type type,
                      const void *payload, size_t bytes)
{
    write_key(writer, key, type);
    test_bytes_append(&writer->keys, payload, bytes);
}

void gguf_write_string(struct gguf_writer *writer, const char *key, const char *value)
{
    write_key(writer, key, DLLM_VALUE_STRING);
    test_bytes_string(&writer->keys, value, strlen(value));
}

void gguf_write_array(struct gguf_writer *writer, const char *key, enum dllm_value_type element,
                      const void *elements, size_t count)
{
    write_key(writer, key, DLLM_VALUE_ARRAY);
    test_bytes_u32(&writer->keys, element);
    test_bytes_u64(&writer->keys, count);
    test_bytes_append(&writer->keys, elements, count * integer_bytes(element));
}

void gguf_write_strings(struct gguf_writer *writer, const char *key,
                        const struct dllm_string *strings, size_t count)
{
    write_key(writer, key, DLLM_VALUE_ARRAY);
    test_bytes_u32(&writer->keys, DLLM_VALUE_STRING);
    test_bytes_u64(&writer->keys, count);
    for (size_t i = 0; i < count; i++)
        test_bytes_string(&writer->keys, strings[i].data, strings[i].size);
}

void gguf_write_tensor(struct gguf_writer *writer, const char *name, uint32_t type, uint64_t width,
                       uint64_t rows, const void *data)
{
    const uint64_t shape[2] = {width, rows};

    gguf_write_shaped(writer, name, type, rows == 1 ? 1 : 2, shape, data);
}

void gguf_write_shaped(struct gguf_writer *writer, const char *name, uint32_t type, uint32_t dims,
                       const uint64_t *shape, const void *data)
{
    struct test_bytes *directory = &writer->directory;
    uint64_t size = dtype_row_bytes(type, shape[0]);

    test_bytes_pad(&writer->data, writer->alignment);
    writer->tensor_count++;
    test_bytes_string(directory, name, strlen(name));
    test_bytes_u32(directory, dims);
    for (uint32_t i = 0; i < dims; i++) {
        test_bytes_u64(directory, shape[i]);
        size *= i > 0 ? shape[i] : 1;
    }
    test_bytes_u32(directory, type);
    test_bytes_u64(directory, writer->data.size);
    test_bytes_append(&writer->data, data, size);
}
