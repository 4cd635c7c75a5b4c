/*
 * test_savings.c: what saves rows and passes, on small models through the public
 * interface: exact savings change no bit and do save; caches refreshed at every
 * step change no bit; every option gives the same bits on any number of threads
 * and any CPU level.
 */
#include "step_log.h"
#include "test_paths.h"

#include "dllm.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { REGION = 12, BLOCK = 4 };

static const int32_t prompt[] = {3, 5, 17, 300, 99, 7, 512};
enum { PROMPT = sizeof prompt / sizeof *prompt, LENGTH = PROMPT + REGION };

static const char *const models[] = {"models/llada-Q4_K_M.gguf", "models/dream-Q4_K_M.gguf"};

/* What a run did, and what it took. */
struct outcome {
    struct step_log log;
    int32_t ids[REGION];
    int64_t rows;
    int passes;
    uint64_t workspace_bytes;
    struct dllm_products products;
};

/* An open model; threads 0 and level NULL are the defaults. */
struct fixture {
    struct dllm_engine *engine;
    struct dllm_session *session;
    bool dream;
};

static void open_fixture(struct fixture *fixture, bool dream, int threads, const char *level)
{
    struct dllm_engine_options options = {
        .model_path = test_data_path(models[dream]), .threads = threads, .cpu_level = level};
    struct dllm_error error = {0};

    if (dllm_engine_open(&options, &fixture->engine, &error))
        fail_msg("%s", error.message);
    assert_int_equal(dllm_session_create(fixture->engine, &fixture->session, NULL), DLLM_OK);
    fixture->dream = dream;
}

static void close_fixture(struct fixture *fixture)
{
    dllm_session_destroy(fixture->session);
    dllm_engine_close(fixture->engine);
}

static struct dllm_generate_options defaults(const struct fixture *fixture)
{
    struct dllm_generate_options options;

    dllm_generate_defaults(fixture->engine, false, &options);
    options.max_tokens = REGION;
    options.block_length = BLOCK;
    options.no_early_stop = true;
    return options;
}

static void generate(struct fixture *fixture, struct dllm_generate_options options,
                     struct outcome *out)
{
    struct dllm_result result;
    struct dllm_error error = {0};

    memset(out, 0, sizeof *out);
    step_log_open(&out->log);
    options.on_step = step_log_record;
    options.context = &out->log;
    if (dllm_generate(fixture->session, prompt, PROMPT, &options, &result, &error))
        fail_msg("%s", error.message);
    memcpy(out->ids, result.ids.ids, sizeof out->ids);
    out->rows = result.rows_computed;
    out->passes = result.forward_passes;
    out->workspace_bytes = result.workspace_bytes;
    out->products = result.timings.products;
    dllm_result_free(&result);
}

static void assert_same(const struct outcome *a, const struct outcome *b)
{
    assert_memory_equal(a->ids, b->ids, sizeof a->ids);
    assert_memory_equal(&a->log, &b->log, sizeof a->log);
}

/* Breaks if a cache refreshed at every step, guided or not, is not the pass
 * without one, or is not there: refreshed at blocks alone it computes less. */
static void test_refresh_of_every_step(void **state)
{
    (void)state;
    for (int dream = 0; dream < 2; dream++)
        for (int guided = 0; guided < 2 - dream; guided++) {
            struct outcome plain, cached;
            struct fixture fixture;

            open_fixture(&fixture, dream, 2, NULL);
            struct dllm_generate_options options = defaults(&fixture);
            options.cfg_scale = guided * 1.5;
            generate(&fixture, options, &plain);
            assert_int_equal(plain.rows, plain.passes * LENGTH);
            for (int cache = DLLM_CACHE_PREFIX; cache <= DLLM_CACHE_DUAL; cache++) {
                options.cache = (enum dllm_cache)cache;
                options.cache_refresh = 1;
                generate(&fixture, options, &cached);
                assert_same(&plain, &cached);
                assert_int_equal(plain.rows, cached.rows);
                assert_true(cached.workspace_bytes > plain.workspace_bytes);
                options.cache_refresh = 0;
                generate(&fixture, options, &cached);
                assert_true(cached.rows < plain.rows);
                assert_int_equal(cached.passes, plain.passes);
                assert_true(cached.products.int8_operations < plain.products.int8_operations);
            }
            close_fixture(&fixture);
        }
}

/* Options one by one and together. */
static void set_case(struct dllm_generate_options *options, int index)
{
    switch (index) {
    case 0:
        options->threshold = 0.001;
        options->remasking = DLLM_REMASKING_LOW_CONFIDENCE;
        break;
    case 1:
        options->factor = 4;
        options->remasking = DLLM_REMASKING_LOW_CONFIDENCE;
        break;
    case 2:
        options->entropy_bound = 7;
        options->remasking = DLLM_REMASKING_ENTROPY;
        break;
    case 3:
        options->cache = DLLM_CACHE_PREFIX;
        break;
    case 4:
        options->cache = DLLM_CACHE_DUAL;
        options->cache_refresh = 3;
        options->prompt_refresh = 5;
        break;
    case 5:
        options->suffix_window = 2;
        options->cache = DLLM_CACHE_DUAL;
        options->entropy_bound = 7;
        options->remasking = DLLM_REMASKING_ENTROPY;
        break;
    default:
        options->early_commit = true; /* at these gaps it changes nothing */
        options->suffix_window = 3;
        options->temperature = 0.7;
        break;
    }
}

enum { CASES = 7 };

/* Breaks if threads or a CPU level change a bit under any option. */
static void test_same_bits_everywhere(void **state)
{
    static const char *const levels[] = {"ref", "avx2", "avxvnni", "avx512vnni"};
    static struct outcome want[2][CASES], got;

    (void)state;
    for (int dream = 0; dream < 2; dream++)
        for (size_t l = 0; l < sizeof levels / sizeof *levels; l++)
            for (int threads = 1; threads < 6; threads += 2) {
                struct dllm_engine_options probe = {.model_path = test_data_path(models[dream]),
                                                    .cpu_level = levels[l]};
                struct fixture fixture;

                if (dllm_engine_open(&probe, &fixture.engine, NULL))
                    continue;
                dllm_engine_close(fixture.engine);
                open_fixture(&fixture, dream, threads, levels[l]);
                for (int i = 0; i < CASES; i++) {
                    struct dllm_generate_options options = defaults(&fixture);

                    set_case(&options, i);
                    generate(&fixture, options, &got);
                    if (l == 0 && threads == 1)
                        want[dream][i] = got;
                    assert_same(&want[dream][i], &got);
                }
                close_fixture(&fixture);
            }
}

/* Breaks if an option of the cases above does nothing. */
static void test_every_case_saves(void **state)
{
    (void)state;
    for (int dream = 0; dream < 2; dream++) {
        struct outcome plain, saving;
        struct fixture fixture;

        open_fixture(&fixture, dream, 2, NULL);
        generate(&fixture, defaults(&fixture), &plain);
        for (int i = 0; i < CASES; i++) {
            struct dllm_generate_options options = defaults(&fixture);

            set_case(&options, i);
            generate(&fixture, options, &saving);
            assert_true(saving.rows < plain.rows);
        }
        close_fixture(&fixture);
    }
}

/* Breaks if a guided step reads the weights twice, or leaves a canvas out. */
static void test_guidance_reads_weights_once(void **state)
{
    struct outcome plain, guided;
    struct fixture fixture;
    struct dllm_generate_options options;

    (void)state;
    open_fixture(&fixture, false, 2, NULL);
    options = defaults(&fixture);
    generate(&fixture, options, &plain);
    options.cfg_scale = 1.5;
    generate(&fixture, options, &guided);
    assert_int_equal(guided.passes, 2 * plain.passes);
    assert_int_equal(guided.rows, 2 * plain.rows);
    assert_true(guided.products.weight_bytes == plain.products.weight_bytes);
    assert_true(guided.products.int8_operations > 1.9 * plain.products.int8_operations);
    close_fixture(&fixture);
}

/* Operations of a run of `steps` steps in one block. */
static double operations_of(int steps)
{
    struct outcome outcome;
    struct fixture fixture;
    struct dllm_generate_options options;

    open_fixture(&fixture, false, 2, NULL);
    options = defaults(&fixture);
    options.block_length = REGION;
    options.steps = steps;
    generate(&fixture, options, &outcome);
    close_fixture(&fixture);
    return outcome.products.int8_operations;
}

/* Breaks if rows that cannot be chosen go through the head or past the last
 * layer's attention, or if the first layer's products are computed anew for
 * tokens that did not change: of two steps that commit six tokens each, the
 * second has six candidates less, and six tokens that are new. */
static void test_rows_of_later_steps(void **state)
{
    enum { HIDDEN = 256, FFN = 768, VOCAB = 1024, GONE = 6 };
    double first = operations_of(1), second = operations_of(2) - first;
    double per_candidate = 2.0 * HIDDEN * (VOCAB + 2 * HIDDEN + 3 * FFN);

    (void)state;
    assert_true(first - second ==
                GONE * per_candidate + 2.0 * (LENGTH - GONE) * 3 * HIDDEN * HIDDEN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_refresh_of_every_step),
        cmocka_unit_test(test_same_bits_everywhere),
        cmocka_unit_test(test_every_case_saves),
        cmocka_unit_test(test_guidance_reads_weights_once),
        cmocka_unit_test(test_rows_of_later_steps),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
