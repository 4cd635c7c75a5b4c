/*
 * test_cache_goldens.c: the loop with caches against seven runs of the published
 * prefix and dual cache on a closed-form model of two stages, with toy_model.h's
 * ids, whose rows go stale; and which rows the other options compute.
 */
#include "jsonl.h"
#include "step_log.h"
#include "toy_model.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MAX_LENGTH = 64, MAX_CALLS = 128 };

/* Both stages of every position as they were when it was last computed, and the
 * windows asked for. */
struct stale_model {
    int a[MAX_LENGTH], h[MAX_LENGTH];
    int length;
    int windows[MAX_CALLS][2];
    int lengths[MAX_CALLS];
    int calls;
};

static int value_at(const int *values, int length, int position)
{
    return position >= 0 && position < length ? values[position] : 0;
}

static void compute(struct stale_model *model, const int32_t *ids, int low, int high)
{
    int n = model->length;

    for (int p = low; p < high; p++)
        model->a[p] = ids[p];
    for (int p = low; p < high; p++)
        model->h[p] = (5 * p + 23 * value_at(model->a, n, p - 2) +
                       7 * value_at(model->a, n, p - 1) + 3 * model->a[p] +
                       13 * value_at(model->a, n, p + 1) + 19 * value_at(model->a, n, p + 2)) %
                      97;
}

static void stale_logits(const struct stale_model *model, int p, float *logits)
{
    const int *h = model->h;
    int n = model->length;

    for (int t = 0; t < TOY_MASK; t++)
        logits[t] = (float)((31 * p + 17 * t + 29 * value_at(h, n, p - 2) +
                             7 * value_at(h, n, p - 1) + 11 * h[p] + 13 * value_at(h, n, p + 1) +
                             37 * value_at(h, n, p + 2) + 5 * t * t + 3 * p * t) %
                            97) /
                        16 +
                    (float)t / 1024;
    logits[TOY_MASK] = -1;
}

static enum dllm_status stale_score(void *context, const struct denoise_request *request,
                                    struct pick *picks, struct dllm_error *error)
{
    struct stale_model *model = context;
    struct pick_rules rules = *request->rules;
    void *scratch = aligned_alloc(64, pick_scratch_bytes(TOY_VOCAB));
    float logits[TOY_VOCAB];

    model->length = request->length;
    model->windows[model->calls][0] = request->low;
    model->windows[model->calls][1] = request->high;
    model->lengths[model->calls++] = request->length;
    compute(model, request->canvas, request->low, request->high);
    rules.banned_count = 0; /* as published, the mask takes part in the softmax */
    for (int i = 0; i < request->count; i++) {
        assert_in_range(request->rows[i], request->low, request->high - 1);
        stale_logits(model, request->rows[i], logits);
        pick_row(logits, TOY_VOCAB, &rules, request->positions[i], scratch, &picks[i], error);
    }
    free(scratch);
    return DLLM_OK;
}

/* A run: model, options, canvas and what came of it. */
struct bench {
    struct stale_model stale;
    struct denoise_model model;
    struct dllm_generate_options options;
    struct denoise_result result;
    struct dllm_error error;
    struct step_log log;
    int32_t canvas[MAX_LENGTH];
    int prompt, length;
};

static void bench_open(struct bench *bench, bool dream, int prompt, int region)
{
    memset(bench, 0, sizeof *bench);
    bench->model = (struct denoise_model){.score = stale_score,
                                          .context = &bench->stale,
                                          .dream = dream,
                                          .shift_logits = dream,
                                          .mask_id = TOY_MASK,
                                          .eos_id = TOY_EOS,
                                          .eot_id = TOY_EOT};
    step_log_open(&bench->log);
    bench->options = (struct dllm_generate_options){.max_tokens = region,
                                                    .top_p = 1,
                                                    .no_early_stop = true,
                                                    .on_step = step_log_record,
                                                    .context = &bench->log};
    bench->prompt = prompt;
    bench->length = prompt + region;
    for (int i = 0; i < bench->length; i++)
        bench->canvas[i] = i < prompt ? (3 * i + 1) % 9 : TOY_MASK;
}

static enum dllm_status bench_try(struct bench *bench)
{
    const struct canvas_gap gap = {bench->prompt, bench->options.max_tokens};
    const struct denoise_canvas canvas = {bench->canvas, bench->length, &gap, 1};

    return denoise_run(&bench->model, &canvas, &bench->options, &bench->result, &bench->error);
}

static void bench_run(struct bench *bench)
{
    assert_int_equal(bench_try(bench), DLLM_OK);
}

/* The windows of the run are those listed, [low, high) and the canvas's length. */
static void assert_windows(const struct bench *bench, const int (*expected)[3], int count)
{
    int64_t rows = 0;

    assert_int_equal(bench->stale.calls, count);
    for (int i = 0; i < count; i++) {
        assert_int_equal(bench->stale.windows[i][0], expected[i][0]);
        assert_int_equal(bench->stale.windows[i][1], expected[i][1]);
        assert_int_equal(bench->stale.lengths[i], expected[i][2]);
        rows += expected[i][1] - expected[i][0];
    }
    assert_int_equal(bench->result.rows_computed, rows);
}

#define ASSERT_WINDOWS(bench, ...)                                                                 \
    assert_windows(&(bench), (const int[][3]){__VA_ARGS__},                                        \
                   (int)(sizeof((const int[][3]){__VA_ARGS__}) / sizeof(int[3])))

/* --- goldens --- */

static int64_t integer_at(const json_t *array, size_t index)
{
    return json_integer_value(json_array_get(array, index));
}

static void bench_of_golden(struct bench *bench, const json_t *golden)
{
    const json_t *prompt = json_object_get(golden, "prompt");
    const char *sampler = json_string_value(json_object_get(golden, "sampler"));
    double threshold = jsonl_number(golden, "threshold", 0);
    double factor = jsonl_number(golden, "factor", 0);

    bench_open(bench, false, (int)json_array_size(prompt), (int)jsonl_number(golden, "gen", 0));
    for (int i = 0; i < bench->prompt; i++)
        bench->canvas[i] = (int32_t)integer_at(prompt, (size_t)i);
    bench->options.block_length = (int)jsonl_number(golden, "block", 0);
    bench->options.threshold = threshold;
    bench->options.factor = factor;
    if (threshold == 0 && factor == 0)
        bench->options.steps = (int)jsonl_number(golden, "nsteps", 0);
    bench->options.cache = strcmp(sampler, "llada_dual") == 0 ? DLLM_CACHE_DUAL : DLLM_CACHE_PREFIX;
}

static void check_step(const json_t *expected, const struct bench *bench, int index)
{
    const struct logged_step *step = &bench->log.steps[index];

    assert_int_equal(step->committed, json_array_size(expected));
    for (int i = 0; i < step->committed; i++) {
        const json_t *commit = json_array_get(expected, (size_t)i);
        int at = step->first + i;

        assert_int_equal(bench->log.positions[at], integer_at(commit, 0));
        assert_int_equal(bench->log.tokens[at], integer_at(commit, 1));
        assert_true(
            fabs(bench->log.confidences[at] - json_number_value(json_array_get(commit, 2))) < 1e-5);
    }
}

static void check_golden(const json_t *golden)
{
    const json_t *rows = json_object_get(golden, "rows");
    const json_t *final = json_object_get(golden, "final");
    struct bench bench;

    bench_of_golden(&bench, golden);
    bench_run(&bench);
    assert_int_equal(bench.stale.calls, json_array_size(rows));
    assert_int_equal(bench.result.forward_passes, jsonl_number(golden, "forwards", 0));
    for (size_t i = 0; i < json_array_size(rows); i++) {
        assert_int_equal(bench.stale.windows[i][0], integer_at(json_array_get(rows, i), 0));
        assert_int_equal(bench.stale.windows[i][1], integer_at(json_array_get(rows, i), 1));
        check_step(json_array_get(json_object_get(golden, "steps"), i), &bench, (int)i);
    }
    for (size_t i = 0; i < json_array_size(final); i++)
        assert_int_equal(bench.canvas[bench.prompt + (int)i], integer_at(final, i));
}

/* Would break: a row computed when it should be stale or the reverse, a commit
 * from rows of another pass. */
static void test_goldens(void **state)
{
    json_t *goldens = jsonl_load("tests/data/cache_goldens.jsonl");

    (void)state;
    assert_int_equal(json_array_size(goldens), 7);
    for (size_t i = 0; i < json_array_size(goldens); i++)
        check_golden(json_array_get(goldens, i));
    json_decref(goldens);
}

/* --- windows --- */

/* Would break: Dream's block computed without the row that scores its first
 * position, which lies before it. */
static void test_dream_keeps_the_row_before(void **state)
{
    struct bench bench;

    (void)state;
    bench_open(&bench, true, 4, 8);
    bench.options.block_length = 4;
    bench.options.steps = 6;
    bench.options.cache = DLLM_CACHE_DUAL;
    bench_run(&bench);
    ASSERT_WINDOWS(bench, {0, 12, 12}, {3, 8, 12}, {3, 8, 12}, {0, 12, 12}, {7, 12, 12},
                   {7, 12, 12});
    bench_open(&bench, true, 0, 4); /* no row is before the first */
    bench.options.steps = 2;
    bench.options.cache = DLLM_CACHE_PREFIX;
    bench_run(&bench);
    ASSERT_WINDOWS(bench, {0, 4, 4}, {0, 4, 4});
}

/* Would break: masks in the prompt that no later step of the first block scores. */
static void test_masks_in_the_prompt(void **state)
{
    struct bench bench;

    (void)state;
    bench_open(&bench, false, 4, 8);
    bench.canvas[2] = TOY_MASK;
    bench.options.block_length = 4;
    bench.options.steps = 4;
    bench.options.cache = DLLM_CACHE_DUAL;
    bench_run(&bench);
    ASSERT_WINDOWS(bench, {0, 12, 12}, {2, 8, 12}, {0, 12, 12}, {8, 12, 12});
}

/* Would break: a refresh off by one; one that restarts with the run's steps
 * instead of the block's. */
static void test_refresh(void **state)
{
    struct bench bench;

    (void)state;
    bench_open(&bench, false, 2, 10);
    bench.options.block_length = 5;
    bench.options.cache = DLLM_CACHE_PREFIX;
    bench.options.cache_refresh = 3;
    bench_run(&bench);
    ASSERT_WINDOWS(bench, {0, 12, 12}, {2, 12, 12}, {2, 12, 12}, {0, 12, 12}, {2, 12, 12},
                   {0, 12, 12}, {7, 12, 12}, {7, 12, 12}, {0, 12, 12}, {7, 12, 12});
}

/* Would break: a prompt refreshed too early or never; Dream's row before the
 * answer left out. */
static void test_prompt_refresh(void **state)
{
    struct bench bench;

    (void)state;
    bench_open(&bench, false, 5, 6);
    bench.options.block_length = 2;
    bench.options.cache = DLLM_CACHE_DUAL;
    bench.options.prompt_refresh = 3;
    bench_run(&bench);
    ASSERT_WINDOWS(bench, {0, 11, 11}, {5, 7, 11}, {5, 11, 11}, {7, 9, 11}, {0, 11, 11},
                   {9, 11, 11});
    bench_open(&bench, true, 5, 4);
    bench.options.steps = 4;
    bench.options.cache = DLLM_CACHE_PREFIX;
    bench.options.cache_refresh = 1;
    bench.options.prompt_refresh = 100;
    bench_run(&bench);
    ASSERT_WINDOWS(bench, {0, 9, 9}, {4, 9, 9}, {4, 9, 9});
}

/* Would break: a window that hides masks of the block, or still hides some when
 * their turn has come; text behind the answer that is dropped in silence. */
static void test_suffix_window(void **state)
{
    struct bench bench;

    (void)state;
    bench_open(&bench, false, 3, 9);
    bench.options.block_length = 3;
    bench.options.steps = 6;
    bench.options.suffix_window = 2;
    bench_run(&bench);
    ASSERT_WINDOWS(bench, {0, 8, 8}, {0, 8, 8}, {0, 11, 11}, {0, 11, 11}, {0, 12, 12}, {0, 12, 12});
    bench_open(&bench, false, 3, 9);
    bench.options.block_length = 3;
    bench.options.steps = 6;
    bench.options.suffix_window = 1;
    bench.options.cache = DLLM_CACHE_PREFIX;
    bench_run(&bench);
    ASSERT_WINDOWS(bench, {0, 7, 7}, {3, 7, 7}, {0, 10, 10}, {6, 10, 10}, {0, 12, 12}, {9, 12, 12});
    bench_open(&bench, false, 3, 9);
    bench.options.block_length = 3;
    bench.options.suffix_window = 2;
    bench.canvas[bench.length++] = 4;
    assert_int_equal(bench_try(&bench), DLLM_ERROR_USAGE);
    assert_non_null(strstr(bench.error.message, "position 12 holds id 4"));
}

/* Would break: a cache refreshed at every step that is not the whole pass. */
static void test_refresh_of_every_step(void **state)
{
    (void)state;
    for (int dream = 0; dream < 2; dream++)
        for (int cache = DLLM_CACHE_PREFIX; cache <= DLLM_CACHE_DUAL; cache++) {
            struct bench plain, cached;

            bench_open(&plain, dream, 4, 16);
            plain.options.block_length = 8;
            cached = plain;
            cached.model.context = &cached.stale;
            cached.options.context = &cached.log;
            cached.options.cache = (enum dllm_cache)cache;
            cached.options.cache_refresh = 1;
            bench_run(&plain);
            bench_run(&cached);
            assert_memory_equal(&plain.log, &cached.log, sizeof plain.log);
            assert_int_equal(plain.result.rows_computed, cached.result.rows_computed);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_goldens),
        cmocka_unit_test(test_dream_keeps_the_row_before),
        cmocka_unit_test(test_masks_in_the_prompt),
        cmocka_unit_test(test_refresh),
        cmocka_unit_test(test_prompt_refresh),
        cmocka_unit_test(test_suffix_window),
        cmocka_unit_test(test_refresh_of_every_step),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
