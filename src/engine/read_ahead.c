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

/* Puts all tensors in order. */
static void order_tensors(const struct dllm_file *file, struct ordered_tensor *tensors,
                          size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct dllm_tensor *tensor = dllm_file_tensor(file, i);

        tensors[i] =
            (struct ordered_tensor){place_of(tensor->name), i, {tensor->data, tensor->size}};
    }
    qsort(tensors, count, sizeof *tensors, compare_places);
}

/* How many of them the CPU reads in every pass: all; of a model that a GPU shares, those of
 * its own layers; none of one that a GPU has as a whole. */
static size_t count_needed(const struct dllm_engine *engine, const struct ordered_tensor *tensors,
                           size_t count)
{
    size_t needed = 0;

    if (backend_is_host(engine->place.main))
        return count;
    while (needed < count && tensors[needed].place < (unsigned long)engine->place.layers_before)
        needed++;
    return needed;
}

static uint64_t bytes_of(const struct ordered_tensor *tensors, size_t count)
{
    uint64_t bytes = 0;

    for (size_t i = 0; i < count; i++)
        bytes += tensors[i].range.size;
    return bytes;
}

/* A file that does not fit would push out what is in use. */
static bool is_worth(uint64_t bytes)
{
    struct machine_memory memory;

    machine_memory(&memory);
    return bytes >= WORTH_BYTES && bytes < memory.available;
}

static struct readahead *start(const struct ordered_tensor *tensors, size_t count,
                               struct readahead_range *ranges, dllm_read_callback *on_read,
                               void *context)
{
    if (!is_worth(bytes_of(tensors, count)))
        return NULL;
    for (size_t i = 0; i < count; i++)
        ranges[i] = tensors[i].range;
    return readahead_start(ranges, count, on_read, context);
}

struct readahead *engine_read_ahead(const struct dllm_engine *engine, dllm_read_callback *on_read,
                                    void *context)
{
    const bool host = backend_is_host(engine->place.main);
    size_t count = dllm_file_tensor_count(engine->file);
    struct ordered_tensor *tensors = malloc(count * sizeof *tensors);
    struct readahead_range *ranges = malloc(count * sizeof *ranges);
    struct readahead *readahead = NULL;

    if (tensors && ranges) {
        order_tensors(engine->file, tensors, count);
        readahead = start(tensors, count_needed(engine, tensors, count), ranges,
                          host ? on_read : NULL, context);
    }
    free(ranges);
    free(tensors);
    return readahead;
}
