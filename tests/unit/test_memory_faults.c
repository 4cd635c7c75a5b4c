/*
 * test_memory_faults.c: every allocation of everything that the library does
 * fails in turn. Each failure is an error like any other: reported, nothing
 * leaked, and what was there before still works.
 */
#include "dllm.h"
#include "failing_malloc.h"
#include "test_paths.h"
#include "tiny_model.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static const char *model_path; /* of the case at hand */
static struct dllm_engine *engine;
static struct dllm_session *session;

/* One thing to do; leaves nothing behind but in the engine. */
typedef enum dllm_status action(struct dllm_error *error);

static struct dllm_engine *open_model(void)
{
    struct dllm_engine_options options = {.model_path = model_path, .threads = 1};
    struct dllm_engine *opened;

    assert_int_equal(dllm_engine_open(&options, &opened, NULL), DLLM_OK);
    return opened;
}

static void check_failure(const char *name, long number, enum dllm_status status,
                          const struct dllm_error *error)
{
    if (status != DLLM_ERROR_MEMORY || error->status != status || !strstr(error->message, "memory"))
        fail_msg("%s: allocation %ld failed: status %d, \"%s\"", name, number, (int)status,
                 error->message);
}

/* The action, with all allocations from one on failing, for every one. `optional`
 * of them may fail without harm. with_engine: in an engine of its own each time. */
static void fail_each(const char *name, action *act, bool with_engine, int optional)
{
    long number = 0, harmless = 0, hit;

    do {
        struct dllm_error error = {.status = DLLM_OK};
        long before = atomic_load(&alive);
        enum dllm_status status;

        engine = with_engine ? open_model() : NULL;
        atomic_store(&failures, 0);
        atomic_store(&until_failure, CAN_FAIL ? number : -1);
        status = act(&error);
        atomic_store(&until_failure, -1);
        hit = atomic_load(&failures);
        dllm_engine_close(engine);
        if (hit && status == DLLM_OK)
            harmless++;
        else if (hit)
            check_failure(name, number, status, &error);
        else
            assert_int_equal(status, DLLM_OK);
        if (atomic_load(&alive) != before)
            fail_msg("%s: allocation %ld failed: %ld blocks leaked", name, number,
                     atomic_load(&alive) - before);
        number += hit > 0;
    } while (hit);
    if (harmless > optional)
        fail_msg("%s: %ld allocations failed and nobody said so, expected %d", name, harmless,
                 optional);
    print_message("%s: %ld allocations failed in turn\n", name, number);
}

/* --- a model is opened --- */

/* Without memory for machine code PCRE2 interprets its expressions. */
enum { JIT_ALLOCATIONS = 100 };

static enum dllm_status open_engine(struct dllm_error *error)
{
    struct dllm_engine_options options = {.model_path = model_path, .threads = 1};
    struct dllm_engine *opened;
    enum dllm_status status = dllm_engine_open(&options, &opened, error);

    dllm_engine_close(opened);
    return status;
}

static enum dllm_status open_vocabulary(struct dllm_error *error)
{
    struct dllm_engine_options options = {.model_path = model_path, .vocab_only = true};
    struct dllm_engine *opened;
    enum dllm_status status = dllm_engine_open(&options, &opened, error);

    dllm_engine_close(opened);
    return status;
}

static void test_open(void **state)
{
    struct tiny_model models[] = {tiny_model_llada(), tiny_model_dream(), tiny_model_llada_moe(),
                                  tiny_model_rnd1()};
    char path[TEST_PATH_BYTES];

    (void)state;
    for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
        models[i].text = true;
        dllm_file_close(tiny_model_open(&models[i], path));
        model_path = path;
        fail_each(models[i].architecture, open_engine, false, JIT_ALLOCATIONS);
        unlink(path);
    }
    model_path = "tests/data/models/llada-Q4_K_M.gguf";
    fail_each("the vocabulary alone", open_vocabulary, false, JIT_ALLOCATIONS);
}

/* --- text --- */

static enum dllm_status encode_decode(struct dllm_error *error)
{
    /* Short words, one too long for the fast way, bytes that are no UTF-8, a control string. */
    static const char text[] =
        "Hello there, what is this? "
        "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa "
        "\xff\xfe <|eot_id|> 12";
    struct dllm_ids ids;
    struct dllm_text back;
    enum dllm_status status = dllm_encode(engine, (struct dllm_string){text, sizeof text - 1},
                                          DLLM_ENCODE_SPECIAL, &ids, error);

    if (status != DLLM_OK)
        return status;
    status = dllm_decode(engine, ids.ids, ids.count, true, &back, error);
    dllm_ids_free(&ids);
    dllm_text_free(&back);
    return status;
}

static enum dllm_status encode_chat(struct dllm_error *error)
{
    const struct dllm_message messages[] = {{"system", {"Be brief.", 9}},
                                            {"user", {"Hi", 2}},
                                            {"assistant", {"Hello", 5}},
                                            {"user", {" 1 + 1? ", 8}}};
    struct dllm_ids ids;
    enum dllm_status status = dllm_encode_chat(engine, messages, 4, false, &ids, error);

    dllm_ids_free(&ids);
    return status;
}

/* --- passes --- */

static enum dllm_status with_session(enum dllm_status (*use)(struct dllm_error *error),
                                     struct dllm_error *error)
{
    enum dllm_status status = dllm_session_create(engine, &session, error);

    if (status == DLLM_OK)
        status = use(error);
    dllm_session_destroy(session);
    session = NULL;
    return status;
}

static int take_rows(void *context, const float *logits, size_t first, size_t count)
{
    (void)context;
    (void)logits;
    (void)first;
    (void)count;
    return 0;
}

static void take_layer(void *context, int layer, const float *hidden, size_t rows, size_t width)
{
    (void)context;
    (void)layer;
    (void)hidden;
    (void)rows;
    (void)width;
}

static enum dllm_status run_logits(struct dllm_error *error)
{
    static const int32_t ids[] = {1, 2, 3, 4, 5}, rows[] = {0, 2, 4};
    struct dllm_logits_query query = {ids, 5, rows, 3, true};
    struct dllm_logits_sink sink = {take_rows, NULL, take_layer};

    return dllm_logits_each(session, &query, &sink, error);
}

static enum dllm_status logits(struct dllm_error *error)
{
    return with_session(run_logits, error);
}

static const int32_t prompt[] = {1, 2, 3};
static struct dllm_generate_options settings;

static enum dllm_status run_generate(struct dllm_error *error)
{
    struct dllm_result result;
    enum dllm_status status = dllm_generate(session, prompt, 3, &settings, &result, error);

    dllm_result_free(&result);
    return status;
}

static enum dllm_status generate(struct dllm_error *error)
{
    return with_session(run_generate, error);
}

static enum dllm_status run_fill(struct dllm_error *error)
{
    struct dllm_model_info info;
    struct dllm_result result;
    enum dllm_status status;

    dllm_engine_info(engine, &info);
    const int32_t canvas[] = {1, info.mask_id, 2, 3, info.mask_id, info.mask_id, 4};

    settings.max_tokens = 0;
    settings.steps = 3;
    status = dllm_fill(session, canvas, 7, &settings, &result, error);
    dllm_result_free(&result);
    return status;
}

static enum dllm_status fill(struct dllm_error *error)
{
    return with_session(run_fill, error);
}

static enum dllm_status run_score(struct dllm_error *error)
{
    struct dllm_score_query query = {prompt, 3, prompt, 2};
    struct dllm_score_options options;
    struct dllm_likelihood likelihood;

    dllm_score_defaults(&options);
    options.samples = 4;
    options.batch = 2;
    options.cfg_scale = 0.5;
    return dllm_score(session, &query, &options, &likelihood, error);
}

static enum dllm_status score(struct dllm_error *error)
{
    return with_session(run_score, error);
}

static void use_model(const char *path)
{
    model_path = path;
    engine = open_model();
    dllm_generate_defaults(engine, false, &settings);
    settings.max_tokens = 6;
    settings.steps = 3;
    settings.block_length = 0;
    dllm_engine_close(engine);
}

static void test_text(void **state)
{
    (void)state;
    use_model("tests/data/models/llada-Q4_K_M.gguf");
    /* What BPE remembers of short words is optional. */
    fail_each("text to ids and back", encode_decode, true, 1);
    fail_each("a conversation", encode_chat, true, 0);
}

/* Plain, with guidance, caches, stop strings and the runners-up; gaps; likelihood. */
static void test_generate(void **state)
{
    const struct dllm_string stop = {"zzz", 3};

    (void)state;
    use_model("tests/data/models/llada-Q4_K_M.gguf");
    fail_each("logits", logits, true, 0);
    fail_each("an answer", generate, true, 0);
    settings.cfg_scale = 1;
    settings.record_choices = true;
    settings.stop = &stop;
    settings.stop_count = 1;
    fail_each("a guided answer", generate, true, 0);
    settings.cfg_scale = 0;
    settings.block_length = 2;
    settings.cache = DLLM_CACHE_DUAL;
    fail_each("an answer with caches", generate, true, 0);
    settings.cache = DLLM_CACHE_NONE;
    settings.block_length = 0;
    fail_each("gaps", fill, true, 0);
    fail_each("likelihood", score, true, 0);
}

/* A session whose workspace could not grow is as it was: the same answer after each
 * failure. */
static void test_session_survives(void **state)
{
    struct dllm_result first, again;
    long grown = 0;
    enum dllm_status status = DLLM_ERROR_MEMORY;

    (void)state;
    use_model("tests/data/models/dream-Q4_K_M.gguf");
    engine = open_model();
    assert_int_equal(dllm_session_create(engine, &session, NULL), DLLM_OK);
    assert_int_equal(dllm_generate(session, prompt, 3, &settings, &first, NULL), DLLM_OK);
    for (; CAN_FAIL && status != DLLM_OK; grown++) {
        settings.max_tokens = 40 + (int)grown;
        atomic_store(&until_failure, grown);
        status = run_generate(NULL);
        atomic_store(&until_failure, -1);
        settings.max_tokens = 6;
        assert_int_equal(dllm_generate(session, prompt, 3, &settings, &again, NULL), DLLM_OK);
        assert_memory_equal(first.ids.ids, again.ids.ids, 6 * sizeof(int32_t));
        dllm_result_free(&again);
    }
    assert_true(grown > 10 || !CAN_FAIL);
    dllm_result_free(&first);
    dllm_session_destroy(session);
    session = NULL;
    dllm_engine_close(engine);
}

/* --- quantizing --- */

static bool take_bytes(void *user, const void *data, size_t size)
{
    (void)user;
    (void)data;
    (void)size;
    return true;
}

static enum dllm_status quantize(struct dllm_error *error)
{
    struct dllm_quantize_options options = {.type = "Q8_0", .threads = 1, .write = take_bytes};

    return dllm_quantize(model_path, &options, NULL, error);
}

static void test_quantize(void **state)
{
    struct tiny_model model = tiny_model_llada_moe();
    char path[TEST_PATH_BYTES];

    (void)state;
    dllm_file_close(tiny_model_open(&model, path));
    model_path = path;
    fail_each("quantizing", quantize, false, 0);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_open),     cmocka_unit_test(test_text),
        cmocka_unit_test(test_generate), cmocka_unit_test(test_session_survives),
        cmocka_unit_test(test_quantize),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
