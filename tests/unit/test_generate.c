/*
 * test_generate.c: runs of small models through the public interface.
 *
 * What would break: picks that belong to other rows or chunks; guidance with
 * the two passes exchanged; a stop string or callback that does not end the
 * run; step times that do not match the steps; memory taken inside a step.
 */
#include "test_paths.h"

#include "dllm.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { VOCAB = 1024, MASK = 961 };

/* --- counting allocations --- */

/* Sanitizers bring their own malloc. */
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define CAN_COUNT

static atomic_int counting, allocations;

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *block, size_t size);
void *__libc_memalign(size_t alignment, size_t size);

static void count_one(void)
{
    if (atomic_load_explicit(&counting, memory_order_relaxed))
        atomic_fetch_add(&allocations, 1);
}

void *malloc(size_t size)
{
    count_one();
    return __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    count_one();
    return __libc_calloc(count, size);
}

void *realloc(void *block, size_t size)
{
    count_one();
    return __libc_realloc(block, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
    count_one();
    return __libc_memalign(alignment, size);
}
#endif

/* --- helpers --- */

struct fixture {
    struct dllm_engine *engine;
    struct dllm_session *session;
    struct dllm_generate_options options;
    struct dllm_result result;
};

static const int32_t prompt[] = {3, 5, 17, 300, 99};
enum { PROMPT = 5 };

static void open_fixture(struct fixture *fixture, const char *name)
{
    struct dllm_engine_options options = {.model_path = test_data_path(name), .threads = 2};
    struct dllm_error error = {0};

    *fixture = (struct fixture){0};
    if (dllm_engine_open(&options, &fixture->engine, &error))
        fail_msg("%s", error.message);
    assert_int_equal(dllm_session_create(fixture->engine, &fixture->session, NULL), DLLM_OK);
    dllm_generate_defaults(fixture->engine, false, &fixture->options);
}

static void close_fixture(struct fixture *fixture)
{
    dllm_result_free(&fixture->result);
    dllm_session_destroy(fixture->session);
    dllm_engine_close(fixture->engine);
}

static void generate(struct fixture *fixture)
{
    struct dllm_error error = {0};

    dllm_result_free(&fixture->result);
    if (dllm_generate(fixture->session, prompt, PROMPT, &fixture->options, &fixture->result,
                      &error))
        fail_msg("%s", error.message);
}

/* Logits of all rows of a canvas. */
static float *all_logits(struct fixture *fixture, const int32_t *canvas, int length)
{
    int32_t *rows = malloc((size_t)length * sizeof *rows);
    float *logits = malloc((size_t)length * VOCAB * sizeof *logits);

    for (int i = 0; i < length; i++)
        rows[i] = i;
    assert_int_equal(dllm_logits(fixture->session, canvas, (size_t)length, rows, (size_t)length,
                                 true, logits, NULL),
                     DLLM_OK);
    free(rows);
    return logits;
}

/* The best id of a row that may be predicted: all of these models but the mask. */
static int32_t best_of(const float *row)
{
    int32_t best = MASK == 0;

    for (int32_t id = 0; id < VOCAB; id++)
        if (id != MASK && row[id] > row[best])
            best = id;
    return best;
}

/* --- tests --- */

/* One step over a region of more rows than are scored at once: every id must
 * be the best of its own row. */
static void test_one_step_is_argmax(void **state)
{
    enum { REGION = 300, LENGTH = PROMPT + REGION };
    struct fixture fixture;
    int32_t canvas[LENGTH];
    float *logits;

    (void)state;
    open_fixture(&fixture, "models/llada-Q4_K_M.gguf");
    fixture.options.max_tokens = fixture.options.block_length = REGION;
    fixture.options.steps = 1;
    generate(&fixture);
    memcpy(canvas, prompt, sizeof prompt);
    for (int i = PROMPT; i < LENGTH; i++)
        canvas[i] = MASK;
    logits = all_logits(&fixture, canvas, LENGTH);
    for (int i = 0; i < REGION; i++)
        assert_int_equal(fixture.result.ids.ids[i], best_of(logits + (size_t)(PROMPT + i) * VOCAB));
    free(logits);
    close_fixture(&fixture);
}

/* Under guidance the best of u + (c + 1)(l - u), u from the canvas with its
 * prompt masked. */
static void test_guidance(void **state)
{
    enum { REGION = 12, LENGTH = PROMPT + REGION };
    struct fixture fixture;
    int32_t canvas[LENGTH];
    float *l, *u;

    (void)state;
    open_fixture(&fixture, "models/llada-Q4_K_M.gguf");
    fixture.options.max_tokens = fixture.options.block_length = REGION;
    fixture.options.steps = 1;
    fixture.options.cfg_scale = 1.5;
    generate(&fixture);
    assert_int_equal(fixture.result.forward_passes, 2);
    assert_int_equal(fixture.result.timings.computed_steps, 1);
    for (int i = 0; i < LENGTH; i++)
        canvas[i] = MASK;
    u = all_logits(&fixture, canvas, LENGTH);
    memcpy(canvas, prompt, sizeof prompt);
    l = all_logits(&fixture, canvas, LENGTH);
    for (size_t i = 0; i < (size_t)LENGTH * VOCAB; i++)
        l[i] = (float)(u[i] + 2.5 * ((double)l[i] - u[i]));
    for (int i = 0; i < REGION; i++)
        assert_int_equal(fixture.result.ids.ids[i], best_of(l + (size_t)(PROMPT + i) * VOCAB));
    free(l);
    free(u);
    close_fixture(&fixture);
}

static void test_counts_and_times(void **state)
{
    struct fixture fixture;
    double sum = 0;

    (void)state;
    open_fixture(&fixture, "models/dream-Q4_K_M.gguf");
    fixture.options.max_tokens = 10;
    fixture.options.steps = 20; /* the first eleven commit nothing and are not computed */
    fixture.options.no_early_stop = true;
    generate(&fixture);
    assert_int_equal(fixture.result.forward_passes, 9);
    assert_int_equal(fixture.result.timings.computed_steps, 9);
    assert_int_equal(fixture.result.steps, 20);
    assert_int_equal(fixture.result.ids.count, 10);
    for (int i = 0; i < 9; i++) {
        assert_true(fixture.result.timings.step_seconds[i] > 0);
        sum += fixture.result.timings.step_seconds[i];
    }
    assert_true(sum <= fixture.result.timings.generate_seconds);
    close_fixture(&fixture);
}

/* Ends the run at the third step. */
static int stop_at_third(void *context, const struct dllm_step *step)
{
    ++*(int *)context;
    return step->step == 2;
}

static void test_interrupted(void **state)
{
    struct fixture fixture;
    int calls = 0, masks = 0, before = 0; /* the first mask */

    (void)state;
    open_fixture(&fixture, "models/llada-Q4_K_M.gguf");
    fixture.options.max_tokens = 8;
    fixture.options.on_step = stop_at_third;
    fixture.options.context = &calls;
    generate(&fixture);
    assert_int_equal(fixture.result.finish, DLLM_FINISH_INTERRUPTED);
    assert_int_equal(calls, 3);
    for (int i = 0; i < 8; i++)
        masks += fixture.result.ids.ids[i] == MASK;
    assert_int_equal(masks, 5);
    while (fixture.result.ids.ids[before] != MASK)
        before++;
    assert_int_equal(fixture.result.answer_tokens, before);
    close_fixture(&fixture);
}

/* A stop string cuts the answer before it and ends the run there. */
static void test_stop(void **state)
{
    struct fixture fixture;
    char text[4096];
    struct dllm_string stop[2] = {{"not in the answer", 17}, {0}};
    int passes;

    (void)state;
    open_fixture(&fixture, "models/llada-Q4_K_M.gguf");
    fixture.options.max_tokens = 32;
    fixture.options.block_length = 4;
    generate(&fixture);
    assert_int_equal(fixture.result.finish, DLLM_FINISH_LENGTH);
    assert_in_range(fixture.result.text.size, 16, sizeof text - 1);
    memcpy(text, fixture.result.text.data, fixture.result.text.size + 1);
    passes = fixture.result.forward_passes;

    stop[1] = (struct dllm_string){text + 3, 4};
    fixture.options.stop = stop;
    fixture.options.stop_count = 2;
    generate(&fixture);
    assert_int_equal(fixture.result.finish, DLLM_FINISH_STOP);
    assert_true(fixture.result.stopped_early);
    assert_true(fixture.result.forward_passes < passes);
    assert_true(fixture.result.text.size <= 3);
    assert_memory_equal(fixture.result.text.data, text, fixture.result.text.size);
    assert_true(fixture.result.answer_tokens <= 3);

    fixture.options.no_early_stop = true; /* the same answer, without the end of the run */
    generate(&fixture);
    assert_int_equal(fixture.result.finish, DLLM_FINISH_STOP);
    assert_int_equal(fixture.result.forward_passes, passes);
    assert_true(fixture.result.text.size <= 3);
    close_fixture(&fixture);
}

/* A suffix stays where it is and is seen: without it the ids differ. */
static void test_suffix(void **state)
{
    static const int32_t suffix[] = {700, 701, 702, 703};
    struct fixture fixture;
    int32_t without[8];

    (void)state;
    open_fixture(&fixture, "models/dream-Q4_K_M.gguf");
    fixture.options.max_tokens = 8;
    fixture.options.no_early_stop = true;
    generate(&fixture);
    memcpy(without, fixture.result.ids.ids, sizeof without);
    fixture.options.suffix = suffix;
    fixture.options.suffix_count = 4;
    generate(&fixture);
    assert_int_equal(fixture.result.ids.count, 8);
    assert_memory_not_equal(fixture.result.ids.ids, without, sizeof without);
    close_fixture(&fixture);
}

/* What one of two sessions does beside the other. */
static void *generate_apart(void *context)
{
    struct fixture *fixture = context;

    generate(fixture);
    return NULL;
}

/* Sessions with threads of their own, all under way at once, give what a session
 * of the engine gives: anything that they share by mistake shows as other ids. */
static void test_sessions_apart(void **state)
{
    struct fixture fixture, apart[3];
    struct dllm_error error;
    pthread_t threads[3];
    uint64_t estimate;

    (void)state;
    open_fixture(&fixture, "models/dream-Q4_K_M.gguf");
    fixture.options.max_tokens = 48;
    fixture.options.temperature = 1;
    generate(&fixture);
    estimate = dllm_generate_workspace_bytes(fixture.engine, PROMPT + 48, &fixture.options);
    assert_int_equal(fixture.result.workspace_bytes, estimate);
    for (int i = 0; i < 3; i++) {
        apart[i] = fixture;
        apart[i].result = (struct dllm_result){0};
        assert_int_equal(dllm_session_create_apart(fixture.engine, i + 1, &apart[i].session, NULL),
                         DLLM_OK);
        assert_int_equal(pthread_create(&threads[i], NULL, generate_apart, &apart[i]), 0);
    }
    for (int i = 0; i < 3; i++) {
        pthread_join(threads[i], NULL);
        assert_memory_equal(apart[i].result.ids.ids, fixture.result.ids.ids, 48 * sizeof(int32_t));
        /* The estimate counts the engine's threads, which are two. */
        assert_int_equal(apart[i].result.workspace_bytes < estimate, i == 0);
        assert_int_equal(apart[i].result.workspace_bytes > estimate, i == 2);
        dllm_result_free(&apart[i].result);
        dllm_session_destroy(apart[i].session);
    }
    assert_int_equal(dllm_session_create_apart(fixture.engine, 1025, &apart[0].session, &error),
                     DLLM_ERROR_USAGE);
    assert_string_equal(error.message,
                        "threads is 1025; 1 to 1024, or 0 for all cores, was expected");
    close_fixture(&fixture);
}

/* One gap behind a prompt and before a suffix is what dllm_generate fills: a
 * canvas that gives other ids breaks blocks, steps or the layout. */
static void test_fill_of_one_gap(void **state)
{
    static const int32_t suffix[] = {700, 701};
    struct fixture fixture;
    int32_t canvas[PROMPT + 20 + 2], region[20];
    struct dllm_result *result = &fixture.result;

    (void)state;
    open_fixture(&fixture, "models/llada-Q4_K_M.gguf");
    fixture.options.max_tokens = 20;
    fixture.options.block_length = 8;
    fixture.options.steps = 10;
    fixture.options.suffix = suffix;
    fixture.options.suffix_count = 2;
    generate(&fixture);
    memcpy(region, result->ids.ids, sizeof region);
    dllm_result_free(result);

    memcpy(canvas, prompt, sizeof prompt);
    for (int i = 0; i < 20; i++)
        canvas[PROMPT + i] = MASK;
    memcpy(canvas + PROMPT + 20, suffix, sizeof suffix);
    fixture.options.suffix_count = 0;
    assert_int_equal(
        dllm_fill(fixture.session, canvas, PROMPT + 22, &fixture.options, result, NULL), DLLM_OK);
    assert_int_equal(result->ids.count, PROMPT + 22);
    assert_memory_equal(result->ids.ids, prompt, sizeof prompt);
    assert_memory_equal(result->ids.ids + PROMPT, region, sizeof region);
    assert_memory_equal(result->ids.ids + PROMPT + 20, suffix, sizeof suffix);
    close_fixture(&fixture);
}

/* Gaps: where each is, what its text is, that the whole text is what was given
 * with the gaps' texts in it, also when a stop string ends one of them. */
static void test_fill_of_gaps(void **state)
{
    int32_t canvas[] = {3, MASK, MASK, MASK, 17, 300, MASK, MASK, 99};
    struct fixture fixture;
    struct dllm_result *result = &fixture.result;
    struct dllm_text given[3];
    struct dllm_string stop;
    char whole[256], first[64];

    (void)state;
    open_fixture(&fixture, "models/llada-Q4_K_M.gguf");
    fixture.options.max_tokens = 0;
    fixture.options.eos_policy = DLLM_EOS_FORBID;
    for (int i = 0; i < 3; i++)
        assert_int_equal(dllm_decode(fixture.engine, canvas + (int[]){0, 4, 8}[i],
                                     (size_t[]){1, 2, 1}[i], false, &given[i], NULL),
                         DLLM_OK);
    for (int pass = 0; pass < 2; pass++) {
        dllm_result_free(result);
        assert_int_equal(dllm_fill(fixture.session, canvas, 9, &fixture.options, result, NULL),
                         DLLM_OK);
        assert_int_equal(result->gap_count, 2);
        assert_int_equal(result->gaps[0].start, 1);
        assert_int_equal(result->gaps[0].count, 3);
        assert_int_equal(result->gaps[1].start, 6);
        assert_int_equal(result->gaps[1].count, 2);
        snprintf(whole, sizeof whole, "%s%s%s%s%s", given[0].data, result->gaps[0].text.data,
                 given[1].data, result->gaps[1].text.data, given[2].data);
        assert_string_equal(result->text.data, whole);
        assert_int_equal(result->gaps[0].finish, pass ? DLLM_FINISH_STOP : DLLM_FINISH_LENGTH);
        snprintf(first, sizeof first, "%s", result->gaps[0].text.data);
        assert_true(pass || strlen(first) > 2);
        stop = (struct dllm_string){first + 1, 2};
        fixture.options.stop = &stop;
        fixture.options.stop_count = 1;
    }
    for (int i = 0; i < 3; i++)
        dllm_text_free(&given[i]);
    close_fixture(&fixture);
}

static void refuse_fill(struct fixture *fixture, const int32_t *canvas, const char *message)
{
    struct dllm_error error = {0};

    assert_int_equal(
        dllm_fill(fixture->session, canvas, 3, &fixture->options, &fixture->result, &error),
        DLLM_ERROR_USAGE);
    assert_string_equal(error.message, message);
}

static void test_fill_usage(void **state)
{
    const int32_t full[] = {3, 5, 7}, gap[] = {3, MASK, 7}, wrong[] = {3, MASK, VOCAB};
    struct fixture fixture;

    (void)state;
    open_fixture(&fixture, "models/llada-Q4_K_M.gguf");
    refuse_fill(&fixture, gap,
                "max_tokens is 128, but the canvas has 1 masks; expected that number, or 0");
    fixture.options.max_tokens = 1;
    refuse_fill(&fixture, full,
                "the canvas has no gap to fill; expected the mask id 961 at least once");
    refuse_fill(&fixture, wrong,
                "id 1024 at position 2 of the canvas is outside the vocabulary; ids from 0 to "
                "1023 were expected");
    fixture.options.suffix = full;
    fixture.options.suffix_count = 1;
    refuse_fill(&fixture, gap,
                "suffix has no effect on a canvas with gaps: put it into the canvas");
    close_fixture(&fixture);
}

static void test_usage(void **state)
{
    struct fixture fixture;
    const int32_t wrong[] = {VOCAB};
    struct dllm_error error = {0};

    (void)state;
    open_fixture(&fixture, "models/llada-Q4_K_M.gguf");
    fixture.options.max_tokens = 2044;
    assert_int_equal(
        dllm_generate(fixture.session, prompt, PROMPT, &fixture.options, &fixture.result, &error),
        DLLM_ERROR_USAGE);
    assert_non_null(strstr(error.message, "has 2049 positions"));
    assert_non_null(strstr(error.message, "context length is 2048"));
    /* A sum of lengths that wraps around is not a short canvas. */
    assert_int_equal(dllm_generate(fixture.session, prompt, SIZE_MAX - 2000, &fixture.options,
                                   &fixture.result, &error),
                     DLLM_ERROR_USAGE);
    assert_non_null(strstr(error.message, "too long"));
    fixture.options.max_tokens = 0;
    assert_int_equal(
        dllm_generate(fixture.session, prompt, PROMPT, &fixture.options, &fixture.result, &error),
        DLLM_ERROR_USAGE);
    assert_string_equal(error.message, "max_tokens is 0; expected a number from 1 to 2147483647");
    fixture.options.max_tokens = 4;
    assert_int_equal(
        dllm_generate(fixture.session, wrong, 1, &fixture.options, &fixture.result, &error),
        DLLM_ERROR_USAGE);
    fixture.options.suffix = wrong;
    fixture.options.suffix_count = 1;
    assert_int_equal(
        dllm_generate(fixture.session, prompt, PROMPT, &fixture.options, &fixture.result, &error),
        DLLM_ERROR_USAGE);
    assert_non_null(strstr(error.message, "of the suffix"));
    fixture.options.suffix_count = 0;
    fixture.options.top_p = 0.5;
    assert_int_equal(
        dllm_generate(fixture.session, prompt, PROMPT, &fixture.options, &fixture.result, &error),
        DLLM_ERROR_USAGE);
    close_fixture(&fixture);
}

#ifdef CAN_COUNT
/* Counts allocations from the end of the first step to the end of the last. */
static int watch_allocations(void *context, const struct dllm_step *step)
{
    (void)context;
    atomic_store(&counting, step->masks_left > 0);
    return 0;
}

static void test_no_allocation_in_a_step(void **state)
{
    static const char *const models[] = {"models/llada-Q4_K_M.gguf", "models/dream-Q4_K_M.gguf"};

    (void)state;
    for (int i = 0; i < 2; i++) {
        struct fixture fixture;

        open_fixture(&fixture, models[i]);
        fixture.options.max_tokens = 16;
        fixture.options.temperature = 0.7;
        fixture.options.top_p = i ? 0.9 : 1;
        fixture.options.cfg_scale = i ? 0 : 1;
        fixture.options.no_early_stop = true;
        fixture.options.on_step = watch_allocations;
        atomic_store(&allocations, 0);
        generate(&fixture);
        assert_int_equal(atomic_load(&allocations), 0);
        close_fixture(&fixture);
    }
}

/* The counter itself counts. */
static void test_allocations_are_counted(void **state)
{
    void *volatile block;

    (void)state;
    atomic_store(&allocations, 0);
    atomic_store(&counting, 1);
    block = malloc(10);
    atomic_store(&counting, 0);
    free(block);
    assert_int_equal(atomic_load(&allocations), 1);
}

#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_step_is_argmax),
        cmocka_unit_test(test_guidance),
        cmocka_unit_test(test_counts_and_times),
        cmocka_unit_test(test_interrupted),
        cmocka_unit_test(test_stop),
        cmocka_unit_test(test_suffix),
        cmocka_unit_test(test_sessions_apart),
        cmocka_unit_test(test_fill_of_one_gap),
        cmocka_unit_test(test_fill_of_gaps),
        cmocka_unit_test(test_fill_usage),
        cmocka_unit_test(test_usage),
#ifdef CAN_COUNT
        cmocka_unit_test(test_allocations_are_counted),
        cmocka_unit_test(test_no_allocation_in_a_step),
#endif
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
