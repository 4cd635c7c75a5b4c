/*
 * fuzz_split.c: models in several files. The input is a byte with the number of
 * parts, then for each but the last its size (u32), then the parts.
 */
#include "fuzz.h"
#include "gguf_mutate.h"
#include "gguf_split.h"
#include "gguf_walk.h"

#include <stdlib.h>
#include <string.h>

enum { PARTS_MOST = 4 };

struct part {
    size_t at, size;
};

/* Where the parts lie; returns their number, 0 if the input is none. */
static int find_parts(const uint8_t *data, size_t size, struct part parts[PARTS_MOST])
{
    int count = size ? data[0] % PARTS_MOST + 1 : 0;
    size_t at = 1 + 4 * (size_t)(count ? count - 1 : 0);

    if (count == 0 || size < at)
        return 0;
    for (int i = 0; i < count; i++) {
        uint32_t bytes = (uint32_t)(size - at);

        if (i < count - 1)
            memcpy(&bytes, data + 1 + 4 * i, sizeof bytes);
        if (bytes == 0 || bytes > size - at)
            return 0;
        parts[i] = (struct part){at, bytes};
        at += bytes;
    }
    return count;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct dllm_file *files[PARTS_MOST] = {NULL}, *whole = NULL;
    struct part parts[PARTS_MOST];
    struct dllm_error error;
    int count = find_parts(data, size, parts), opened = 0;

    while (opened < count && gguf_open_bytes("fuzz.gguf", data + parts[opened].at,
                                             parts[opened].size, &files[opened], &error) == DLLM_OK)
        opened++;
    if (count && opened == count &&
        gguf_split_join(files, (size_t)count, &whole, &error) == DLLM_OK)
        gguf_walk(whole);
    dllm_file_close(whole);
    for (int i = 0; i < opened && !whole; i++)
        dllm_file_close(files[i]);
    return 0;
}

/* One part changes; its size follows. */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t limit, unsigned seed)
{
    struct part parts[PARTS_MOST];
    int count = find_parts(data, size, parts), chosen;
    size_t room, changed, behind;
    uint8_t *copy;
    uint32_t bytes;

    if (count == 0)
        return size;
    chosen = (int)(seed % (unsigned)count);
    room = parts[chosen].size + (limit > size ? limit - size : 0);
    behind = parts[chosen].at + parts[chosen].size;
    copy = malloc(room);
    fuzz_require(copy != NULL, "out of memory");
    memcpy(copy, data + parts[chosen].at, parts[chosen].size);
    changed = gguf_mutate(copy, parts[chosen].size, room, seed / (unsigned)count);
    memmove(data + parts[chosen].at + changed, data + behind, size - behind);
    memcpy(data + parts[chosen].at, copy, changed);
    bytes = (uint32_t)changed;
    if (chosen < count - 1)
        memcpy(data + 1 + 4 * chosen, &bytes, sizeof bytes);
    free(copy);
    return size - parts[chosen].size + changed;
}
