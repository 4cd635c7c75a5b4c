/* test_paths.h: where tests find data and put scratch files. */
#ifndef TEST_PATHS_H
#define TEST_PATHS_H

#include <stddef.h>
#include <stdint.h>

/* The path of a file below the larger test data (DLLM_SHARED, else
 * ../shared), NULL when it cannot be read: the test then skips. Overwritten by
 * the next call. */
const char *test_shared_path(const char *name);

/* The path of a file below tests/data: tests run in the root of the tree.
 * Overwritten by the next call. */
const char *test_data_path(const char *name);

/* Makes an empty scratch file and writes its path to out, which holds
 * TEST_PATH_BYTES; the test removes it. Ends the test program on failure. */
enum { TEST_PATH_BYTES = 4096 };
const char *test_temporary_path(char *out);

/* A scratch file that holds those bytes. */
const char *test_temporary_file(char *out, const void *data, size_t size);

/* The whole file as malloc'ed bytes; NULL when it cannot be read. */
uint8_t *test_read_file(const char *path, size_t *size);

#endif
