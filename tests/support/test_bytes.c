/* test_bytes.c: a malloc'ed array that doubles. */
#include "test_bytes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void test_bytes_append(struct test_bytes *bytes, const void *data, size_t size)
{
    if (size == 0)
        return;
    if (bytes->size + size > bytes->room) {
        bytes->room = 2 * (bytes->size + size) + 64;
        bytes->data = realloc(bytes->data, bytes->room);
        if (!bytes->data) {
            fprintf(stderr, "test_bytes: out of memory\n");
            exit(1);
        }
    }
    if (data)
        memcpy(bytes->data + bytes->size, data, size);
    else
        memset(bytes->data + bytes->size, 0, size);
    bytes->size += size;
}

void test_bytes_u32(struct test_bytes *bytes, uint32_t value)
{
    const uint8_t le[4] = {(uint8_t)value, (uint8_t)(value >> 8), (uint8_t)(value >> 16),
                           (uint8_t)(value >> 24)};

    test_bytes_append(bytes, le, sizeof le);
}

void test_bytes_u64(struct test_bytes *bytes, uint64_t value)
{
    test_bytes_u32(bytes, (uint32_t)value);
    test_bytes_u32(bytes, (uint32_t)(value >> 32));
}

void test_bytes_string(struct test_bytes *bytes, const void *data, size_t size)
{
    test_bytes_u64(bytes, size);
    test_bytes_append(bytes, data, size);
}

void test_bytes_pad(struct test_bytes *bytes, size_t alignment)
{
    test_bytes_append(bytes, NULL, (alignment - bytes->size % alignment) % alignment);
}
