/* test_readahead.c: what is not in memory comes, in order, with reports that add
 * up; what is there already is left alone; stopping does not wait for the rest. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "mapfile.h"
#include "readahead.h"
#include "test_paths.h"

enum { FILE_BYTES = 40 << 20, PAGE = 4096 };

struct reports {
    int count;
    uint64_t last, bytes;
    bool rising;
};

static void note(void *context, uint64_t bytes_there, uint64_t bytes)
{
    struct reports *reports = context;

    if (bytes_there <= reports->last || bytes_there > bytes)
        reports->rising = false;
    reports->count++;
    reports->last = bytes_there;
    reports->bytes = bytes;
}

/* How many pages of the map are in memory. */
static size_t resident_pages(const struct mapfile *map)
{
    static unsigned char resident[FILE_BYTES / PAGE];
    size_t count = 0;

    assert_int_equal(mincore((void *)map->data, map->size, resident), 0);
    for (size_t i = 0; i < map->size / PAGE; i++)
        count += resident[i] & 1;
    return count;
}

/* A file that has left memory; false where the file system does not let it go. */
static bool open_cold(char *path, struct mapfile *map)
{
    uint8_t *bytes = malloc(FILE_BYTES);
    int file;

    assert_non_null(bytes);
    memset(bytes, 7, FILE_BYTES);
    test_temporary_file(path, bytes, FILE_BYTES);
    free(bytes);
    file = open(path, O_RDONLY);
    assert_true(file >= 0);
    fsync(file);
    posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
    close(file);
    assert_int_equal(mapfile_open(path, map, NULL), DLLM_OK);
    return resident_pages(map) == 0;
}

static void close_cold(char *path, struct mapfile *map)
{
    mapfile_close(map);
    unlink(path);
}

/* Breaks when a page is left out, above all at the ends of ranges that start and
 * end inside a page, or when the reports do not end at the sum of the ranges. */
static void test_reads_everything(void **state)
{
    char path[TEST_PATH_BYTES];
    struct mapfile map;
    struct reports reports = {.rising = true};
    struct readahead *readahead;

    (void)state;
    if (!open_cold(path, &map)) {
        close_cold(path, &map);
        skip();
    }
    struct readahead_range ranges[] = {{map.data + 20000001, FILE_BYTES - 20000001},
                                       {map.data + 10, 20000001 - 10}};

    readahead = readahead_start(ranges, 2, note, &reports);
    assert_non_null(readahead);
    readahead_wait(readahead);
    assert_int_equal(resident_pages(&map), FILE_BYTES / PAGE);
    assert_true(reports.rising);
    assert_int_equal(reports.last, FILE_BYTES - 10);
    assert_int_equal(reports.bytes, FILE_BYTES - 10);
    assert_true(reports.count >= 5);
    readahead_stop(readahead);

    reports.count = 0; /* it is all there now */
    readahead = readahead_start(ranges, 2, note, &reports);
    readahead_wait(readahead);
    readahead_stop(readahead);
    assert_int_equal(reports.count, 0);
    close_cold(path, &map);
}

/* Breaks when the order of the ranges is not the order of reading, or when a stop
 * waits for all of them: the report stops the reading at its first portion. */
static void stop_at_first(void *context, uint64_t bytes_there, uint64_t bytes)
{
    (void)bytes_there, (void)bytes;
    usleep(200000);
    *(int *)context += 1;
}

static void test_stops(void **state)
{
    char path[TEST_PATH_BYTES];
    struct mapfile map;
    struct readahead *readahead;
    int reports = 0;

    (void)state;
    if (!open_cold(path, &map)) {
        close_cold(path, &map);
        skip();
    }
    struct readahead_range ranges[] = {{map.data + FILE_BYTES / 2, PAGE},
                                       {map.data, FILE_BYTES / 2}};

    readahead = readahead_start(ranges, 2, stop_at_first, &reports);
    assert_non_null(readahead);
    usleep(100000);
    readahead_stop(readahead);
    assert_int_equal(reports, 1);
    assert_true(resident_pages(&map) < FILE_BYTES / PAGE / 4);
    close_cold(path, &map);
}

static void test_takes_null(void **state)
{
    (void)state;
    readahead_wait(NULL);
    readahead_stop(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reads_everything),
        cmocka_unit_test(test_stops),
        cmocka_unit_test(test_takes_null),
    };

    return cmocka_run_group_tests_name("readahead", tests, NULL, NULL);
}
