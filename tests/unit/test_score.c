/*
 * test_score.c: the estimate of an answer's log-likelihood, on the toy model.
 * What would break: the spread of mask counts, masks that fall on the prompt, a sum
 * that is not divided by the masked share, guidance, the shift, an estimate that
 * depends on how many canvases share a pass; equal masks that are scored twice, or
 * unequal ones taken for equal.
 */
#include "mask_sets.h"
#include "toy_model.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static const int32_t prompt[] = {3, 1, 4};

/* One estimate; *toy counts calls and rows. */
struct bench {
    struct toy_model toy;
    struct score_model model;
    struct dllm_score_query query;
    struct dllm_score_options options;
    struct dllm_likelihood result;
    struct dllm_error error;
};

static void bench_open(struct bench *bench, const int32_t *answer, size_t count)
{
    *bench = (struct bench){.toy = {.scale = 1}};
    bench->model = toy_score_model(&bench->toy, false);
    bench->query = (struct dllm_score_query){prompt, 3, answer, count};
    dllm_score_defaults(&bench->options);
}

static double bench_run(struct bench *bench)
{
    bench->model.context = &bench->toy;
    assert_int_equal(score_check(&bench->model, &bench->query, &bench->options, &bench->error), 0);
    assert_int_equal(
        score_run(&bench->model, &bench->query, &bench->options, &bench->result, &bench->error), 0);
    return bench->result.log_likelihood;
}

/* The values of the published code. */
static void test_published(void **state)
{
    struct bench bench;

    (void)state;
    bench_open(&bench, (int32_t[]){5}, 1);
    assert_true(fabs(bench_run(&bench) - -1.6135201) < 1e-7);
    assert_true(bench.result.standard_error < 1e-12);
    assert_int_equal(bench.result.samples, 128);
    assert_int_equal(bench.result.forward_passes, 1);
    bench.options.cfg_scale = 1.5;
    assert_true(fabs(bench_run(&bench) - -1.6047683) < 1e-7);
    assert_int_equal(bench.result.forward_passes, 2);
}

/* By hand: evenly through 1..N from `first` on, halves to even, wrapped. */
static void test_mask_counts(void **state)
{
    static const struct {
        int first, tokens, count, wanted[8];
    } cases[] = {
        {1, 8, 8, {1, 2, 3, 4, 5, 6, 7, 8}},
        {6, 8, 8, {6, 7, 8, 1, 2, 3, 4, 5}},
        {1, 16, 4, {1, 5, 9, 13}},
        {14, 16, 4, {14, 2, 6, 10}},
        {1, 5, 2, {1, 4}},
        /* 3.5 */ {2, 5, 2, {2, 4}}, /* 4.5 */
        {1, 3, 8, {1, 1, 2, 2, 2, 3, 3, 1}},
        {3, 3, 1, {3}},
        {2, 1, 3, {1, 1, 1}},
        {1, 1, 4, {1, 1, 1, 1}},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int counts[8];
        score_mask_counts(cases[i].first, cases[i].tokens, cases[i].count, counts);
        for (int at = 0; at < cases[i].count; at++)
            if (counts[at] != cases[i].wanted[at])
                fail_msg("case %zu, sample %d: %d", i, at, counts[at]);
    }
}

/* How many of the batches that begin with 1 to `tokens` masks' samples mask so many. */
static int masked(int tokens, int batch, int number)
{
    int counts[17], found = 0;

    for (int first = 1; first <= tokens; first++) {
        score_mask_counts(first, tokens, batch, counts);
        for (int i = 0; i < batch; i++)
            found += counts[i] == number;
    }
    return found;
}

/* Odd batches have each number of masks as often as any other. Even ones, as published, have
 * even numbers more often in answers of few tokens, but not where these are a multiple of them. */
static void test_spread(void **state)
{
    static const int odd[] = {1, 3, 7, 15, 17};

    (void)state;
    for (int tokens = 1; tokens <= 40; tokens++)
        for (int number = 1; number <= tokens; number++)
            for (size_t i = 0; i < sizeof odd / sizeof *odd; i++)
                assert_int_equal(masked(tokens, odd[i], number), odd[i]);
    assert_int_equal(masked(2, 16, 1), 14);
    assert_int_equal(masked(2, 16, 2), 18);
    for (int number = 1; number <= 48; number++)
        assert_int_equal(masked(48, 16, number), 16);
}

/* Every canvas that the estimator asks for, checked as it comes. */
struct watcher {
    const struct dllm_score_query *query;
    bool shift, guided;
    int only; /* the token that has a loss; -1: all have */
    int canvases;
    bool seen[64]; /* [set of masks] */
};

static enum dllm_status watch(void *context, const struct score_request *request, double *losses,
                              struct dllm_error *error)
{
    struct watcher *watcher = context;
    const int32_t *target = request->targets;

    (void)error;
    for (int i = 0; i < request->canvas_count; i++, watcher->canvases++) {
        const struct score_canvas *canvas = &request->canvases[i];
        const int32_t *row = canvas->rows;
        int set = 0;
        assert_memory_equal(canvas->ids, prompt, sizeof prompt);
        assert_int_equal(canvas->unguided != NULL, watcher->guided);
        for (int p = 0; p < request->length; p++) {
            int32_t given = p < 3 ? TOY_MASK : canvas->ids[p];
            if (watcher->guided)
                assert_int_equal(canvas->unguided[p], given);
            if (p < 3 || canvas->ids[p] != TOY_MASK)
                continue;
            set |= 1 << (p - 3);
            assert_int_equal(*row++, p - watcher->shift);
            assert_int_equal(*target++, watcher->query->answer[p - 3]);
            *losses++ = watcher->only < 0 || watcher->only == p - 3;
        }
        assert_int_equal(row - canvas->rows, canvas->count);
        assert_false(watcher->seen[set]);
        watcher->seen[set] = true;
    }
    assert_int_equal(target - request->targets, request->target_count);
    return DLLM_OK;
}

static double watched(struct watcher watcher, struct bench *bench)
{
    static const int32_t answer[] = {5, 2, 0, 7, 7, 1};

    bench_open(bench, answer, 6);
    watcher.query = &bench->query;
    bench->options.cfg_scale = watcher.guided ? 1 : 0;
    bench->options.samples = 600;
    bench->model = (struct score_model){watch, &watcher, watcher.shift, TOY_MASK, 5};
    assert_int_equal(
        score_run(&bench->model, &bench->query, &bench->options, &bench->result, &bench->error), 0);
    assert_in_range(watcher.canvases, 55, 63); /* of the 63 sets */
    assert_int_equal(bench->result.forward_passes, watcher.canvases * (1 + watcher.guided));
    return bench->result.log_likelihood;
}

static void test_canvases(void **state)
{
    struct bench bench;

    (void)state;
    for (int variant = 0; variant < 4; variant++) {
        struct watcher watcher = {.shift = variant & 1, .guided = variant >> 1, .only = -1};

        /* A sum of one a token, divided by the share: N whatever is masked. */
        assert_true(fabs(watched(watcher, &bench) - -6) < 1e-12);
    }
    /* A token is in a sample as often as its share of masks says: that makes one again. */
    for (int only = 0; only < 6; only++) {
        double found = watched((struct watcher){.only = only}, &bench);

        assert_true(fabs(found - -1) < 4 * bench.result.standard_error);
        assert_true(bench.result.standard_error < 0.1);
    }
}

/* The same bits however many canvases share a pass; other ones by another seed; near the
 * value of every set of masks, which sixty thousand samples know. */
static void test_deterministic(void **state)
{
    static const int32_t answer[] = {5, 2, 0, 7};
    struct bench bench;
    double one, exact;

    (void)state;
    bench_open(&bench, answer, 4);
    one = bench_run(&bench);
    assert_int_equal(bench.result.forward_passes, 15);
    assert_true(bench.result.standard_error > 0);
    for (int at_once = 1; at_once < 20; at_once += 6) {
        bench.model.canvases_at_once = at_once;
        assert_true(bench_run(&bench) == one);
    }
    bench.options.seed++;
    assert_true(bench_run(&bench) != one);
    bench.options.samples = 60000;
    exact = bench_run(&bench);
    assert_true(bench.result.standard_error < 0.05);
    for (uint64_t seed = 0; seed < 20; seed++) {
        bench.options.seed = seed;
        bench.options.samples = 100; /* no multiple of 16 */
        bench_run(&bench);
        assert_true(fabs(bench.result.log_likelihood - exact) < 5 * bench.result.standard_error);
    }
}

/* The answer of 130 tokens with those masked that are the bits of number, from token
 * `first` on. */
static int find(struct mask_sets *sets, int number, int first, bool *added)
{
    int32_t answer[130] = {0};

    for (int bit = 0; bit < 20; bit++)
        answer[first + bit] = number >> bit & 1 ? TOY_MASK : 0;
    return mask_sets_find(sets, answer, 130, TOY_MASK, added);
}

/* Each set has its own number, in any word of it, and keeps it until the batch ends;
 * then the first ones stay. */
static void test_mask_sets(void **state)
{
    enum { BATCH = 16 };
    struct mask_sets sets;
    bool added;

    (void)state;
    assert_int_equal(mask_sets_create(&sets, 130, BATCH, NULL), DLLM_OK);
    for (int round = 0; round < 2; round++)
        for (int i = 0; i < MASK_SETS_MOST + BATCH; i++) {
            assert_int_equal(find(&sets, i + 1, i % 3 * 55, &added), i);
            assert_int_equal(added, round == 0);
        }
    mask_sets_end_batch(&sets);
    assert_int_equal(find(&sets, MASK_SETS_MOST, (MASK_SETS_MOST - 1) % 3 * 55, &added),
                     MASK_SETS_MOST - 1);
    assert_false(added);
    assert_int_equal(find(&sets, MASK_SETS_MOST + 1, MASK_SETS_MOST % 3 * 55, &added),
                     MASK_SETS_MOST);
    assert_true(added);
    mask_sets_free(&sets);
}

static int stop_at_32(void *context, int done, int samples)
{
    *(int *)context = done;
    return done == 32 && samples == 128;
}

static void assert_refused(struct bench *bench, enum dllm_status status, const char *message)
{
    enum dllm_status got =
        score_run(&bench->model, &bench->query, &bench->options, &bench->result, &bench->error);

    assert_int_equal(got, status);
    assert_non_null(strstr(bench->error.message, message));
}

static void test_refused(void **state)
{
    static const int32_t answer[] = {5, TOY_MASK};
    struct bench bench;
    int done = 0;

    (void)state;
    bench_open(&bench, answer, 0);
    bench.model.context = &bench.toy;
    assert_refused(&bench, DLLM_ERROR_USAGE, "the answer is empty");
    bench.query.answer_count = 2;
    assert_refused(&bench, DLLM_ERROR_USAGE, "token 1 of the answer is the model's mask");
    bench.query.answer_count = 1;
    bench.options.samples = 0;
    assert_refused(&bench, DLLM_ERROR_USAGE, "samples is 0");
    bench.options.samples = INT32_MAX;
    assert_refused(&bench, DLLM_ERROR_USAGE, "samples is 2147483647; a number from 1 to 1000000");
    bench.options.samples = 128;
    bench.options.batch = 0;
    assert_refused(&bench, DLLM_ERROR_USAGE, "batch is 0");
    bench.options.batch = 16;
    bench.options.cfg_scale = -1;
    assert_refused(&bench, DLLM_ERROR_USAGE, "cfg_scale is -1");
    bench.query.prompt_count = 0;
    bench.options.cfg_scale = 1;
    assert_refused(&bench, DLLM_ERROR_USAGE, "cfg_scale is 1, but the prompt is empty");
    bench.options.cfg_scale = 0;
    bench.model.shift_logits = true;
    assert_refused(&bench, DLLM_ERROR_USAGE, "the prompt is empty, but this model");
    bench.model.shift_logits = false;
    bench.query.prompt_count = 3;
    bench.toy.fail_at = 1;
    assert_refused(&bench, DLLM_ERROR_NUMERIC, "row 3 of the scores");
    bench.toy.fail_at = 0;
    bench.options.on_samples = stop_at_32;
    bench.options.context = &done;
    assert_refused(&bench, DLLM_INTERRUPTED, "");
    assert_int_equal(done, 32);
    bench.options = (struct dllm_score_options){.samples = 3, .batch = INT32_MAX};
    bench_run(&bench);
    assert_true(isnan(bench.result.standard_error));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_published),     cmocka_unit_test(test_mask_counts),
        cmocka_unit_test(test_spread),        cmocka_unit_test(test_canvases),
        cmocka_unit_test(test_deterministic), cmocka_unit_test(test_mask_sets),
        cmocka_unit_test(test_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
