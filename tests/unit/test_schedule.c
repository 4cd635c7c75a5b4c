/*
 * test_schedule.c: how many positions a step commits: LLaDA's and Dream's
 * counts, steps shared out over blocks, and the rules of confidence.
 */
#include "accept.h"
#include "schedule.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void assert_llada(int masks, int steps, const int *expected)
{
    for (int i = 0; i < steps; i++)
        assert_int_equal(schedule_llada_count(masks, steps, i), expected[i]);
}

/* Would break: the remainder going to the last steps instead of the first. */
static void test_llada_counts(void **state)
{
    (void)state;
    assert_llada(10, 4, (int[]){3, 3, 2, 2});
    assert_llada(3, 5, (int[]){1, 1, 1, 0, 0});
    assert_llada(8, 8, (int[]){1, 1, 1, 1, 1, 1, 1, 1});
    assert_llada(7, 1, (int[]){7});
}

/* The counts of a whole run, each from what the ones before left. */
static void dream_counts(int masks, int steps, double eps, int *counts)
{
    for (int i = 0; i < steps; i++) {
        counts[i] = schedule_dream_count(masks, steps, i, eps);
        masks -= counts[i];
    }
    assert_int_equal(masks, 0);
}

/* Would break: a floor of a rounded number where an exact one is a whole (the
 * first step of as many steps as masks is empty), a last step that leaves masks. */
static void test_dream_counts(void **state)
{
    int counts[64];

    (void)state;
    dream_counts(64, 64, 1e-3, counts);
    assert_int_equal(counts[0], 0);
    for (int i = 1; i < 63; i++)
        assert_int_equal(counts[i], 1);
    assert_int_equal(counts[63], 2);
    dream_counts(64, 16, 1e-3, counts);
    assert_int_equal(counts[0], 3);
    for (int i = 1; i < 15; i++)
        assert_int_equal(counts[i], 4);
    assert_int_equal(counts[15], 5);
    dream_counts(7, 3, 1e-3, counts);
    assert_memory_equal(counts, ((int[]){2, 2, 3}), 3 * sizeof(int));
    dream_counts(10, 20, 1e-3, counts);
    for (int i = 0; i < 19; i++)
        assert_int_equal(counts[i], i >= 11);
    assert_int_equal(counts[19], 2);
    dream_counts(5, 1, 1e-3, counts);
    assert_int_equal(counts[0], 5);
}

/* Would break: eps read as anything but what t ends at. The formula of the
 * whole-number rule, and away from whole numbers the rule of t itself. */
static void test_dream_counts_for_any_eps(void **state)
{
    const double list[] = {1e-9, 1e-4, 1e-3, 0.05, 0.3, 0.75};

    (void)state;
    for (int masks = 1; masks < 40; masks++)
        for (int steps = 1; steps < 40; steps++)
            for (int i = 0; i + 1 < steps; i++) {
                assert_int_equal(schedule_dream_count(masks, steps, i, 1e-3),
                                 999 * masks / (1000 * steps - 999 * i));
                for (int e = 0; e < 6; e++) {
                    double t = 1 - i * (1 - list[e]) / steps;
                    double next = 1 - (i + 1) * (1 - list[e]) / steps;
                    double share = 1 - next / t, exact = masks * share;
                    assert_true(fabs(schedule_dream_share(steps, i, list[e]) - share) < 1e-12);
                    if (fabs(exact - round(exact)) > 1e-6)
                        assert_int_equal(schedule_dream_count(masks, steps, i, list[e]),
                                         (int)exact);
                }
            }
    assert_true(schedule_dream_share(8, 7, 1e-3) == 1.0);
}

/* Large numbers stay inside 64 bits. */
static void test_dream_counts_large(void **state)
{
    (void)state;
    assert_int_equal(schedule_dream_count(2000000000, 1000000, 0, 1e-3), 1998);
}

static void assert_shares(int region, int block_length, int steps, const int *expected)
{
    int blocks = schedule_block_count(region, block_length);

    for (int i = 0; i < blocks; i++)
        assert_int_equal(schedule_block_steps(region, block_length, steps, i), expected[i]);
}

static void test_steps_shared_by_hand(void **state)
{
    (void)state;
    assert_shares(24, 12, 10, (int[]){5, 5});
    assert_shares(16, 4, 16, (int[]){4, 4, 4, 4});
    assert_shares(10, 4, 5, (int[]){2, 2, 1});
    assert_shares(10, 4, 4, (int[]){2, 1, 1}); /* 1.6 1.6 0.8: one is left, the last has its own */
    assert_shares(11, 4, 5, (int[]){2, 2, 1}); /* 1.82 1.82 1.36 */
    assert_shares(11, 4, 3, (int[]){1, 1, 1});
    assert_shares(7, 4, 2, (int[]){1, 1});
    assert_shares(9, 8, 2, (int[]){1, 1});
    assert_shares(5, 3, 4, (int[]){2, 2}); /* 2.4 1.6 */
    assert_shares(6, 6, 100, (int[]){100});
    assert_shares(6, 40, 5, (int[]){5});
}

/* The rule done slowly for one share-out: floors, at least one, the rest one by
 * one to the largest remainder that was not raised or served yet. */
static void check_share_out(int region, int block_length, int steps)
{
    int blocks = schedule_block_count(region, block_length), left = steps;
    int share[64];
    long remainder[64];

    for (int i = 0; i < blocks; i++) {
        int length = i < blocks - 1 ? block_length : region - block_length * (blocks - 1);
        share[i] = steps * length / region;
        remainder[i] = (long)steps * length % region;
        if (share[i] == 0) {
            share[i] = 1;
            remainder[i] = -1;
        }
        left -= share[i];
    }
    assert_true(left >= 0);
    for (; left > 0; left--) {
        int largest = 0;
        for (int i = 1; i < blocks; i++)
            if (remainder[i] > remainder[largest])
                largest = i;
        share[largest]++;
        remainder[largest] = -2;
    }
    assert_shares(region, block_length, steps, share);
}

/* Would break: shares that do not add up, a later block served first. */
static void test_steps_shared_by_largest_remainder(void **state)
{
    (void)state;
    for (int region = 1; region <= 40; region++)
        for (int length = 1; length <= region; length++)
            for (int steps = schedule_block_count(region, length); steps <= 60; steps++)
                check_share_out(region, length, steps);
}

/* Would break: a first candidate below the threshold that is not committed
 * (the run would never end), an equal one left out. */
static void test_threshold(void **state)
{
    const double sure[] = {0.95, 0.9, 0.9, 0.3}, unsure[] = {0.2, 0.1};

    (void)state;
    assert_int_equal(accept_threshold(sure, 4, 0.9), 3);
    assert_int_equal(accept_threshold(sure, 4, 0.91), 1);
    assert_int_equal(accept_threshold(sure, 4, 0.1), 4);
    assert_int_equal(accept_threshold(unsure, 2, 0.9), 1);
    assert_int_equal(accept_threshold(unsure, 1, 0.9), 1);
}

/* Bounds for factor 1: 2/3 for the second, 3/4 for the third, 4/5, 5/6.
 * Would break: q counted from another place, the step from all but one to all. */
static void test_factor(void **state)
{
    const double confidences[] = {0.9, 0.8, 0.78, 0.76, 0.5, 0.4};

    (void)state;
    assert_int_equal(accept_factor(confidences, 6, 1.0), 3);
    assert_int_equal(accept_factor(confidences, 4, 1.0), 4); /* 3 of 4: all */
    assert_int_equal(accept_factor(confidences, 2, 0.5), 2); /* 1 of 2: all */
    assert_int_equal(accept_factor(confidences, 3, 0.5), 1);
    assert_int_equal(accept_factor(confidences, 1, 0.5), 1);
    assert_int_equal(accept_factor(confidences, 6, 100), 6);
}

/* Would break: the largest entropy of the head counted, the smallest left out,
 * a bound that must be passed and not reached. */
static void test_entropy_bound(void **state)
{
    const double confidences[] = {-0.125, -0.25, -0.5, -1.0, -2.0}, none[] = {1e-10, 1e-10, 1e-10};

    (void)state;
    assert_int_equal(accept_entropy(confidences, 5, 0.1), 1);
    assert_int_equal(accept_entropy(confidences, 5, 0.125), 2);
    assert_int_equal(accept_entropy(confidences, 5, 0.37), 2);
    assert_int_equal(accept_entropy(confidences, 5, 0.375), 3);
    assert_int_equal(accept_entropy(confidences, 5, 1.8), 4);
    assert_int_equal(accept_entropy(confidences, 5, 1.875), 5);
    assert_int_equal(accept_entropy(confidences, 1, 0.01), 1);
    assert_int_equal(accept_entropy(none, 3, 1e-9), 3);
}

/* Would break: thirds that end a step early or late, a mean over other than the
 * picks, one sure token that outvotes none. */
static void test_accept_all(void **state)
{
    struct pick picks[] = {{.gap = 2}, {.gap = 4}, {.gap = 9}};

    (void)state;
    for (int step = 0; step < 7; step++) /* of 7: limits 7.5 for 0-2, 5 for 3-4, 2.5 for 5-6 */
        assert_int_equal(accept_all(picks, 3, step, 7), step >= 3);
    for (int step = 0; step < 6; step++)
        assert_int_equal(accept_all(picks, 2, step, 6), step >= 4);
    assert_false(accept_all(picks, 1, 2, 3));
    picks[2].gap = 16.5;
    assert_true(accept_all(picks, 3, 0, 1));
    picks[2].gap = 16.4375;
    assert_false(accept_all(picks, 3, 0, 1));
    picks[0].gap = (double)INFINITY;
    assert_true(accept_all(picks, 3, 0, 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_llada_counts),
        cmocka_unit_test(test_dream_counts),
        cmocka_unit_test(test_dream_counts_for_any_eps),
        cmocka_unit_test(test_dream_counts_large),
        cmocka_unit_test(test_steps_shared_by_hand),
        cmocka_unit_test(test_steps_shared_by_largest_remainder),
        cmocka_unit_test(test_threshold),
        cmocka_unit_test(test_factor),
        cmocka_unit_test(test_entropy_bound),
        cmocka_unit_test(test_accept_all),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
