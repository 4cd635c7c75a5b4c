/* gguf_walk.c: a reader of everything, and a small file to read. */
#include "gguf_walk.h"

#include "dtype.h"
#include "gguf_writer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void require(bool holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "gguf_walk: %s\n", what);
    abort();
}

static uint64_t sum_bytes(const void *data, uint64_t size)
{
    const uint8_t *bytes = data;
    uint64_t sum = size;

    for (uint64_t i = 0; i < size; i++)
        sum += bytes[i];
    return sum;
}

static uint64_t walk_array(const struct dllm_value *array)
{
    struct dllm_value element;
    uint64_t at = 0, count = 0, sum = 0;

    while (dllm_array_next(array, &at, &element)) {
        count++;
        require(element.type == array->array.element_type, "an element of another kind");
        sum += element.type == DLLM_VALUE_STRING ? sum_bytes(element.s.data, element.s.size)
                                                 : element.u;
    }
    require(count == array->array.count, "an array with another count");
    require(at == array->array.size, "an array with another size");
    return sum + sum_bytes(array->array.bytes, array->array.size);
}

static uint64_t walk_key(const struct dllm_file *file, const struct dllm_key *key)
{
    char *name = strndup(key->name.data, key->name.size);
    uint64_t sum = sum_bytes(key->name.data, key->name.size);

    require(name != NULL, "out of memory");
    if (strlen(name) == key->name.size)
        require(dllm_file_find_key(file, name) == key, "a key that is not found");
    free(name);
    if (key->value.type == DLLM_VALUE_ARRAY)
        return sum + walk_array(&key->value);
    if (key->value.type == DLLM_VALUE_STRING)
        return sum + sum_bytes(key->value.s.data, key->value.s.size);
    return sum + key->value.u;
}

static uint64_t walk_tensor(const struct dllm_file *file, const struct dllm_tensor *tensor)
{
    char *name = strndup(tensor->name.data, tensor->name.size);

    require(name != NULL, "out of memory");
    if (strlen(name) == tensor->name.size)
        require(dllm_file_find_tensor(file, name) == tensor, "a tensor that is not found");
    free(name);
    require(tensor->size > 0 && tensor->offset + tensor->size <= dllm_file_size(file),
            "a tensor outside the file");
    require(dllm_type_name(tensor->type) != NULL, "a tensor of unknown type");
    return sum_bytes(tensor->name.data, tensor->name.size) + sum_bytes(tensor->data, tensor->size);
}

uint64_t gguf_walk(const struct dllm_file *file)
{
    uint64_t sum = dllm_file_version(file);

    for (size_t i = 0; i < dllm_file_key_count(file); i++)
        sum += walk_key(file, dllm_file_key(file, i));
    for (size_t i = 0; i < dllm_file_tensor_count(file); i++)
        sum += walk_tensor(file, dllm_file_tensor(file, i));
    return sum;
}

static void write_sample_keys(struct gguf_writer *writer)
{
    static const uint32_t list[] = {1, 2, 3};
    static const uint8_t flags[] = {0, 1};
    static const struct dllm_string words[] = {{"a", 1}, {"bc", 2}, {"", 0}};
    const double f64 = -0.5;

    gguf_write_string(writer, "general.architecture", "llada");
    gguf_write_integer(writer, "general.alignment", DLLM_VALUE_U32, 32);
    gguf_write_integer(writer, "split.count", DLLM_VALUE_U16, 1);
    gguf_write_integer(writer, "key.u8", DLLM_VALUE_U8, 200);
    gguf_write_integer(writer, "key.i8", DLLM_VALUE_I8, -100);
    gguf_write_integer(writer, "key.u16", DLLM_VALUE_U16, 60000);
    gguf_write_integer(writer, "key.i16", DLLM_VALUE_I16, -30000);
    gguf_write_integer(writer, "key.u32", DLLM_VALUE_U32, 4000000000);
    gguf_write_integer(writer, "key.i32", DLLM_VALUE_I32, -2000000000);
    gguf_write_f32(writer, "key.f32", 0.25f);
    gguf_write_integer(writer, "key.bool", DLLM_VALUE_BOOL, 1);
    gguf_write_integer(writer, "key.u64", DLLM_VALUE_U64, -1);
    gguf_write_integer(writer, "key.i64", DLLM_VALUE_I64, INT64_MIN);
    gguf_write_value(writer, "key.f64", DLLM_VALUE_F64, &f64, sizeof f64);
    gguf_write_array(writer, "key.list", DLLM_VALUE_U32, list, 3);
    gguf_write_array(writer, "key.flags", DLLM_VALUE_BOOL, flags, 2);
    gguf_write_strings(writer, "key.words", words, 3);
    gguf_write_array(writer, "key.none", DLLM_VALUE_I64, NULL, 0);
}

uint8_t *gguf_sample(size_t *size, size_t *header)
{
    enum { FIRST = 32, SECOND = 160, THIRD = 32 }; /* bytes, the middle one with padding */
    struct gguf_writer *writer = gguf_writer_create(3, 32);
    uint8_t *bytes;

    write_sample_keys(writer);
    gguf_write_tensor(writer, "first", DTYPE_F32, 4, 2, NULL);
    gguf_write_tensor(writer, "second", DTYPE_Q4_K, 256, 1, NULL);
    gguf_write_tensor(writer, "third", DTYPE_F32, 8, 1, NULL);
    bytes = gguf_writer_finish(writer, size);
    *header = *size - FIRST - SECOND - THIRD;
    return bytes;
}
