/*
 * test_routing: which experts rows visit and with what shares.
 * What would break: ties that depend on the order of work, shares that do not
 * add up, slots that two visits have.
 */
#include "cpu_routing.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { ROWS = 5, EXPERTS = 6, USED = 3 };

struct fixture {
    struct backend *backend;
    struct backend_buffer *scores;
    struct backend_routing *routing;
};

static void open_fixture(struct fixture *f, int threads)
{
    const struct backend_routing_limits limits = {ROWS, EXPERTS, USED};
    const struct backend_limits sizes = {
        .rows = ROWS, .width = 64, .keys = 1, .kv_heads = 1, .head_dim = 32, .vocab = 1};

    assert_int_equal(backend_cpu_create(threads, NULL, &f->backend, NULL), DLLM_OK);
    assert_int_equal(backend_reserve(f->backend, &sizes, NULL), DLLM_OK);
    assert_int_equal(backend_buffer_create(f->backend, ROWS, EXPERTS, &f->scores, NULL), DLLM_OK);
    assert_int_equal(backend_routing_create(f->backend, &limits, &f->routing, NULL), DLLM_OK);
}

static void close_fixture(struct fixture *f)
{
    backend_routing_destroy(f->backend, f->routing);
    backend_buffer_destroy(f->backend, f->scores);
    backend_destroy(f->backend);
}

static void route(struct fixture *f, const float *scores, int rows, bool renormalise)
{
    memcpy(f->scores->data, scores, sizeof *scores * (size_t)rows * EXPERTS);
    backend_route(f->backend, f->scores, rows, renormalise, f->routing);
}

static void expect_choice(const float *scores, int a, int b, int c)
{
    struct fixture f;

    open_fixture(&f, 1);
    route(&f, scores, 1, false);
    assert_int_equal(f.routing->expert[0], a);
    assert_int_equal(f.routing->expert[1], b);
    assert_int_equal(f.routing->expert[2], c);
    close_fixture(&f);
}

static void test_highest_first_ties_to_the_lower_index(void **state)
{
    (void)state;
    expect_choice((const float[]){1, 5, 2, 4, 3, 0}, 1, 3, 4);
    expect_choice((const float[]){2, 2, 2, 2, 2, 2}, 0, 1, 2);
    expect_choice((const float[]){1, 3, 2, 3, 3, 3}, 1, 3, 4);
    expect_choice((const float[]){0, -INFINITY, -INFINITY, -INFINITY, -INFINITY, 1}, 5, 0, 1);
    expect_choice((const float[]){NAN, NAN, NAN, NAN, NAN, NAN}, 0, 1, 2);
}

static void test_shares(void **state)
{
    static const float scores[EXPERTS] = {0.5f, -1, 2, 0, 1, -3};
    struct fixture f;
    double all = 0, kept = exp(2.0) + exp(1.0) + exp(0.5);

    (void)state;
    for (int e = 0; e < EXPERTS; e++)
        all += exp((double)scores[e]);
    open_fixture(&f, 1);
    route(&f, scores, 1, false);
    assert_true(fabs((double)f.routing->share[0] - exp(2.0) / all) < 1e-7);
    assert_true(fabs((double)f.routing->share[2] - exp(0.5) / all) < 1e-7);
    route(&f, scores, 1, true);
    assert_true(fabs((double)f.routing->share[0] - exp(2.0) / kept) < 1e-7);
    assert_true(fabs((double)f.routing->share[2] - exp(0.5) / kept) < 1e-7);
    close_fixture(&f);
}

/* A damaged row must reach the logits as NaN, not as some expert's answer. */
static void test_a_bad_score_makes_every_share_bad(void **state)
{
    struct fixture f;

    (void)state;
    open_fixture(&f, 1);
    for (int renormalise = 0; renormalise < 2; renormalise++) {
        route(&f, (const float[]){1, 2, 3, 4, 5, NAN}, 1, renormalise);
        for (int v = 0; v < USED; v++)
            assert_true(isnan(f.routing->share[v]));
        route(&f, (const float[]){1, 2, INFINITY, 4, 5, 6}, 1, renormalise);
        for (int v = 0; v < USED; v++)
            assert_true(isnan(f.routing->share[v]));
    }
    close_fixture(&f);
}

static void check_slots(const struct backend_routing *routing)
{
    bool taken[ROWS * USED] = {false};
    int busy = 0;

    assert_int_equal(routing->first[0], 0);
    assert_int_equal(routing->first[EXPERTS], ROWS * USED);
    for (int v = 0; v < ROWS * USED; v++) {
        int e = routing->expert[v], slot = routing->slot[v];

        assert_in_range(slot, routing->first[e], routing->first[e + 1] - 1);
        assert_false(taken[slot]);
        taken[slot] = true;
    }
    for (int e = 0; e < EXPERTS; e++)
        if (routing->first[e + 1] > routing->first[e])
            assert_int_equal(routing->busy[busy++], e);
    assert_int_equal(routing->busy_count, busy);
}

static void test_every_visit_has_a_slot_of_its_expert(void **state)
{
    float scores[ROWS * EXPERTS];
    struct fixture f;

    (void)state;
    for (int threads = 1; threads < 4; threads++) {
        open_fixture(&f, threads);
        for (int seed = 0; seed < 50; seed++) {
            for (int i = 0; i < ROWS * EXPERTS; i++)
                scores[i] = (float)((i * 7919 + seed * 104729) % 11);
            route(&f, scores, ROWS, true);
            check_slots(f.routing);
        }
        close_fixture(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_highest_first_ties_to_the_lower_index),
        cmocka_unit_test(test_shares),
        cmocka_unit_test(test_a_bad_score_makes_every_share_bad),
        cmocka_unit_test(test_every_visit_has_a_slot_of_its_expert),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
