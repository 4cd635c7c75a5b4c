/*
 * pool.h: a fixed set of worker threads that claim items of a loop.
 *
 * Workers claim the next item from a shared counter, so cores of unequal speed
 * (hybrid CPUs, a busy neighbour) share the work in proportion. Between runs
 * they spin briefly and then sleep. What an item computes must not depend on
 * which worker runs it or when: then results are the same for any thread count.
 */
#ifndef POOL_H
#define POOL_H

#include "status.h"

struct pool;

/* Runs item `item` (0 <= item < items) as worker `worker` (0 <= worker <
 * pool_threads); use the worker number only to pick a scratch buffer. */
typedef void pool_item(void *context, int item, int worker);

/* What a caller's number of threads stands for: 0 is every core that this process may use; a usage
 * error outside 0 to 1024, which would exhaust any machine. */
enum dllm_status pool_count_threads(int asked, int *out, struct dllm_error *error);

/* Starts threads - 1 workers (the caller of pool_run is worker 0); threads is
 * at least 1. Destroy with pool_destroy, which joins them. */
enum dllm_status pool_create(int threads, struct pool **out, struct dllm_error *error);
void pool_destroy(struct pool *pool);

/* Number of workers, the caller included. */
int pool_threads(const struct pool *pool);

/* Runs all items and returns when the last has finished. Only one run at a
 * time: the pool is not re-entrant, callers on several threads queue up. */
void pool_run(struct pool *pool, int items, pool_item *item, void *context);

#endif
