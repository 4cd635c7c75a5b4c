/* split_sample.c: every tensor has four floats, its letter in each. */
#include "split_sample.h"

#include "dtype.h"
#include "gguf_writer.h"

#include <string.h>

struct split_part split_sample_part(int number)
{
    static const char *const tensors[SPLIT_PARTS] = {"ab", "", "cde"};

    return (struct split_part){number, SPLIT_PARTS, 5, tensors[number]};
}

uint8_t *split_sample_bytes(const struct split_part *part, size_t *size)
{
    struct gguf_writer *writer = gguf_writer_create(3, 32);

    if (part->number == 0)
        gguf_write_string(writer, "general.architecture", "llada");
    if (part->count) {
        gguf_write_integer(writer, "split.no", DLLM_VALUE_U16, part->number);
        gguf_write_integer(writer, "split.count", DLLM_VALUE_U16, part->count);
    }
    if (part->total >= 0)
        gguf_write_integer(writer, "split.tensors.count", DLLM_VALUE_I32, part->total);
    for (const char *letter = part->tensors; *letter; letter++) {
        const char name[2] = {*letter, 0};
        const float value = (float)*letter, values[4] = {value, value, value, value};

        gguf_write_tensor(writer, name, DTYPE_F32, 4, 1, values);
    }
    return gguf_writer_finish(writer, size);
}
