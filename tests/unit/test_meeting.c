/*
 * test_meeting: jobs of several threads are done together, each once.
 * What would break: a job that is lost or done twice, a thread that waits for one
 * that never comes, two threads at work at once, an order that depends on who came
 * first.
 */
#include "meeting.h"

#include "clock.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include <cmocka.h>

enum { THREADS = 6, ROUNDS = 40 };

/* What the work saw. */
struct office {
    struct meeting *meeting;
    int at_once;         /* jobs it does at once; 0: all */
    atomic_int inside;   /* threads in the work */
    atomic_bool crowded; /* two were there together */
    atomic_bool disorder;
    int calls, jobs, largest;
};

struct job {
    int number;
    int done; /* how often */
};

static int work(void *context, void *const *jobs, int count)
{
    struct office *office = context;
    int done = office->at_once && office->at_once < count ? office->at_once : count;

    if (atomic_fetch_add(&office->inside, 1) != 0)
        atomic_store(&office->crowded, true);
    for (int i = 0; i < done; i++) {
        struct job *job = jobs[i];

        job->done++;
        if (i && job->number <= ((struct job *)jobs[i - 1])->number)
            atomic_store(&office->disorder, true);
    }
    office->calls++;
    office->jobs += done;
    office->largest = count > office->largest ? count : office->largest;
    atomic_fetch_sub(&office->inside, 1);
    return done;
}

struct visitor {
    struct office *office;
    int number, rounds;
    bool failed;
};

/* Joined by the main thread, so that all are waited for from the beginning. */
static void *visit(void *context)
{
    struct visitor *visitor = context;

    for (int i = 0; i < visitor->rounds; i++) {
        struct job job = {.number = visitor->number};

        meeting_do(visitor->office->meeting, &job, visitor->number);
        visitor->failed |= job.done != 1;
    }
    meeting_leave(visitor->office->meeting);
    return NULL;
}

static void open_office(struct office *office, double patience, int at_once)
{
    *office = (struct office){.at_once = at_once};
    assert_int_equal(meeting_create(patience, work, office, &office->meeting, NULL), DLLM_OK);
}

/* Threads with number * rounds_each rounds more than the first. */
static void run_visitors(struct office *office, int rounds_more)
{
    struct visitor visitors[THREADS];
    pthread_t threads[THREADS];

    for (int i = 0; i < THREADS; i++)
        meeting_join(office->meeting);
    for (int i = 0; i < THREADS; i++) {
        visitors[i] = (struct visitor){office, i, ROUNDS + i * rounds_more, false};
        assert_int_equal(pthread_create(&threads[i], NULL, visit, &visitors[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        assert_false(visitors[i].failed);
    }
    assert_false(atomic_load(&office->crowded));
    assert_false(atomic_load(&office->disorder));
    meeting_destroy(office->meeting);
}

/* With patience without end, all of them in each round. */
static void test_all_come(void **state)
{
    struct office office;

    (void)state;
    open_office(&office, 3600, 0);
    run_visitors(&office, 0);
    assert_int_equal(office.calls, ROUNDS);
    assert_int_equal(office.jobs, THREADS * ROUNDS);
    assert_int_equal(office.largest, THREADS);
}

/* Those that have left are not waited for. */
static void test_some_leave(void **state)
{
    struct office office;

    (void)state;
    open_office(&office, 3600, 0);
    run_visitors(&office, 3);
    assert_int_equal(office.calls, ROUNDS + 3 * (THREADS - 1));
}

static void test_work_in_parts(void **state)
{
    struct office office;

    (void)state;
    open_office(&office, 3600, 4);
    run_visitors(&office, 1);
    assert_int_equal(office.jobs, THREADS * ROUNDS + THREADS * (THREADS - 1) / 2);
}

/* One that has joined and never comes costs its patience, no more. */
static void test_patience(void **state)
{
    struct office office;
    struct job job = {0};
    double start = clock_seconds();

    (void)state;
    open_office(&office, 0.05, 0);
    meeting_join(office.meeting);
    meeting_join(office.meeting);
    meeting_do(office.meeting, &job, 0);
    assert_int_equal(job.done, 1);
    assert_true(clock_seconds() - start >= 0.05);
    meeting_destroy(office.meeting);
}

static void test_alone(void **state)
{
    struct office office;
    struct job job = {0};

    (void)state;
    open_office(&office, 3600, 0);
    meeting_do(office.meeting, &job, 0); /* without joining */
    meeting_join(office.meeting);
    meeting_do(office.meeting, &job, 0);
    meeting_leave(office.meeting);
    assert_int_equal(job.done, 2);
    meeting_destroy(office.meeting);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_come),      cmocka_unit_test(test_some_leave),
        cmocka_unit_test(test_work_in_parts), cmocka_unit_test(test_patience),
        cmocka_unit_test(test_alone),
    };

    return cmocka_run_group_tests_name("meeting", tests, NULL, NULL);
}
