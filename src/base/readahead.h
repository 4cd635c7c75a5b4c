/*
 * readahead.h: a thread that brings parts of mapped files into memory in the
 * order in which they will be used, so that reading a cold file overlaps with
 * computing on what has come.
 */
#ifndef READAHEAD_H
#define READAHEAD_H

#include "compiler.h"

#include <stddef.h>
#include <stdint.h>

struct readahead_range {
    const void *data; /* inside a mapping */
    uint64_t size;    /* bytes */
};

/* Called from the thread after each portion from the first on that was not in
 * memory: bytes of the ranges that are there by now, of all. Unless it is stopped,
 * the last call has both equal. Never where nothing has to be read. */
typedef void readahead_report(void *context, uint64_t bytes_there, uint64_t bytes);

struct readahead;

/* Starts reading the ranges [count], in their order; they are copied, what they
 * point to must stay mapped until readahead_stop. report may be NULL. Returns
 * NULL when no memory or thread is to be had: then pages are read when they are
 * touched, as ever. */
struct readahead *readahead_start(const struct readahead_range *ranges, size_t count,
                                  readahead_report *report, void *context);

/* Waits for the portion at hand, gives up the rest; no report comes after it.
 * Takes NULL. */
void readahead_stop(struct readahead *readahead);

/* Waits until everything was read. Takes NULL. */
void readahead_wait(struct readahead *readahead);

#endif
