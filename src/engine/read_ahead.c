/* read_ahead.c: the weights in the order in which a pass uses them, brought into
 * memory while the first pass computes. */
#include "engine.h"

#include "machine.h"
#include "readahead.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* What is smaller has come before a thread is worth its while. */
enum { WORTH_BYTES = 32 << 20 };

struct ordered_tensor {
    unsigned long place; /* its layer; behind all layers what is in none */
    size_t index;        /* in the file */
    struct readahead_range range;
};

static unsigned long place_of(struct dllm_string name)
{
    enum { PREFIX = 4 };
    unsigned long layer = 0;

    if (name.size <= PREFIX || memcmp(name.data, "blk.", PREFIX) != 0)
        return ULONG_MAX;
    for (size_t i = PREFIX; i < name.size && name.data[i] >= '0' && name.data[i] <= '9'; i++)
        layer = 10 * layer + (unsigned long)(name.data[i] - '0');
    return layer;
}

static int compare_places(const void *left, const void *right)
{
    const struct ordered_tensor *a = left, *b = right;

    if (a->place != b->place)
        return a->place < b->place ? -1 : 1;
    return a->index < b->index ? -1 : a->index > b->index;
}

/* Returns the bytes of all tensors, which are put in order. */
static uint64_t order_tensors(const struct dllm_file *file, struct ordered_tensor *tensors,
                              size_t count)
{
    uint64_t bytes = 0;

    for (size_t i = 0; i < count; i++) {
        const struct dllm_tensor *tensor = dllm_file_tensor(file, i);

        tensors[i] =
            (struct ordered_tensor){place_of(tensor->name), i, {tensor->data, tensor->size}};
        bytes += tensor->size;
    }
    qsort(tensors, count, sizeof *tensors, compare_places);
    return bytes;
}

/* A file that does not fit would push out what is in use. */
static bool is_worth(uint64_t bytes)
{
    struct machine_memory memory;

    machine_memory(&memory);
    return bytes >= WORTH_BYTES && bytes < memory.available;
}

struct readahead *engine_read_ahead(const struct dllm_file *file, dllm_read_callback *on_read,
                                    void *context)
{
    size_t count = dllm_file_tensor_count(file);
    struct ordered_tensor *tensors = malloc(count * sizeof *tensors);
    struct readahead_range *ranges = malloc(count * sizeof *ranges);
    struct readahead *readahead = NULL;

    if (tensors && ranges && is_worth(order_tensors(file, tensors, count))) {
        for (size_t i = 0; i < count; i++)
            ranges[i] = tensors[i].range;
        readahead = readahead_start(ranges, count, on_read, context);
    }
    free(ranges);
    free(tensors);
    return readahead;
}
