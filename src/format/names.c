/* names.c: a sorted array and binary search. */
#include "names.h"

#include <stdlib.h>
#include <string.h>

/* Order by bytes, a prefix before what it starts. */
static int compare_names(struct dllm_string a, struct dllm_string b)
{
    int order = memcmp(a.data, b.data, MIN(a.size, b.size));

    if (order != 0)
        return order;
    return a.size < b.size ? -1 : a.size > b.size;
}

static int compare_entries(const void *left, const void *right)
{
    const struct name_entry *a = left, *b = right;
    int order = compare_names(a->name, b->name);

    if (order != 0)
        return order;
    return a->index < b->index ? -1 : a->index > b->index;
}

enum dllm_status names_build(const void *records, size_t stride, size_t count,
                             struct name_index *out, struct dllm_error *error)
{
    struct name_entry *entries;

    memset(out, 0, sizeof *out);
    if (count == 0)
        return DLLM_OK;
    entries = calloc(count, sizeof *entries);
    if (!entries)
        return status_no_memory(error, count * sizeof *entries);
    for (size_t i = 0; i < count; i++) {
        memcpy(&entries[i].name, (const char *)records + i * stride, sizeof entries[i].name);
        entries[i].index = i;
    }
    qsort(entries, count, sizeof *entries, compare_entries);
    out->entries = entries;
    out->count = count;
    return DLLM_OK;
}

void names_free(struct name_index *index)
{
    free(index->entries);
    memset(index, 0, sizeof *index);
}

bool names_find_repeated(const struct name_index *index, size_t *first, size_t *second)
{
    bool found = false;

    for (size_t i = 1; i < index->count; i++) {
        const struct name_entry *a = &index->entries[i - 1], *b = &index->entries[i];

        if (compare_names(a->name, b->name) != 0 || (found && b->index > *second))
            continue;
        *first = a->index;
        *second = b->index;
        found = true;
    }
    return found;
}

bool names_find(const struct name_index *index, struct dllm_string name, size_t *out)
{
    size_t low = 0, high = index->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = compare_names(index->entries[middle].name, name);

        if (order == 0) {
            *out = index->entries[middle].index;
            return true;
        }
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return false;
}
