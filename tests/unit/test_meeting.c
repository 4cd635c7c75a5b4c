/*
 * test_meeting: jobs of several threads are done together, each once.
 * What would break: a job that is lost or done twice, a thread that waits for one
 * that never comes, two threads at work at once, an order that depends on who came
 * first, a job that is left by the work again and again, company that is not waited
 * for because the work took long.
 */
#include "meeting.h"

#include "clock.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

enum { THREADS = 6, ROUNDS = 40 };

/* Seconds that no test takes. */
#define FOR_EVER 3600

/* What the work saw. */
struct office {
    struct meeting *meeting;
    int at_once;         /* jobs it does at once; 0: all */
    atomic_int inside;   /* threads in the work */
    atomic_bool crowded; /* two were there together */
    atomic_bool disorder;
    int calls, jobs, largest;
    struct job *left[THREADS]; /* by the last call */
    int left_count;
};

struct job {
    int number;
    int done; /* how often */
};

/* What the last call left comes first, then the others by their numbers. */
static bool in_order(const struct office *office, void *const *jobs, int count)
{
    for (int i = 0; i < office->left_count; i++)
        if (i >= count || jobs[i] != office->left[i])
            return false;
    for (int i = office->left_count + 1; i < count; i++)
        if (((struct job *)jobs[i])->number <= ((struct job *)jobs[i - 1])->number)
            return false;
    return true;
}

static int work(void *context, void *const *jobs, int count)
{
    struct office *office = context;
    int done = office->at_once && office->at_once < count ? office->at_once : count;

    if (atomic_fetch_add(&office->inside, 1) != 0)
        atomic_store(&office->crowded, true);
    if (!in_order(office, jobs, count))
        atomic_store(&office->disorder, true);
    for (int i = 0; i < done; i++)
        ((struct job *)jobs[i])->done++;
    office->left_count = count - done;
    for (int i = done; i < count; i++)
        office->left[i - done] = jobs[i];
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

static void *visit(void *context)
{
    struct visitor *visitor = context;

    meeting_join(visitor->office->meeting);
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

    meeting_expect(office->meeting, THREADS);
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
    open_office(&office, FOR_EVER, 0);
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
    open_office(&office, FOR_EVER, 0);
    run_visitors(&office, 3);
    assert_int_equal(office.calls, ROUNDS + 3 * (THREADS - 1));
}

static void test_work_in_parts(void **state)
{
    struct office office;

    (void)state;
    open_office(&office, FOR_EVER, 4);
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

/* Two threads are in the work for longer than the patience of a third that comes
 * meanwhile; they come back before its patience counted from then on ends. */
struct shift {
    struct meeting *meeting;
    double patience;
    atomic_bool working, third_comes;
    int calls, second; /* jobs of the second call */
};

static void wait_for(double seconds)
{
    usleep((useconds_t)(seconds * 1e6));
}

static int long_work(void *context, void *const *jobs, int count)
{
    struct shift *shift = context;

    (void)jobs;
    if (shift->calls == 0) {
        atomic_store(&shift->working, true);
        while (!atomic_load(&shift->third_comes))
            wait_for(0.001);
        wait_for(2 * shift->patience);
    }
    if (shift->calls++ == 1)
        shift->second = count;
    return count;
}

static void *bring_two(void *context)
{
    struct shift *shift = context;

    meeting_do(shift->meeting, &shift->calls, 0);
    wait_for(shift->patience / 4);
    meeting_do(shift->meeting, &shift->calls, 0);
    meeting_leave(shift->meeting);
    return NULL;
}

/* How many jobs were done together after the long work. */
static int run_shift(double patience)
{
    struct shift shift = {.patience = patience};
    pthread_t threads[2];

    assert_int_equal(meeting_create(patience, long_work, &shift, &shift.meeting, NULL), DLLM_OK);
    for (int i = 0; i < 2; i++)
        meeting_join(shift.meeting);
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, bring_two, &shift), 0);
    while (!atomic_load(&shift.working))
        wait_for(0.001);
    meeting_join(shift.meeting);
    atomic_store(&shift.third_comes, true);
    meeting_do(shift.meeting, &shift.calls, 0);
    meeting_leave(shift.meeting);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    meeting_destroy(shift.meeting);
    return shift.second;
}

/* Breaks if jobs that came during the work do not wait for those that were in it: the
 * two groups would then never meet again, and work be done twice as often. With more
 * and more patience, since a busy machine may hold threads up. */
static void test_groups_meet_again(void **state)
{
    double patience = 0.04;

    (void)state;
    while (run_shift(patience) < 3 && patience < 5)
        patience *= 2;
    assert_true(patience < 5);
}

static void test_alone(void **state)
{
    struct office office;
    struct job job = {0};

    (void)state;
    open_office(&office, FOR_EVER, 0);
    meeting_do(office.meeting, &job, 0); /* without joining */
    meeting_join(office.meeting);
    meeting_do(office.meeting, &job, 0);
    meeting_leave(office.meeting);
    assert_int_equal(job.done, 2);
    meeting_destroy(office.meeting);
}

/* Breaks (hangs) if a thread that waits for one yet to join is not told that none will; most
 * often it waits by then, and either order must end. */
static void test_none_expected_any_more(void **state)
{
    struct office office;
    struct visitor visitor = {&office, 0, 1, false};
    pthread_t thread;

    (void)state;
    open_office(&office, FOR_EVER, 0);
    meeting_expect(office.meeting, 2);
    assert_int_equal(pthread_create(&thread, NULL, visit, &visitor), 0);
    usleep(20000);
    meeting_expect(office.meeting, 0);
    pthread_join(thread, NULL);
    assert_int_equal(office.calls, 1);
    meeting_destroy(office.meeting);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_come),
        cmocka_unit_test(test_some_leave),
        cmocka_unit_test(test_work_in_parts),
        cmocka_unit_test(test_patience),
        cmocka_unit_test(test_groups_meet_again),
        cmocka_unit_test(test_alone),
        cmocka_unit_test(test_none_expected_any_more),
    };

    return cmocka_run_group_tests_name("meeting", tests, NULL, NULL);
}
