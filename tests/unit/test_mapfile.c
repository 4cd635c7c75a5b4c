/* test_mapfile.c: a file's bytes arrive, and everything else is refused with a
 * message that says what it is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "mapfile.h"
#include "test_paths.h"

/* Opens path, which must fail with `status` and exactly that message. */
static void assert_refused(const char *path, enum dllm_status status, const char *message)
{
    struct dllm_error error = {0};
    struct mapfile map;

    assert_int_equal(mapfile_open(path, &map, &error), status);
    assert_int_equal(error.status, status);
    assert_string_equal(error.message, message);
    assert_null(map.data);
    mapfile_close(&map);
}

/* Breaks when size or contents differ from what was written. */
static void test_maps_the_bytes(void **state)
{
    char path[TEST_PATH_BYTES];
    struct mapfile map;

    (void)state;
    test_temporary_file(path, "masked\0diffusion", 16);
    assert_int_equal(mapfile_open(path, &map, NULL), DLLM_OK);
    assert_int_equal(map.size, 16);
    assert_memory_equal(map.data, "masked\0diffusion", 16);
    mapfile_close(&map);
    assert_null(map.data);
    mapfile_close(&map);
    unlink(path);
}

/* Breaks when a missing file or a folder on the way is not named. */
static void test_missing(void **state)
{
    (void)state;
    assert_refused("/nonexistent/x.gguf", DLLM_ERROR_IO,
                   "cannot open '/nonexistent/x.gguf': No such file or directory; check the path");
    assert_refused("/dev/null/x", DLLM_ERROR_IO,
                   "cannot open '/dev/null/x': Not a directory; check the path");
    assert_refused("", DLLM_ERROR_IO, "cannot open '': No such file or directory; check the path");
}

/* Breaks when a directory, a device, a pipe (which must not block either) or
 * an empty file is mapped or described as something else. */
static void test_other_kinds(void **state)
{
    char path[TEST_PATH_BYTES], message[TEST_PATH_BYTES + 200];

    (void)state;
    assert_refused("/tmp", DLLM_ERROR_IO,
                   "'/tmp' is a directory, expected a file; name a file inside it");
    assert_refused("/dev/null", DLLM_ERROR_IO,
                   "'/dev/null' is a pipe, socket or device, expected a regular file; save its "
                   "contents to a file first");

    test_temporary_path(path);
    snprintf(message, sizeof message, "'%s' is empty (0 bytes); copy or download it again", path);
    assert_refused(path, DLLM_ERROR_IO, message);
    unlink(path);

    assert_int_equal(mkfifo(path, 0600), 0);
    snprintf(message, sizeof message,
             "'%s' is a pipe, socket or device, expected a regular file; save its contents to a "
             "file first",
             path);
    assert_refused(path, DLLM_ERROR_IO, message);
    unlink(path);
}

/* Breaks when the missing permission is not named. The superuser may read
 * everything, and so becomes another user for a moment. */
static void test_unreadable(void **state)
{
    enum { NOBODY = 65534 };
    char path[TEST_PATH_BYTES], message[TEST_PATH_BYTES + 200];
    bool superuser = geteuid() == 0;

    (void)state;
    test_temporary_file(path, "x", 1);
    chmod(path, 0);
    if (superuser)
        assert_int_equal(seteuid(NOBODY), 0);
    snprintf(message, sizeof message,
             "cannot open '%s': Permission denied; ask for permission to read it", path);
    assert_refused(path, DLLM_ERROR_IO, message);
    if (superuser)
        assert_int_equal(seteuid(0), 0);
    unlink(path);
}

/* Breaks when an address is not found in its file, is found in one that is closed
 * or in the neighbour, or the list loses a file that another's closing passes. */
static void test_path_at_address(void **state)
{
    enum { FILES = 3 };
    char paths[FILES][TEST_PATH_BYTES];
    struct mapfile maps[FILES];
    int on_stack;

    (void)state;
    for (int i = 0; i < FILES; i++) {
        test_temporary_file(paths[i], "0123456789", 10);
        assert_int_equal(mapfile_open(paths[i], &maps[i], NULL), DLLM_OK);
    }
    for (int i = 0; i < FILES; i++) {
        assert_string_equal(mapfile_path_at(maps[i].data), paths[i]);
        assert_string_equal(mapfile_path_at(maps[i].data + 9), paths[i]);
        assert_null(mapfile_path_at(maps[i].data + 10));
    }
    assert_null(mapfile_path_at(&on_stack));
    for (int closed = 1; closed < FILES + 1; closed++) {
        const uint8_t *data = maps[closed % FILES].data;

        mapfile_close(&maps[closed % FILES]);
        assert_null(mapfile_path_at(data));
        for (int i = closed + 1; i < FILES + 1; i++)
            assert_string_equal(mapfile_path_at(maps[i % FILES].data), paths[i % FILES]);
        unlink(paths[closed % FILES]);
    }
}

/* Pages of the mapping that this process has touched. */
static long mapped_pages(const struct mapfile *map)
{
    char line[256];
    FILE *maps = fopen("/proc/self/smaps", "r");
    unsigned long start;
    long kilobytes = -1;
    bool inside = false;

    assert_non_null(maps);
    while (kilobytes < 0 && fgets(line, sizeof line, maps)) {
        if (sscanf(line, "%lx-", &start) == 1 && strchr(line, '-'))
            inside = start == (unsigned long)(uintptr_t)map->data;
        else if (inside)
            sscanf(line, "Rss: %ld", &kilobytes);
    }
    fclose(maps);
    return kilobytes / 4;
}

static long sum_bytes(const struct mapfile *map)
{
    long sum = 0;

    for (uint64_t i = 0; i < map->size; i++)
        sum += map->data[i];
    return sum;
}

/* Breaks when released pages stay, when their contents do not come back, or when
 * memory that is no file's loses what it holds. */
static void test_release(void **state)
{
    enum { BYTES = 40 * 4096 + 100 };
    static char bytes[BYTES];
    char path[TEST_PATH_BYTES], *own = malloc(BYTES);
    struct mapfile map;
    long sum;

    (void)state;
    memset(bytes, 7, sizeof bytes);
    test_temporary_file(path, bytes, sizeof bytes);
    assert_int_equal(mapfile_open(path, &map, NULL), DLLM_OK);
    mapfile_want(map.data, map.size);
    sum = sum_bytes(&map);
    assert_int_equal(sum, 7 * BYTES);
    assert_int_equal(mapped_pages(&map), 41);
    mapfile_release(map.data + 4096, map.size - 4096);
    assert_in_range(mapped_pages(&map), 0, 1);
    assert_int_equal(sum_bytes(&map), sum);
    mapfile_release(map.data, map.size + 4096); /* is not in the mapping */
    assert_int_equal(mapped_pages(&map), 41);
    memcpy(own, bytes, BYTES);
    mapfile_release(own, BYTES);
    assert_memory_equal(own, bytes, BYTES);
    free(own);
    mapfile_close(&map);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_maps_the_bytes),  cmocka_unit_test(test_missing),
        cmocka_unit_test(test_other_kinds),     cmocka_unit_test(test_unreadable),
        cmocka_unit_test(test_path_at_address), cmocka_unit_test(test_release),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
