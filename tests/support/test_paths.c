/* test_paths.c: environment, temporary files, whole files. */
#include "test_paths.h"

#include "test_bytes.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const char *path_below(const char *variable, const char *fallback, const char *name,
                              char out[TEST_PATH_BYTES])
{
    const char *folder = getenv(variable);

    snprintf(out, TEST_PATH_BYTES, "%s/%s", folder && *folder ? folder : fallback, name);
    return out;
}

const char *test_shared_path(const char *name)
{
    static char path[TEST_PATH_BYTES];

    path_below("DLLM_SHARED", "../shared", name, path);
    return access(path, R_OK) == 0 ? path : NULL;
}

const char *test_data_path(const char *name)
{
    static char path[TEST_PATH_BYTES];

    snprintf(path, sizeof path, "tests/data/%s", name);
    return path;
}

const char *test_temporary_path(char *out)
{
    int descriptor;

    path_below("TMPDIR", "/tmp", "dllm-test-XXXXXX", out);
    descriptor = mkstemp(out);
    if (descriptor < 0) {
        perror("mkstemp");
        exit(1);
    }
    close(descriptor);
    return out;
}

const char *test_temporary_file(char *out, const void *data, size_t size)
{
    FILE *file = fopen(test_temporary_path(out), "wb");

    if (!file || fwrite(data, 1, size, file) != size || fclose(file) != 0) {
        perror(out);
        exit(1);
    }
    return out;
}

uint8_t *test_read_file(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    struct test_bytes bytes = {0};
    uint8_t part[65536];
    size_t count;

    if (!file)
        return NULL;
    while ((count = fread(part, 1, sizeof part, file)) > 0)
        test_bytes_append(&bytes, part, count);
    fclose(file);
    test_bytes_append(&bytes, "", 1); /* an empty file still has an address */
    *size = bytes.size - 1;
    return bytes.data;
}
