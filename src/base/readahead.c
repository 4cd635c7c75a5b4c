/* readahead.c: one portion is asked for while the one before it is waited for. */
#include "readahead.h"

#include "thread.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Large enough that a disk is busy with one while the next is asked for, small
 * enough that stopping and reports do not wait long. */
enum { PORTION_BYTES = 8 << 20, PORTION_PAGES_MOST = PORTION_BYTES / 4096 + 2 };

struct readahead {
    pthread_t thread;
    bool joined;
    atomic_bool stop;
    uint64_t page; /* bytes */
    uint64_t bytes;
    readahead_report *report;
    void *context;
    unsigned char resident[PORTION_PAGES_MOST];
    size_t count;
    struct readahead_range ranges[];
};

/* A portion of a range, grown to whole pages. */
struct portion {
    const uint8_t *data; /* NULL: there is none */
    size_t size;
    uint64_t used; /* bytes of the range in it */
};

static struct portion portion_at(const struct readahead *readahead, size_t range, uint64_t at)
{
    const struct readahead_range *from = &readahead->ranges[range];
    uintptr_t start = (uintptr_t)from->data + at, page = readahead->page;
    uint64_t used = from->size - at < PORTION_BYTES ? from->size - at : PORTION_BYTES;
    uintptr_t first = start / page * page, end = (start + used + page - 1) / page * page;

    return (struct portion){(const uint8_t *)from->data + at - (start - first), end - first, used};
}

/* Touching a page waits until it has come; the kernel was asked for all of them
 * at once before. Returns whether there was anything to wait for. */
static bool read_portion(struct readahead *readahead, const struct portion *portion)
{
    size_t pages = portion->size / readahead->page;
    bool waited = false;

    if (mincore((void *)portion->data, portion->size, readahead->resident) != 0)
        return false;
    for (size_t i = 0; i < pages; i++)
        waited |= !(readahead->resident[i] & 1);
    if (!waited)
        return false;
    madvise((void *)portion->data, portion->size, MADV_WILLNEED);
    for (size_t i = 0; i < pages; i++)
        if (!(readahead->resident[i] & 1))
            (void)*(const volatile uint8_t *)(portion->data + i * readahead->page);
    return true;
}

/* Asks for the portion after the one at `at`, if its range has one. */
static void ask_for_next(const struct readahead *readahead, size_t range, uint64_t at)
{
    struct portion next;

    if (at + PORTION_BYTES >= readahead->ranges[range].size)
        return;
    next = portion_at(readahead, range, at + PORTION_BYTES);
    madvise((void *)next.data, next.size, MADV_WILLNEED);
}

static void *run(void *argument)
{
    struct readahead *readahead = argument;
    uint64_t there = 0;
    bool cold = false; /* once something was missing: the portions asked for since may be there */

    for (size_t range = 0; range < readahead->count; range++)
        for (uint64_t at = 0; at < readahead->ranges[range].size; at += PORTION_BYTES) {
            struct portion portion = portion_at(readahead, range, at);

            if (atomic_load(&readahead->stop))
                return NULL;
            ask_for_next(readahead, range, at);
            there += portion.used;
            cold |= read_portion(readahead, &portion);
            if (cold && readahead->report)
                readahead->report(readahead->context, there, readahead->bytes);
        }
    return NULL;
}

struct readahead *readahead_start(const struct readahead_range *ranges, size_t count,
                                  readahead_report *report, void *context)
{
    struct readahead *readahead = calloc(1, sizeof *readahead + count * sizeof *ranges);

    if (!readahead)
        return NULL;
    readahead->page = (uint64_t)sysconf(_SC_PAGESIZE);
    readahead->report = report;
    readahead->context = context;
    readahead->count = count;
    memcpy(readahead->ranges, ranges, count * sizeof *ranges);
    for (size_t i = 0; i < count; i++)
        readahead->bytes += ranges[i].size;
    if (thread_start(&readahead->thread, run, readahead))
        return readahead;
    free(readahead);
    return NULL;
}

void readahead_wait(struct readahead *readahead)
{
    if (readahead && !readahead->joined) {
        pthread_join(readahead->thread, NULL);
        readahead->joined = true;
    }
}

void readahead_stop(struct readahead *readahead)
{
    if (!readahead)
        return;
    atomic_store(&readahead->stop, true);
    readahead_wait(readahead);
    free(readahead);
}
