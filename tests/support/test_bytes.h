/* test_bytes.h: a growing run of bytes, written little endian. */
#ifndef TEST_BYTES_H
#define TEST_BYTES_H

#include <stddef.h>
#include <stdint.h>

/* Starts zeroed; free data. Running out of memory ends the test program. */
struct test_bytes {
    uint8_t *data;
    size_t size, room;
};

/* data NULL appends zeros. */
void test_bytes_append(struct test_bytes *bytes, const void *data, size_t size);
void test_bytes_u32(struct test_bytes *bytes, uint32_t value);
void test_bytes_u64(struct test_bytes *bytes, uint64_t value);
/* u64 length and the bytes, as GGUF strings are. */
void test_bytes_string(struct test_bytes *bytes, const void *data, size_t size);
/* Zeros up to the next multiple of alignment. */
void test_bytes_pad(struct test_bytes *bytes, size_t alignment);

#endif
