/* test_readahead.c: what is not in memory comes, in order, with reports that add
 * up; what is there already is left alone; stopping does not wait for the rest. */
#include <fcntl.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
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
    bool blocked; /* the last one: signals to the process */
};

static void note(void *context, uint64_t bytes_there, uint64_t bytes)
{
    struct reports *reports = context;
    sigset_t mask;

    pthread_sigmask(SIG_BLOCK, NULL, &mask);
    reports->blocked = sigismember(&mask, SIGUSR1) == 1 && sigismember(&mask, SIGBUS) == 0;
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
 * end inside a page, when the reports do not end at the sum of the ranges, or when
 * a program's signal handlers can run on the thread that reads. */
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
    assert_true(reports.blocked);
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

/* A report that holds the reading up until it is about to be stopped. */
struct hold {
    sem_t reported, stopping;
    unsigned microseconds; /* more, for the stop to be seen */
    int reports;
};

static void hold_first(void *context, uint64_t bytes_there, uint64_t bytes)
{
    struct hold *hold = context;

    (void)bytes_there, (void)bytes;
    if (hold->reports++ > 0)
        return;
    sem_post(&hold->reported);
    sem_wait(&hold->stopping);
    usleep(hold->microseconds);
}

/* Stops the reading in the report of its first portion; returns how many reports came,
 * 0 where the file system keeps the file in memory. */
static int stop_at_first(unsigned microseconds)
{
    struct hold hold = {.microseconds = microseconds};
    char path[TEST_PATH_BYTES];
    struct mapfile map;
    struct readahead *readahead;

    if (!open_cold(path, &map)) {
        close_cold(path, &map);
        return 0;
    }
    struct readahead_range ranges[] = {{map.data + FILE_BYTES / 2, PAGE},
                                       {map.data, FILE_BYTES / 2}};

    sem_init(&hold.reported, 0, 0);
    sem_init(&hold.stopping, 0, 0);
    readahead = readahead_start(ranges, 2, hold_first, &hold);
    assert_non_null(readahead);
    sem_wait(&hold.reported);
    assert_true(resident_pages(&map) < FILE_BYTES / PAGE / 4);
    sem_post(&hold.stopping);
    readahead_stop(readahead);
    close_cold(path, &map);
    return hold.reports;
}

/* Breaks when the order of the ranges is not the order of reading, or when a stop
 * waits for all of them. With more and more time, since a busy machine may hold this
 * thread up between its word to the report and the stop. */
static void test_stops(void **state)
{
    unsigned microseconds = 1000;
    int reports = stop_at_first(microseconds);

    (void)state;
    if (reports == 0)
        skip();
    while (reports > 1 && microseconds < 8000000)
        reports = stop_at_first(microseconds *= 2);
    assert_int_equal(reports, 1);
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
