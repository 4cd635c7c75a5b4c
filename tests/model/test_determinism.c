/*
 * test_determinism.c: the same bits whatever computes them: every CPU level, any
 * number of threads, sessions side by side, caches that are refreshed in every
 * step. Prints a hash for each model, which scripts/determinism.sh compares over
 * compilers and their settings.
 */
#include "dllm.h"
#include "test_paths.h"
#include "tiny_model.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { CANVAS = 40, ROWS = 40, ANSWER = 12 };

/* --- hashes (FNV-1a) --- */

static uint64_t hash_bytes(uint64_t hash, const void *data, size_t size)
{
    const uint8_t *bytes = data;

    for (size_t i = 0; i < size; i++)
        hash = (hash ^ bytes[i]) * 0x100000001b3u;
    return hash;
}

static const uint64_t hash_start = 0xcbf29ce484222325u;

/* --- what is hashed --- */

static int32_t id_of(const struct dllm_model_info *info, int i)
{
    return (i * 37 + 5) % (info->vocab - 1);
}

static uint64_t hash_logits(struct dllm_session *session, const struct dllm_model_info *info,
                            uint64_t hash)
{
    size_t count = (size_t)ROWS * (size_t)info->vocab;
    float *logits = malloc(count * sizeof *logits);
    int32_t ids[CANVAS], rows[ROWS];

    assert_non_null(logits);
    for (int i = 0; i < CANVAS; i++) {
        ids[i] = id_of(info, i);
        rows[i] = i;
    }
    assert_int_equal(dllm_logits(session, ids, CANVAS, rows, ROWS, true, logits, NULL), DLLM_OK);
    hash = hash_bytes(hash, logits, count * sizeof *logits);
    free(logits);
    return hash;
}

/* Ids and confidences of the steps. */
static int hash_step(void *context, const struct dllm_step *step)
{
    uint64_t *hash = context;

    *hash = hash_bytes(*hash, step->positions, step->committed * sizeof *step->positions);
    *hash = hash_bytes(*hash, step->confidences, step->committed * sizeof *step->confidences);
    return 0;
}

static uint64_t hash_answer(struct dllm_session *session, const struct dllm_model_info *info,
                            const struct dllm_generate_options *options, uint64_t hash)
{
    struct dllm_generate_options settings = *options;
    struct dllm_result result;
    int32_t prompt[10];

    for (int i = 0; i < 10; i++)
        prompt[i] = id_of(info, 3 * i);
    settings.max_tokens = ANSWER;
    settings.steps = ANSWER / 2;
    settings.block_length = ANSWER / 2;
    settings.allow_long = settings.no_early_stop = true;
    settings.on_step = hash_step;
    settings.context = &hash;
    assert_int_equal(dllm_generate(session, prompt, 10, &settings, &result, NULL), DLLM_OK);
    hash = hash_bytes(hash, result.ids.ids, result.ids.count * sizeof *result.ids.ids);
    dllm_result_free(&result);
    return hash;
}

static uint64_t hash_score(struct dllm_session *session, const struct dllm_model_info *info,
                           uint64_t hash)
{
    int32_t ids[10];
    struct dllm_score_query query = {ids, 5, ids + 5, 5};
    struct dllm_score_options options;
    struct dllm_likelihood likelihood;

    for (int i = 0; i < 10; i++)
        ids[i] = id_of(info, i + 1);
    dllm_score_defaults(&options);
    options.samples = 4;
    options.batch = 2;
    options.allow_long = true;
    assert_int_equal(dllm_score(session, &query, &options, &likelihood, NULL), DLLM_OK);
    return hash_bytes(hash, &likelihood.log_likelihood, sizeof likelihood.log_likelihood);
}

/* Greedy, by chance, guided or filtered, and a score. */
static uint64_t hash_session(struct dllm_engine *engine, struct dllm_session *session)
{
    struct dllm_generate_options settings;
    struct dllm_model_info info;
    uint64_t hash = hash_start;

    dllm_engine_info(engine, &info);
    dllm_generate_defaults(engine, false, &settings);
    hash = hash_logits(session, &info, hash);
    hash = hash_answer(session, &info, &settings, hash);
    settings.temperature = 0.8;
    settings.seed = 7;
    hash = hash_answer(session, &info, &settings, hash);
    if (info.sampler == DLLM_SAMPLER_LLADA)
        settings.cfg_scale = 1.5;
    else
        settings.top_p = 0.9;
    hash = hash_answer(session, &info, &settings, hash);
    return hash_score(session, &info, hash);
}

static struct dllm_engine *open_engine(const char *path, const char *level, int threads)
{
    struct dllm_engine_options options = {
        .model_path = path, .threads = threads, .cpu_level = level};
    struct dllm_engine *engine;

    assert_int_equal(dllm_engine_open(&options, &engine, NULL), DLLM_OK);
    return engine;
}

static uint64_t hash_model(const char *path, const char *level, int threads)
{
    struct dllm_engine *engine = open_engine(path, level, threads);
    struct dllm_session *session;
    uint64_t hash;

    assert_int_equal(dllm_session_create(engine, &session, NULL), DLLM_OK);
    hash = hash_session(engine, session);
    dllm_session_destroy(session);
    dllm_engine_close(engine);
    return hash;
}

/* --- the tests --- */

static void check_levels_and_threads(const char *name, const char *path)
{
    static const int threads[] = {1, 2, 3, 7};
    struct dllm_machine machine;
    uint64_t expected = hash_model(path, NULL, 1);

    dllm_machine(&machine);
    for (int i = 0; machine.cpu_levels[i]; i++)
        for (size_t t = 0; t < sizeof threads / sizeof *threads; t++) {
            const char *level = machine.cpu_levels[i];
            uint64_t found;

            if (t > 0 && strcmp(level, "ref") == 0)
                continue; /* slow, and threads are shared out alike */
            found = hash_model(path, level, threads[t]);
            if (found != expected)
                fail_msg("%s, level %s, %d threads: hash %016llx, expected %016llx", name, level,
                         threads[t], (unsigned long long)found, (unsigned long long)expected);
        }
    print_message("hash %s %016llx\n", name, (unsigned long long)expected);
}

/* Breaks when a level, or the way in which threads share the work, changes a bit of
 * logits, confidences, ids or scores. */
static void test_levels_and_threads(void **state)
{
    struct tiny_model models[] = {tiny_model_llada_moe(), tiny_model_rnd1()};
    char path[TEST_PATH_BYTES];

    (void)state;
    check_levels_and_threads("llada", test_data_path("models/llada-Q4_K_M.gguf"));
    check_levels_and_threads("dream", test_data_path("models/dream-Q4_K_M.gguf"));
    check_levels_and_threads("demo", DLLM_DEMO_MODEL);
    for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
        models[i].text = true;
        dllm_file_close(tiny_model_open(&models[i], path));
        check_levels_and_threads(models[i].architecture, path);
        unlink(path);
    }
}

/* Breaks when a cache that is refreshed in every step leaves a row as it was. */
static void test_caches_refreshed(void **state)
{
    static const enum dllm_cache caches[] = {DLLM_CACHE_PREFIX, DLLM_CACHE_DUAL};
    struct dllm_engine *engine = open_engine(test_data_path("models/llada-Q4_K_M.gguf"), NULL, 2);
    struct dllm_generate_options settings;
    struct dllm_model_info info;
    struct dllm_session *session;
    uint64_t expected;

    (void)state;
    dllm_engine_info(engine, &info);
    dllm_generate_defaults(engine, false, &settings);
    assert_int_equal(dllm_session_create(engine, &session, NULL), DLLM_OK);
    expected = hash_answer(session, &info, &settings, hash_start);
    for (int i = 0; i < 2; i++) {
        settings.cache = caches[i];
        settings.cache_refresh = 1;
        assert_true(hash_answer(session, &info, &settings, hash_start) == expected);
    }
    dllm_session_destroy(session);
    dllm_engine_close(engine);
}

/* A session with threads of its own, beside others. */
struct beside {
    struct dllm_engine *engine;
    int threads;
    uint64_t hash;
};

static void *run_beside(void *context)
{
    struct beside *beside = context;
    struct dllm_session *session;

    if (dllm_session_create_apart(beside->engine, beside->threads, &session, NULL) == DLLM_OK) {
        beside->hash = hash_session(beside->engine, session);
        dllm_session_destroy(session);
    }
    return NULL;
}

/* Breaks when sessions at work at the same time, in whatever order they come, disturb
 * each other. */
static void test_sessions_side_by_side(void **state)
{
    enum { SESSIONS = 3 };
    const char *path = test_data_path("models/dream-Q4_K_M.gguf");
    uint64_t expected = hash_model(path, NULL, 1);
    struct dllm_engine *engine = open_engine(path, NULL, 1);
    struct beside sessions[SESSIONS];
    pthread_t threads[SESSIONS];

    (void)state;
    for (int i = 0; i < SESSIONS; i++) {
        sessions[i] = (struct beside){engine, 1 + i, 0};
        assert_int_equal(pthread_create(&threads[i], NULL, run_beside, &sessions[i]), 0);
    }
    for (int i = 0; i < SESSIONS; i++) {
        pthread_join(threads[i], NULL);
        assert_true(sessions[i].hash == expected);
    }
    dllm_engine_close(engine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_levels_and_threads),
        cmocka_unit_test(test_caches_refreshed),
        cmocka_unit_test(test_sessions_side_by_side),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
