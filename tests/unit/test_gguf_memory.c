/*
 * test_gguf_memory.c: an allocation that fails is an error like any other, and
 * leaves nothing behind.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "failing_malloc.h"
#include "gguf.h"
#include "gguf_walk.h"

/* Breaks when a failing allocation crashes the reader, is not reported, or
 * leaves a half-built file allocated. */
static void test_every_allocation_of_open(void **state)
{
    size_t size, header;
    uint8_t *bytes = gguf_sample(&size, &header);
    enum dllm_status status = DLLM_ERROR_MEMORY;
    struct dllm_error error = {0};
    struct dllm_file *file;
    long failed = 0;

    (void)state;
    for (; status != DLLM_OK; failed++) {
        long before = alive;

        until_failure = failed;
        status = gguf_open_bytes("x.gguf", bytes, size, &file, &error);
        until_failure = -1;
        if (status == DLLM_OK)
            break;
        assert_int_equal(status, DLLM_ERROR_MEMORY);
        assert_non_null(strstr(error.message, "out of memory: "));
        assert_null(file);
        assert_int_equal(alive, before);
    }
    gguf_walk(file);
    dllm_file_close(file);
    print_message("%ld allocations failed in turn\n", failed);
    free(bytes);
}

/* The same for the arrays that typed access makes. */
static void test_allocations_of_arrays(void **state)
{
    size_t size, header, count;
    uint8_t *bytes = gguf_sample(&size, &header);
    struct dllm_string *strings = NULL;
    int32_t *integers = NULL;
    struct dllm_error error;
    struct dllm_file *file;

    (void)state;
    assert_int_equal(gguf_open_bytes("x.gguf", bytes, size, &file, &error), DLLM_OK);
    if (CAN_FAIL) {
        until_failure = 0;
        assert_int_equal(gguf_get_strings(file, "key.words", true, &strings, &count, &error),
                         DLLM_ERROR_MEMORY);
        assert_int_equal(gguf_get_integers(file, "key.list", true, &integers, &count, &error),
                         DLLM_ERROR_MEMORY);
        until_failure = -1;
        assert_null(strings);
        assert_null(integers);
    }
    assert_int_equal(gguf_get_strings(file, "key.words", true, &strings, &count, &error), DLLM_OK);
    assert_int_equal(gguf_get_integers(file, "key.list", true, &integers, &count, &error), DLLM_OK);
    free(strings);
    free(integers);
    dllm_file_close(file);
    free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_allocation_of_open),
        cmocka_unit_test(test_allocations_of_arrays),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
