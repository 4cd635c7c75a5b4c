/*
 * pool.c: the workers, and how a run reaches them.
 *
 * One 64-bit ticket holds the run's number (high half) and how many of its
 * items nobody has claimed yet (low half). Claiming is a compare-and-swap on
 * it, so a worker that comes late can neither claim an item of a run it has
 * not seen nor disturb the next one; and a run's description stays unchanged
 * as long as one of its items is unfinished.
 *
 * A thread that finds nothing to do spins briefly, then sleeps on a condition
 * variable. Sleeper counts and the ticket are sequentially consistent: either
 * the sleeper sees the new ticket or the publisher sees the sleeper.
 */
#include "pool.h"

#include "machine.h"
#include "thread.h"

#include <stdatomic.h>
#include <stdlib.h>

/* Long enough to bridge the few microseconds between two operations of a
 * forward pass, short enough not to be noticed when idle. */
enum { SPINS = 2000 };
/* More threads than any machine has cores are a mistake that would exhaust it. */
enum { THREADS_MOST = 1024 };

struct pool {
    int threads;
    int spins; /* 0 where there are more threads than cores: spinning would steal from workers */
    pthread_t *workers; /* [threads - 1] */
    int started;

    pool_item *item; /* of the run in progress */
    void *context;
    int items;
    _Alignas(CACHE_LINE) atomic_ullong ticket;
    _Alignas(CACHE_LINE) atomic_int unfinished;
    _Alignas(CACHE_LINE) atomic_int sleepers;
    atomic_int caller_sleeps;
    atomic_bool quit;

    pthread_mutex_t run_lock;   /* one run at a time */
    pthread_mutex_t sleep_lock; /* guards both conditions */
    pthread_cond_t work, done;
};

struct worker_start {
    struct pool *pool;
    int worker;
};

static void pause_briefly(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

static unsigned unclaimed(unsigned long long ticket)
{
    return (unsigned)ticket;
}

static void finish_item(struct pool *pool)
{
    if (atomic_fetch_sub(&pool->unfinished, 1) != 1 || !atomic_load(&pool->caller_sleeps))
        return;
    pthread_mutex_lock(&pool->sleep_lock);
    pthread_cond_signal(&pool->done);
    pthread_mutex_unlock(&pool->sleep_lock);
}

/* Claims and runs items until none is left. */
static void work_on(struct pool *pool, int worker)
{
    unsigned long long ticket = atomic_load(&pool->ticket);

    while (unclaimed(ticket)) {
        if (!atomic_compare_exchange_weak(&pool->ticket, &ticket, ticket - 1))
            continue;
        pool->item(pool->context, pool->items - (int)unclaimed(ticket), worker);
        finish_item(pool);
        ticket = atomic_load(&pool->ticket);
    }
}

static bool has_work(struct pool *pool)
{
    return unclaimed(atomic_load(&pool->ticket)) != 0;
}

static void sleep_until_work(struct pool *pool)
{
    pthread_mutex_lock(&pool->sleep_lock);
    atomic_fetch_add(&pool->sleepers, 1);
    while (!has_work(pool) && !atomic_load(&pool->quit))
        pthread_cond_wait(&pool->work, &pool->sleep_lock);
    atomic_fetch_sub(&pool->sleepers, 1);
    pthread_mutex_unlock(&pool->sleep_lock);
}

static void *worker_main(void *argument)
{
    struct worker_start start = *(struct worker_start *)argument;

    free(argument);
    while (!atomic_load(&start.pool->quit)) {
        for (int spin = 0; spin < start.pool->spins && !has_work(start.pool); spin++)
            pause_briefly();
        if (!has_work(start.pool))
            sleep_until_work(start.pool);
        work_on(start.pool, start.worker);
    }
    return NULL;
}

static enum dllm_status start_worker(struct pool *pool, struct dllm_error *error)
{
    struct worker_start *start = malloc(sizeof *start);

    if (!start)
        return status_no_memory(error, sizeof *start);
    *start = (struct worker_start){pool, pool->started + 1};
    if (!thread_start(&pool->workers[pool->started], worker_main, start)) {
        free(start);
        return status_fail(error, DLLM_ERROR_MEMORY,
                           "only %d of %d threads could be started; use fewer (--threads)",
                           pool->started + 1, pool->threads);
    }
    pool->started++;
    return DLLM_OK;
}

enum dllm_status pool_count_threads(int asked, int *out, struct dllm_error *error)
{
    *out = asked ? asked : machine_usable_cores();
    if (asked >= 0 && asked <= THREADS_MOST)
        return DLLM_OK;
    return status_fail(error, DLLM_ERROR_USAGE,
                       "threads is %d; 1 to %d, or 0 for all cores, was expected", asked,
                       THREADS_MOST);
}

enum dllm_status pool_create(int threads, struct pool **out, struct dllm_error *error)
{
    enum dllm_status status;
    struct pool *pool = aligned_alloc(CACHE_LINE, ROUND_UP(sizeof *pool, CACHE_LINE));

    if (!pool)
        return status_no_memory(error, sizeof *pool);
    *pool = (struct pool){.threads = threads};
    pool->spins = threads <= machine_usable_cores() ? SPINS : 0;
    pthread_mutex_init(&pool->run_lock, NULL);
    pthread_mutex_init(&pool->sleep_lock, NULL);
    pthread_cond_init(&pool->work, NULL);
    pthread_cond_init(&pool->done, NULL);
    pool->workers = calloc((size_t)threads, sizeof *pool->workers);
    if (!pool->workers) {
        status = status_no_memory(error, (size_t)threads * sizeof *pool->workers);
        goto fail;
    }
    while (pool->started < threads - 1)
        TRY_GOTO(start_worker(pool, error));
    *out = pool;
    return DLLM_OK;
fail:
    pool_destroy(pool);
    return status;
}

void pool_destroy(struct pool *pool)
{
    if (!pool)
        return;
    pthread_mutex_lock(&pool->sleep_lock);
    atomic_store(&pool->quit, true);
    pthread_cond_broadcast(&pool->work);
    pthread_mutex_unlock(&pool->sleep_lock);
    for (int i = 0; i < pool->started; i++)
        pthread_join(pool->workers[i], NULL);
    pthread_cond_destroy(&pool->work);
    pthread_cond_destroy(&pool->done);
    pthread_mutex_destroy(&pool->sleep_lock);
    pthread_mutex_destroy(&pool->run_lock);
    free(pool->workers);
    free(pool);
}

int pool_threads(const struct pool *pool)
{
    return pool->threads;
}

/* Wakes as many sleepers as there are items for. */
static void wake_workers(struct pool *pool, int items)
{
    int sleepers = atomic_load(&pool->sleepers);

    if (!sleepers || items < 2)
        return;
    pthread_mutex_lock(&pool->sleep_lock);
    if (items - 1 < sleepers)
        for (int i = 0; i < items - 1; i++)
            pthread_cond_signal(&pool->work);
    else
        pthread_cond_broadcast(&pool->work);
    pthread_mutex_unlock(&pool->sleep_lock);
}

static void wait_until_done(struct pool *pool)
{
    for (int spin = 0; spin < pool->spins && atomic_load(&pool->unfinished); spin++)
        pause_briefly();
    if (!atomic_load(&pool->unfinished))
        return;
    pthread_mutex_lock(&pool->sleep_lock);
    atomic_store(&pool->caller_sleeps, 1);
    while (atomic_load(&pool->unfinished))
        pthread_cond_wait(&pool->done, &pool->sleep_lock);
    atomic_store(&pool->caller_sleeps, 0);
    pthread_mutex_unlock(&pool->sleep_lock);
}

void pool_run(struct pool *pool, int items, pool_item *item, void *context)
{
    unsigned long long run;

    if (items <= 0)
        return;
    pthread_mutex_lock(&pool->run_lock);
    run = (atomic_load(&pool->ticket) >> 32) + 1;
    pool->item = item;
    pool->context = context;
    pool->items = items;
    atomic_store(&pool->unfinished, items);
    atomic_store(&pool->ticket, run << 32 | (unsigned)items);
    wake_workers(pool, items);
    work_on(pool, 0);
    wait_until_done(pool);
    pthread_mutex_unlock(&pool->run_lock);
}
