/*
 * test_contract.c: what dllm.h says of all calls.
 *
 * What would break: a failed call that leaves something to free or a session that is of no use
 * afterwards; an array of no elements that may not be NULL; a callback that waits for ever when it
 * calls the library; an error record that must be there; a call that needs more stack than is
 * said; a version in the header that is another one than the library's.
 */
#include "dllm.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

struct fixture {
    struct dllm_engine *engine;
    struct dllm_session *session;
    struct dllm_generate_options options;
    int vocab;
};

static int open_fixture(void **state)
{
    static struct fixture fixture;
    const struct dllm_engine_options options = {.model_path = DLLM_DEMO_MODEL};
    struct dllm_model_info info;

    assert_int_equal(dllm_engine_open(&options, &fixture.engine, NULL), DLLM_OK);
    assert_int_equal(dllm_session_create(fixture.engine, &fixture.session, NULL), DLLM_OK);
    dllm_generate_defaults(fixture.engine, false, &fixture.options);
    fixture.options.max_tokens = 8;
    dllm_engine_info(fixture.engine, &info);
    fixture.vocab = info.vocab;
    *state = &fixture;
    return 0;
}

static int close_fixture(void **state)
{
    struct fixture *fixture = *state;

    dllm_session_destroy(fixture->session);
    dllm_engine_close(fixture->engine);
    return 0;
}

static void expect_empty(const struct dllm_result *result)
{
    const struct dllm_result empty = {0};

    assert_memory_equal(result, &empty, sizeof empty);
}

/* A program can ask at compile time what dllm_version says at run time. */
static void test_version(void **state)
{
    char version[40];

    (void)state;
    snprintf(version, sizeof version, "%d.%d.%d", DLLM_VERSION_MAJOR, DLLM_VERSION_MINOR,
             DLLM_VERSION_PATCH);
    assert_string_equal(dllm_version(), version);
}

/* Records that hold something else before. */
static void test_nothing_left_to_free(void **state)
{
    struct fixture *fixture = *state;
    struct dllm_engine *engine = fixture->engine;
    const struct dllm_engine_options none = {.model_path = "no such file"};
    const struct dllm_product_options product_options = {.rows = 0, .width = 1, .tokens = 1};
    struct dllm_file *file = (struct dllm_file *)state;
    struct dllm_engine *other = (struct dllm_engine *)state;
    struct dllm_session *session = (struct dllm_session *)state;
    struct dllm_product *product = (struct dllm_product *)state;
    struct dllm_ids ids = {(int32_t *)(void *)state, 7};
    struct dllm_text text = {(char *)state, 7};

    assert_int_equal(dllm_file_open("no such file", &file, NULL), DLLM_ERROR_IO);
    assert_int_equal(dllm_engine_open(&none, &other, NULL), DLLM_ERROR_IO);
    assert_int_equal(dllm_session_create_apart(engine, -1, &session, NULL), DLLM_ERROR_USAGE);
    assert_int_equal(dllm_product_create(&product_options, &product, NULL), DLLM_ERROR_USAGE);
    assert_int_equal(dllm_encode_chat(engine, NULL, 0, false, &ids, NULL), DLLM_ERROR_USAGE);
    assert_int_equal(dllm_decode(engine, &fixture->vocab, 1, false, &text, NULL), DLLM_ERROR_USAGE);
    assert_null(file);
    assert_null(other);
    assert_null(session);
    assert_null(product);
    assert_null(ids.ids);
    assert_null(text.data);
}

static void test_session_goes_on_after_errors(void **state)
{
    struct fixture *fixture = *state;
    const int32_t outside[] = {fixture->vocab}, prompt[] = {3, 5, 7};
    struct dllm_generate_options wrong = fixture->options;
    struct dllm_result result, again;
    float logits;

    wrong.threshold = 2;
    assert_int_equal(dllm_generate(fixture->session, prompt, 3, &fixture->options, &result, NULL),
                     DLLM_OK);
    assert_int_equal(dllm_generate(fixture->session, outside, 1, &fixture->options, &again, NULL),
                     DLLM_ERROR_USAGE);
    expect_empty(&again);
    assert_int_equal(dllm_generate(fixture->session, prompt, 3, &wrong, &again, NULL),
                     DLLM_ERROR_USAGE);
    expect_empty(&again);
    assert_int_equal(dllm_fill(fixture->session, prompt, 3, &fixture->options, &again, NULL),
                     DLLM_ERROR_USAGE);
    expect_empty(&again);
    assert_int_equal(dllm_logits(fixture->session, NULL, 0, NULL, 0, false, &logits, NULL),
                     DLLM_ERROR_USAGE);
    assert_int_equal(dllm_generate(fixture->session, prompt, 3, &fixture->options, &again, NULL),
                     DLLM_OK);
    assert_memory_equal(result.ids.ids, again.ids.ids, result.ids.count * sizeof *result.ids.ids);
    dllm_result_free(&result);
    expect_empty(&result);
    dllm_result_free(&again);
    dllm_result_free(&again);
}

static void test_empty_arrays_may_be_null(void **state)
{
    struct fixture *fixture = *state;
    const struct dllm_string nothing = {NULL, 0};
    struct dllm_result result;
    struct dllm_ids ids;
    struct dllm_text text;

    assert_int_equal(dllm_generate(fixture->session, NULL, 0, &fixture->options, &result, NULL),
                     DLLM_OK);
    assert_int_equal(result.ids.count, 8);
    dllm_result_free(&result);
    assert_int_equal(dllm_encode(fixture->engine, nothing, DLLM_ENCODE_NO_BOS, &ids, NULL),
                     DLLM_OK);
    assert_int_equal(ids.count, 0);
    dllm_ids_free(&ids);
    assert_int_equal(dllm_decode(fixture->engine, NULL, 0, false, &text, NULL), DLLM_OK);
    assert_string_equal(text.data, "");
    dllm_text_free(&text);
}

/* Generates with a session of its own while another is at work. */
static int generate_inside(void *context, const struct dllm_step *step)
{
    struct fixture *fixture = context;
    struct dllm_session *session;
    struct dllm_result result;
    struct dllm_text text;

    assert_int_equal(
        dllm_decode(fixture->engine, step->canvas, step->canvas_count, true, &text, NULL), DLLM_OK);
    dllm_text_free(&text);
    assert_int_equal(dllm_session_create(fixture->engine, &session, NULL), DLLM_OK);
    assert_int_equal(dllm_generate(session, NULL, 0, &fixture->options, &result, NULL), DLLM_OK);
    dllm_result_free(&result);
    dllm_session_destroy(session);
    return step->step == 1;
}

static void test_callback_may_call(void **state)
{
    struct fixture *fixture = *state;
    struct dllm_generate_options options = fixture->options;
    struct dllm_result result;

    options.on_step = generate_inside;
    options.context = fixture;
    assert_int_equal(dllm_generate(fixture->session, NULL, 0, &options, &result, NULL), DLLM_OK);
    assert_int_equal(result.finish, DLLM_FINISH_INTERRUPTED);
    assert_int_equal(result.steps, 2);
    dllm_result_free(&result);
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) /* these take more */
/* What no frame is large enough to leap over lies below the stack. */
enum { STACK_BYTES = 64 << 10, GUARD_BYTES = 1 << 20 };

static void *use_all(void *context)
{
    const struct dllm_engine_options options = {.model_path = DLLM_DEMO_MODEL, .threads = 1};
    const struct dllm_string text = {"What is 27 + 58?", 16};
    struct dllm_score_options score_options;
    struct dllm_score_query query;
    struct dllm_likelihood likelihood;
    struct fixture own;
    struct dllm_result result;
    struct dllm_ids ids;

    (void)context;
    assert_int_equal(dllm_engine_open(&options, &own.engine, NULL), DLLM_OK);
    assert_int_equal(dllm_session_create(own.engine, &own.session, NULL), DLLM_OK);
    assert_int_equal(dllm_encode(own.engine, text, 0, &ids, NULL), DLLM_OK);
    dllm_generate_defaults(own.engine, false, &own.options);
    assert_int_equal(dllm_generate(own.session, ids.ids, ids.count, &own.options, &result, NULL),
                     DLLM_OK);
    dllm_score_defaults(&score_options);
    query = (struct dllm_score_query){ids.ids, ids.count, ids.ids, ids.count};
    assert_int_equal(dllm_score(own.session, &query, &score_options, &likelihood, NULL), DLLM_OK);
    assert_true(dllm_engine_ceiling(own.engine, true) >= 0);
    dllm_result_free(&result);
    dllm_ids_free(&ids);
    dllm_session_destroy(own.session);
    dllm_engine_close(own.engine);
    return NULL;
}

/* Crashes if a call on the only thread of an engine needs more stack than is said. */
static void test_small_stack(void **state)
{
    char *memory =
        mmap(NULL, GUARD_BYTES + STACK_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    pthread_attr_t attributes;
    pthread_t thread;

    (void)state;
    assert_true(memory != MAP_FAILED);
    assert_int_equal(mprotect(memory + GUARD_BYTES, STACK_BYTES, PROT_READ | PROT_WRITE), 0);
    pthread_attr_init(&attributes);
    assert_int_equal(pthread_attr_setstack(&attributes, memory + GUARD_BYTES, STACK_BYTES), 0);
    assert_int_equal(pthread_create(&thread, &attributes, use_all, NULL), 0);
    pthread_join(thread, NULL);
    pthread_attr_destroy(&attributes);
    munmap(memory, GUARD_BYTES + STACK_BYTES);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_version),
        cmocka_unit_test(test_nothing_left_to_free),
        cmocka_unit_test(test_session_goes_on_after_errors),
        cmocka_unit_test(test_empty_arrays_may_be_null),
        cmocka_unit_test(test_callback_may_call),
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
        cmocka_unit_test(test_small_stack),
#endif
    };

    return cmocka_run_group_tests_name("contract", tests, open_fixture, close_fixture);
}
