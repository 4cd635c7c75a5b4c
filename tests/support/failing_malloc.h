/*
 * failing_malloc.h: allocation functions before libc's, for the test program that
 * includes this (once): they count what is alive and fail the one that the test
 * chooses. AddressSanitizer has its own: under it nothing fails.
 */
#ifndef FAILING_MALLOC_H
#define FAILING_MALLOC_H

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

static atomic_long until_failure = -1; /* allocations that still succeed; -1: all */
/* Allocations that did not; not every program looks, and under AddressSanitizer none counts. */
static atomic_long failures __attribute__((unused));
static atomic_long alive; /* blocks */

/* Whether allocations can be made to fail in this build. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { CAN_FAIL = 0 };
#else
enum { CAN_FAIL = 1 };

#pragma GCC visibility push(default)
/* libc's; those that stand before them are visible, so that its own calls (strdup)
 * come here too. */
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *block, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);
extern void __libc_free(void *block);

/* From the chosen one on every allocation fails. */
static bool fails(void)
{
    long left = atomic_load(&until_failure);

    if (left < 0)
        return false;
    if (left > 0) {
        atomic_store(&until_failure, left - 1);
        return false;
    }
    atomic_fetch_add(&failures, 1);
    errno = ENOMEM;
    return true;
}

static void *counted(void *block)
{
    if (block)
        atomic_fetch_add(&alive, 1);
    return block;
}

void *malloc(size_t size)
{
    return fails() ? NULL : counted(__libc_malloc(size));
}

void *calloc(size_t count, size_t size)
{
    return fails() ? NULL : counted(__libc_calloc(count, size));
}

void *realloc(void *block, size_t size)
{
    void *moved = fails() ? NULL : __libc_realloc(block, size);

    return block ? moved : counted(moved);
}

void *aligned_alloc(size_t alignment, size_t size)
{
    return fails() ? NULL : counted(__libc_memalign(alignment, size));
}

void free(void *block)
{
    if (block)
        atomic_fetch_sub(&alive, 1);
    __libc_free(block);
}
#pragma GCC visibility pop
#endif

#endif
