/* test_pool: every item runs exactly once, whatever the number of threads. */
#include "pool.h"

#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

enum { MAX_ITEMS = 1000 };

struct tally {
    atomic_int runs[MAX_ITEMS];
    atomic_int bad_worker;
    int threads;
};

static void count_item(void *context, int item, int worker)
{
    struct tally *tally = context;

    if (worker < 0 || worker >= tally->threads)
        atomic_fetch_add(&tally->bad_worker, 1);
    atomic_fetch_add(&tally->runs[item], 1);
}

/* Breaks if an item is lost, claimed twice, or claimed from a finished run. */
static void check_runs(struct pool *pool, int threads, int runs)
{
    static const int sizes[] = {1, 2, 3, 7, 64, MAX_ITEMS, 0};
    struct tally *tally = calloc(1, sizeof *tally);

    assert_non_null(tally);
    tally->threads = threads;
    for (int run = 0; run < runs; run++) {
        int items = sizes[run % ARRAY_COUNT(sizes)];

        for (int i = 0; i < items; i++)
            atomic_store(&tally->runs[i], 0);
        pool_run(pool, items, count_item, tally);
        for (int i = 0; i < items; i++)
            assert_int_equal(atomic_load(&tally->runs[i]), 1);
    }
    assert_int_equal(atomic_load(&tally->bad_worker), 0);
    free(tally);
}

static void test_each_item_once(void **state)
{
    static const int thread_counts[] = {1, 2, 3, 7, 64};

    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(thread_counts); i++) {
        struct pool *pool;

        assert_int_equal(pool_create(thread_counts[i], &pool, NULL), DLLM_OK);
        assert_int_equal(pool_threads(pool), thread_counts[i]);
        check_runs(pool, thread_counts[i], thread_counts[i] == 64 ? 210 : 1400);
        pool_destroy(pool);
    }
}

struct caller {
    struct pool *pool;
    atomic_long *sum;
};

static void add_item(void *context, int item, int worker)
{
    (void)worker;
    atomic_fetch_add((atomic_long *)context, item);
}

static void *call_many(void *argument)
{
    struct caller *caller = argument;

    for (int i = 0; i < 200; i++)
        pool_run(caller->pool, 50, add_item, caller->sum);
    return NULL;
}

/* Breaks if two callers' runs mix. */
static void test_callers_queue_up(void **state)
{
    struct pool *pool;
    pthread_t threads[4];
    atomic_long sums[4] = {0};
    struct caller callers[4];

    (void)state;
    assert_int_equal(pool_create(3, &pool, NULL), DLLM_OK);
    for (int i = 0; i < 4; i++) {
        callers[i] = (struct caller){pool, &sums[i]};
        assert_int_equal(pthread_create(&threads[i], NULL, call_many, &callers[i]), 0);
    }
    for (int i = 0; i < 4; i++) {
        pthread_join(threads[i], NULL);
        assert_int_equal(atomic_load(&sums[i]), 200 * (49 * 50 / 2));
    }
    pool_destroy(pool);
}

struct stall {
    atomic_int done;
    int items;
};

/* The first item holds its worker up until all others are done. */
static void stall_item(void *context, int item, int worker)
{
    struct stall *stall = context;

    (void)worker;
    while (item == 0 && atomic_load(&stall->done) < stall->items - 1)
        sched_yield();
    atomic_fetch_add(&stall->done, 1);
}

/* Breaks (hangs) if a worker that stands still keeps items that others could do, or
 * its late return disturbs a run. */
static void test_stalled_worker(void **state)
{
    static const int thread_counts[] = {2, 3, 5, 64};

    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(thread_counts); i++) {
        struct pool *pool;

        assert_int_equal(pool_create(thread_counts[i], &pool, NULL), DLLM_OK);
        for (int run = 0; run < 50; run++) {
            struct stall stall = {.items = 2 + run};

            pool_run(pool, stall.items, stall_item, &stall);
            assert_int_equal(atomic_load(&stall.done), stall.items);
        }
        pool_destroy(pool);
    }
}

/* Workers fall asleep in the middle now and then, as they do beside other processes. */
static void sleepy_item(void *context, int item, int worker)
{
    if ((item * 7 + worker) % 13 == 0)
        usleep(200);
    count_item(context, item, worker);
}

/* Breaks if a worker that comes late claims an item of a run it has not seen. */
static void test_delays(void **state)
{
    struct tally *tally = calloc(1, sizeof *tally);
    struct pool *pool;

    (void)state;
    assert_non_null(tally);
    assert_int_equal(pool_create(7, &pool, NULL), DLLM_OK);
    tally->threads = 7;
    for (int run = 1; run <= 200; run++) {
        pool_run(pool, 1 + run % 9, sleepy_item, tally);
        for (int i = 0; i <= run % 9; i++) {
            assert_int_equal(atomic_load(&tally->runs[i]), 1);
            atomic_store(&tally->runs[i], 0);
        }
    }
    pool_destroy(pool);
    free(tally);
}

struct masks {
    atomic_int begun;
    sigset_t of[2]; /* [worker] */
};

/* Waits for the other worker, so that each runs one item. */
static void read_mask(void *context, int item, int worker)
{
    struct masks *masks = context;

    (void)item;
    atomic_fetch_add(&masks->begun, 1);
    while (atomic_load(&masks->begun) < 2)
        sched_yield();
    pthread_sigmask(SIG_BLOCK, NULL, &masks->of[worker]);
}

/* Breaks if a program's handler can run on a worker, a worker's fault is not seen, or the
 * caller is left with another mask than it had. */
static void test_signals_are_blocked(void **state)
{
    struct masks masks = {0};
    struct pool *pool;

    (void)state;
    assert_int_equal(pool_create(2, &pool, NULL), DLLM_OK);
    pool_run(pool, 2, read_mask, &masks);
    for (int sent = SIGHUP; sent <= SIGTERM; sent++)
        assert_int_equal(sigismember(&masks.of[0], sent), 0);
    assert_int_equal(sigismember(&masks.of[1], SIGUSR1), 1);
    assert_int_equal(sigismember(&masks.of[1], SIGINT), 1);
    assert_int_equal(sigismember(&masks.of[1], SIGBUS), 0);
    assert_int_equal(sigismember(&masks.of[1], SIGSEGV), 0);
    pool_destroy(pool);
}

/* Processor time of the process, seconds. */
static double processor_seconds(void)
{
    struct timespec time;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

/* Breaks if workers without work go on spinning: half a second of idleness of seven
 * would then cost seconds, or half of them on two cores, however often one looks. They
 * may take their time to fall asleep on a busy machine. */
static void test_idle_workers_sleep(void **state)
{
    atomic_long sum = 0;
    struct pool *pool;
    double spent = 1;

    (void)state;
    assert_int_equal(pool_create(7, &pool, NULL), DLLM_OK);
    pool_run(pool, 50, add_item, &sum);
    usleep(50000);
    for (int i = 0; i < 20 && spent >= 0.1; i++) {
        spent = processor_seconds();
        usleep(500000);
        spent = processor_seconds() - spent;
    }
    assert_true(spent < 0.1);
    pool_destroy(pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_item_once),     cmocka_unit_test(test_callers_queue_up),
        cmocka_unit_test(test_stalled_worker),     cmocka_unit_test(test_delays),
        cmocka_unit_test(test_idle_workers_sleep), cmocka_unit_test(test_signals_are_blocked),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
