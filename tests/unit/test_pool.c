/* test_pool: every item runs exactly once, whatever the number of threads. */
#include "pool.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_item_once),
        cmocka_unit_test(test_callers_queue_up),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
