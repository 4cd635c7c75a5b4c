/*
 * test_memory_check.c: what a run is said to need beside the file, and the refusal
 * of what does not fit.
 *
 * What would break: a second canvas, a cache or other sessions that are not counted;
 * what sessions hold already counted twice; sums that wrap around.
 */
#include "memory_check.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static const int32_t prompt[] = {3, 5, 17, 30, 99, 7, 51};
enum { PROMPT = sizeof prompt / sizeof *prompt, REGION = 40 };

static struct dllm_engine *open_demo(void)
{
    struct dllm_engine_options options = {.model_path = DLLM_DEMO_MODEL, .threads = 2};
    struct dllm_engine *engine = NULL;
    struct dllm_error error = {0};

    if (dllm_engine_open(&options, &engine, &error))
        fail_msg("%s", error.message);
    return engine;
}

/* What a run with these options is said to need; it must be what it then takes. */
static uint64_t generated(struct dllm_engine *engine, double cfg_scale, enum dllm_cache cache)
{
    struct dllm_generate_options options;
    struct dllm_session *session;
    struct dllm_result result;
    uint64_t told;

    dllm_generate_defaults(engine, false, &options);
    options.max_tokens = REGION;
    options.steps = 4;
    options.block_length = 10;
    options.cfg_scale = cfg_scale;
    options.cache = cache;
    told = dllm_generate_workspace_bytes(engine, PROMPT + REGION, &options);
    assert_int_equal(dllm_session_create(engine, &session, NULL), DLLM_OK);
    assert_int_equal(dllm_session_workspace_bytes(session), 0);
    assert_int_equal(dllm_generate(session, prompt, PROMPT, &options, &result, NULL), DLLM_OK);
    assert_int_equal(result.workspace_bytes, told);
    assert_int_equal(dllm_session_workspace_bytes(session), told);
    dllm_result_free(&result);
    dllm_session_destroy(session);
    return told;
}

static void test_generation(void **state)
{
    struct dllm_engine *engine = open_demo();
    uint64_t plain = generated(engine, 0, DLLM_CACHE_NONE);
    uint64_t guided = generated(engine, 1, DLLM_CACHE_NONE);
    uint64_t cached = generated(engine, 0, DLLM_CACHE_DUAL);

    (void)state;
    assert_true(guided > plain + plain / 2);
    assert_true(cached > plain);
    assert_true(generated(engine, 1, DLLM_CACHE_PREFIX) - guided > cached - plain);
    dllm_engine_close(engine);
}

static uint64_t scored(struct dllm_engine *engine, double cfg_scale)
{
    struct dllm_score_query query = {prompt, PROMPT, prompt, PROMPT};
    struct dllm_likelihood likelihood;
    struct dllm_score_options options;
    struct dllm_session *session;
    uint64_t told;

    dllm_score_defaults(&options);
    options.cfg_scale = cfg_scale;
    told = dllm_score_workspace_bytes(engine, &query, &options);
    assert_int_equal(dllm_session_create(engine, &session, NULL), DLLM_OK);
    assert_int_equal(dllm_score(session, &query, &options, &likelihood, NULL), DLLM_OK);
    assert_int_equal(dllm_session_workspace_bytes(session), told);
    dllm_session_destroy(session);
    return told;
}

static void test_score(void **state)
{
    struct dllm_engine *engine = open_demo();
    uint64_t plain = scored(engine, 0);

    (void)state;
    assert_true(plain > dllm_engine_workspace_bytes(engine, 2 * PROMPT, PROMPT));
    assert_true(scored(engine, 1) > plain);
    dllm_engine_close(engine);
}

/* Sizes that no session takes have none. */
static void test_beyond_counting(void **state)
{
    struct dllm_engine *engine = open_demo();
    struct dllm_generate_options options;
    struct dllm_score_options score;
    struct dllm_score_query query = {.prompt_count = SIZE_MAX, .answer_count = 2};

    (void)state;
    dllm_score_defaults(&score);
    dllm_generate_defaults(engine, false, &options);
    assert_int_equal(dllm_engine_workspace_bytes(engine, SIZE_MAX, 1), 0);
    assert_int_equal(dllm_engine_workspace_bytes(engine, 0, 0), 0);
    assert_int_equal(dllm_generate_workspace_bytes(engine, SIZE_MAX, &options), 0);
    assert_int_equal(dllm_score_workspace_bytes(engine, &query, &score), 0);
    query = (struct dllm_score_query){.prompt_count = 4};
    assert_int_equal(dllm_score_workspace_bytes(engine, &query, &score), 0);
    dllm_engine_close(engine);
}

static void test_total(void **state)
{
    struct memory_need need = {.workspace = 100};

    (void)state;
    assert_int_equal(memory_total(&need, 7), 107);
    need.sessions = 3;
    assert_int_equal(memory_total(&need, 7), 307);
    need.workspace = UINT64_MAX / 3;
    assert_true(memory_total(&need, 7) == UINT64_MAX);
    need.workspace++;
    assert_true(memory_total(&need, 7) == UINT64_MAX);
}

/* available 0: what the machine has. */
static int check(const struct dllm_engine *engine, const struct memory_need *need,
                 uint64_t available, struct cli_capture *capture)
{
    int code;

    *capture = (struct cli_capture){0};
    cli_capture_errors(capture);
    code = available ? memory_check_against(engine, need, available) : memory_check(engine, need);
    cli_capture_errors(NULL);
    return code;
}

/* What fits with its last byte, and what does not by one; sessions that are there
 * already count once; the message names what makes it smaller. A canvas that the model's context
 * length forbids is not told to be one of memory. */
static void test_refusal(void **state)
{
    const uint64_t gib = 1 << 30;
    struct dllm_engine *engine = open_demo();
    struct dllm_model_info info;
    struct cli_capture capture;
    struct memory_need need = {.canvas = 60, .workspace = gib};

    (void)state;
    dllm_engine_info(engine, &info);
    assert_int_equal(check(engine, &need, gib + info.host_bytes, &capture), CLI_OK);
    assert_int_equal(check(engine, &need, gib + info.host_bytes - 1, &capture), CLI_FAILURE);
    need.sessions = 4;
    need.sessions_option = "--parallel";
    assert_int_equal(check(engine, &need, 4 * gib, &capture), CLI_FAILURE);
    assert_non_null(strstr(capture.message, "4.00 GiB of memory are available"));
    assert_non_null(strstr(capture.message, "for 4 canvases of 60 positions"));
    assert_non_null(strstr(capture.message, "(--parallel), or insist with --force"));
    need.held = gib;
    assert_int_equal(check(engine, &need, 3 * gib + info.host_bytes, &capture), CLI_OK);
    assert_int_equal(check(engine, &need, 3 * gib, &capture), CLI_FAILURE);
    need = (struct memory_need){.canvas = 60, .workspace = gib, .guided = true, .cached = true};
    assert_int_equal(check(engine, &need, gib, &capture), CLI_FAILURE);
    assert_non_null(strstr(capture.message, "for 2 canvases of 60 positions"));
    assert_non_null(strstr(capture.message, "(--cache none), no guidance (--cfg-scale 0), or"));
    need.force = true;
    assert_int_equal(check(engine, &need, gib, &capture), CLI_OK);
    need = (struct memory_need){.canvas = (size_t)info.context_length + 1, .workspace = gib};
    assert_int_equal(check(engine, &need, gib, &capture), CLI_OK);
    need.allow_long = true;
    assert_int_equal(check(engine, &need, gib, &capture), CLI_FAILURE);
    dllm_engine_close(engine);
}

/* Breaks if the machine's own memory is not what a run is compared with: nothing fits
 * everywhere, exbibytes nowhere. */
static void test_this_machine(void **state)
{
    struct dllm_engine *engine = open_demo();
    struct cli_capture capture;
    struct memory_need need = {.canvas = 60};

    (void)state;
    assert_int_equal(check(engine, &need, 0, &capture), CLI_OK);
    need.workspace = UINT64_MAX / 4;
    assert_int_equal(check(engine, &need, 0, &capture), CLI_FAILURE);
    dllm_engine_close(engine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_generation),      cmocka_unit_test(test_score),
        cmocka_unit_test(test_beyond_counting), cmocka_unit_test(test_total),
        cmocka_unit_test(test_refusal),         cmocka_unit_test(test_this_machine),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
