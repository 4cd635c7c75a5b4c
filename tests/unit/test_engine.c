/*
 * test_engine.c: opening models, text calls, plain forward passes.
 *
 * What would break: a file whose tokenizer keys are at fault crashes later or
 * passes; a vocabulary-only file does not open; a suffix starts with the
 * begin-of-text id; logits that arrive in pieces differ from those that arrive
 * at once; sessions on two threads disturb each other.
 */
#include "gguf_writer.h"
#include "test_paths.h"
#include "test_vocabulary.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { VOCAB = 1024 };

static const char *const control[] = {"<|im_start|>", "<|im_end|>", "<|mask|>", NULL};

static struct dllm_engine *open_model(const char *name)
{
    struct dllm_engine_options options = {.model_path = test_data_path(name), .threads = 2};
    struct dllm_engine *engine = NULL;
    struct dllm_error error = {0};

    if (dllm_engine_open(&options, &engine, &error))
        fail_msg("%s", error.message);
    return engine;
}

static struct dllm_string string_of(const char *text)
{
    return (struct dllm_string){text, strlen(text)};
}

/* --- vocabularies --- */

/* A vocabulary file with at most one fault, named by the key at fault. */
static void write_vocabulary(const char *fault, const char *path)
{
    struct gguf_writer *writer = gguf_writer_create(3, 32);
    struct test_vocabulary small;
    const struct vocabulary *v = &small.vocabulary;

    test_vocabulary_small(&small, NULL, control, NULL);
    gguf_write_string(writer, "general.architecture", "qwen2");
    gguf_write_string(writer, "tokenizer.ggml.model", strcmp(fault, "model") ? "gpt2" : "llama");
    if (strcmp(fault, "no pre"))
        gguf_write_string(writer, "tokenizer.ggml.pre", strcmp(fault, "pre") ? "qwen2" : "martian");
    if (strcmp(fault, "no tokens"))
        gguf_write_strings(writer, "tokenizer.ggml.tokens", v->tokens, v->token_count);
    gguf_write_array(writer, "tokenizer.ggml.token_type", DLLM_VALUE_I32, v->types,
                     v->token_count - !strcmp(fault, "types"));
    gguf_write_strings(writer, "tokenizer.ggml.merges", v->merges, v->merge_count);
    gguf_write_integer(writer, "tokenizer.ggml.bos_token_id", DLLM_VALUE_U32,
                       strcmp(fault, "bos") ? 256 : 5000);
    gguf_write_integer(writer, "tokenizer.ggml.add_bos_token", DLLM_VALUE_BOOL, 1);
    assert_true(gguf_writer_save(writer, path));
    test_vocabulary_free(&small);
}

static void test_vocabulary_only(void **state)
{
    char path[TEST_PATH_BYTES];
    struct dllm_engine_options options = {.model_path = test_temporary_path(path),
                                          .vocab_only = true};
    struct dllm_engine *engine;
    struct dllm_session *session;
    struct dllm_model_info info;
    struct dllm_ids ids;
    struct dllm_error error = {0};

    (void)state;
    write_vocabulary("", path);
    assert_int_equal(dllm_engine_open(&options, &engine, &error), DLLM_OK);
    dllm_engine_info(engine, &info);
    assert_string_equal(info.architecture, "qwen2");
    assert_false(info.has_chat);
    assert_int_equal(info.vocab, 259);
    assert_int_equal(info.layers, 0);
    assert_int_equal(dllm_encode(engine, string_of("a<|im_end|>"), DLLM_ENCODE_SPECIAL, &ids, NULL),
                     DLLM_OK);
    assert_int_equal(ids.count, 3);
    assert_int_equal(ids.ids[0], 256); /* begin of text, as the file asks */
    assert_int_equal(ids.ids[1], 'a');
    assert_int_equal(ids.ids[2], 257);
    dllm_ids_free(&ids);
    assert_int_equal(dllm_encode(engine, string_of("a"), 4, &ids, &error), DLLM_ERROR_USAGE);
    assert_null(ids.ids);
    assert_non_null(strstr(error.message, "the flags are 0x4"));
    assert_int_equal(dllm_encode_chat(engine, NULL, 0, false, &ids, &error),
                     DLLM_ERROR_UNSUPPORTED);
    assert_int_equal(dllm_session_create(engine, &session, &error), DLLM_ERROR_USAGE);
    dllm_engine_close(engine);
    unlink(path);
}

static void test_vocabulary_faults(void **state)
{
    static const struct {
        const char *fault;
        enum dllm_status status;
        const char *message; /* a part of it */
    } faults[] = {
        {"model", DLLM_ERROR_UNSUPPORTED, "key tokenizer.ggml.model is \"llama\"; only"},
        {"no pre", DLLM_ERROR_FORMAT, "tokenizer.ggml.pre"},
        {"pre", DLLM_ERROR_UNSUPPORTED, "qwen2, bailingmoe, llada-moe, seed-coder"},
        {"no tokens", DLLM_ERROR_FORMAT, "tokenizer.ggml.tokens"},
        {"types", DLLM_ERROR_FORMAT, "has 258 entries, but there are 259 tokens"},
        {"bos", DLLM_ERROR_FORMAT, "tokenizer.ggml.bos_token_id"},
    };
    char path[TEST_PATH_BYTES];
    struct dllm_engine_options options = {.model_path = test_temporary_path(path),
                                          .vocab_only = true};

    (void)state;
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        struct dllm_engine *engine;
        struct dllm_error error = {0};

        write_vocabulary(faults[i].fault, path);
        assert_int_equal(dllm_engine_open(&options, &engine, &error), faults[i].status);
        assert_null(engine);
        if (!strstr(error.message, faults[i].message))
            fail_msg("%s: %s", faults[i].fault, error.message);
    }
    unlink(path);
}

/* A vocabulary-only file cannot run: the first thing it lacks is named. */
static void test_vocabulary_is_no_model(void **state)
{
    char path[TEST_PATH_BYTES];
    struct dllm_engine_options options = {.model_path = test_temporary_path(path)};
    struct dllm_engine *engine;
    struct dllm_error error = {0};

    (void)state;
    write_vocabulary("", path);
    assert_int_equal(dllm_engine_open(&options, &engine, &error), DLLM_ERROR_UNSUPPORTED);
    assert_non_null(strstr(error.message, "'qwen2' is not supported"));
    unlink(path);
}

static void test_open_usage(void **state)
{
    struct dllm_engine_options options = {0};
    struct dllm_engine *engine;
    struct dllm_error error = {0};

    (void)state;
    assert_int_equal(dllm_engine_open(&options, &engine, &error), DLLM_ERROR_USAGE);
    options.model_path = test_data_path("models/llada-Q4_K_M.gguf");
    options.threads = -1;
    assert_int_equal(dllm_engine_open(&options, &engine, &error), DLLM_ERROR_USAGE);
    options.threads = 1025;
    assert_int_equal(dllm_engine_open(&options, &engine, &error), DLLM_ERROR_USAGE);
    options.threads = 1;
    options.cpu_level = "abacus";
    assert_int_equal(dllm_engine_open(&options, &engine, &error), DLLM_ERROR_USAGE);
    assert_null(engine);
    options.model_path = "/nonexistent";
    assert_int_equal(dllm_engine_open(&options, &engine, NULL), DLLM_ERROR_IO);
}

/* --- models --- */

static void test_info(void **state)
{
    struct dllm_engine *engine = open_model("models/llada-Q4_K_M.gguf");
    struct dllm_model_info info;
    struct dllm_generate_options defaults;

    (void)state;
    dllm_engine_info(engine, &info);
    assert_string_equal(info.quantization, "Q4_K + Q6_K");
    assert_int_equal(info.vocab, VOCAB);
    assert_int_equal(info.layers, 2);
    assert_int_equal(info.mask_id, 961);
    assert_int_equal(info.sampler, DLLM_SAMPLER_LLADA);
    assert_int_equal(info.threads, 2);
    assert_true(info.has_chat && !info.shift_logits);
    assert_true(info.weight_bytes < info.file_bytes);
    assert_true(dllm_engine_workspace_bytes(engine, 100, 10) >
                dllm_engine_workspace_bytes(engine, 10, 10));
    dllm_generate_defaults(engine, true, &defaults);
    assert_int_equal(defaults.block_length, 32);
    assert_true(defaults.temperature == 0 && defaults.top_p == 1);
    dllm_engine_close(engine);
}

static void test_suffix_has_no_bos(void **state)
{
    struct dllm_engine *engine = open_model("models/llada-Q4_K_M.gguf");
    struct dllm_ids with, without;

    (void)state;
    assert_int_equal(dllm_encode(engine, string_of("one two"), 0, &with, NULL), DLLM_OK);
    assert_int_equal(dllm_encode(engine, string_of("one two"), DLLM_ENCODE_NO_BOS, &without, NULL),
                     DLLM_OK);
    assert_int_equal(with.count, without.count + 1);
    assert_int_equal(with.ids[0], 956);
    assert_memory_equal(with.ids + 1, without.ids, without.count * sizeof *without.ids);
    dllm_ids_free(&with);
    dllm_ids_free(&without);
    dllm_engine_close(engine);
}

/* --- logits --- */

/* More rows than are kept at once. */
enum { LONG = 300 };

static void fill_canvas(int32_t *ids, int32_t *rows)
{
    for (int i = 0; i < LONG; i++) {
        ids[i] = (i * 37 + 5) % 900;
        rows[i] = i;
    }
}

struct collected {
    float *logits;
    size_t next;
    size_t pieces;
};

static int collect(void *context, const float *logits, size_t first, size_t count)
{
    struct collected *all = context;

    assert_int_equal(first, all->next);
    memcpy(all->logits + first * VOCAB, logits, count * VOCAB * sizeof *logits);
    all->next += count;
    all->pieces++;
    return 0;
}

static int refuse(void *context, const float *logits, size_t first, size_t count)
{
    (void)logits;
    (void)first;
    (void)count;
    ++*(int *)context;
    return 1;
}

static void test_logits_in_pieces(void **state)
{
    struct dllm_engine *engine = open_model("models/dream-Q4_K_M.gguf");
    int32_t ids[LONG], rows[LONG];
    float *whole = malloc(sizeof *whole * LONG * VOCAB);
    struct collected pieces = {.logits = malloc(sizeof *whole * LONG * VOCAB)};
    struct dllm_logits_query query = {ids, LONG, rows, LONG, false};
    struct dllm_logits_sink sink = {.on_rows = collect, .context = &pieces};
    float row[VOCAB];
    int calls = 0;
    struct dllm_session *session;

    (void)state;
    fill_canvas(ids, rows);
    assert_int_equal(dllm_session_create(engine, &session, NULL), DLLM_OK);
    assert_int_equal(dllm_logits(session, ids, LONG, rows, LONG, false, whole, NULL), DLLM_OK);
    assert_int_equal(dllm_logits_each(session, &query, &sink, NULL), DLLM_OK);
    assert_int_equal(pieces.next, LONG);
    assert_true(pieces.pieces > 1);
    assert_memory_equal(whole, pieces.logits, sizeof *whole * LONG * VOCAB);
    for (int32_t r = 0; r < LONG; r += 299) {
        assert_int_equal(dllm_logits(session, ids, LONG, &r, 1, false, row, NULL), DLLM_OK);
        assert_memory_equal(row, whole + (size_t)r * VOCAB, sizeof row);
    }
    sink = (struct dllm_logits_sink){.on_rows = refuse, .context = &calls};
    assert_int_equal(dllm_logits_each(session, &query, &sink, NULL), DLLM_INTERRUPTED);
    assert_int_equal(calls, 1);
    dllm_session_destroy(session);
    dllm_engine_close(engine);
    free(whole);
    free(pieces.logits);
}

static void test_logits_usage(void **state)
{
    struct dllm_engine *engine = open_model("models/dream-Q4_K_M.gguf");
    int32_t ids[] = {1, 2, VOCAB}, swapped[] = {1, 0}, outside[] = {2};
    int32_t *long_ids = calloc(2049, sizeof *long_ids), zero = 0;
    float logits[2 * VOCAB];
    struct dllm_session *session;
    struct dllm_error error;

    (void)state;
    assert_int_equal(dllm_session_create(engine, &session, NULL), DLLM_OK);
    assert_int_equal(dllm_logits(session, ids, 3, &zero, 1, false, logits, NULL), DLLM_ERROR_USAGE);
    assert_int_equal(dllm_logits(session, ids, 2, swapped, 2, false, logits, NULL),
                     DLLM_ERROR_USAGE);
    assert_int_equal(dllm_logits(session, ids, 2, outside, 1, false, logits, NULL),
                     DLLM_ERROR_USAGE);
    assert_int_equal(dllm_logits(session, ids, 2, &zero, 0, false, logits, NULL), DLLM_ERROR_USAGE);
    /* Too many rows are not read. */
    assert_int_equal(dllm_logits(session, ids, 2, NULL, 3, false, logits, &error),
                     DLLM_ERROR_USAGE);
    assert_non_null(strstr(error.message, "3 rows were asked for, but there are 2 ids"));
    assert_int_equal(dllm_logits(session, ids, 0, &zero, 1, false, logits, NULL), DLLM_ERROR_USAGE);
    assert_int_equal(dllm_logits(session, long_ids, 2049, &zero, 1, false, logits, NULL),
                     DLLM_ERROR_USAGE);
    assert_int_equal(dllm_logits(session, long_ids, 2049, &zero, 1, true, logits, NULL), DLLM_OK);
    assert_int_equal(dllm_logits(session, long_ids, 4194305, &zero, 1, true, logits, &error),
                     DLLM_ERROR_USAGE);
    assert_non_null(strstr(error.message, "at most 4194304"));
    dllm_session_destroy(session);
    dllm_engine_close(engine);
    free(long_ids);
}

/* --- threads --- */

enum { WORKER_LENGTH = 24, WORKER_ROWS = 8, WORKER_PASSES = 200 };

struct worker {
    struct dllm_engine *engine;
    int32_t id;
    float first[WORKER_ROWS * VOCAB]; /* logits of the first pass */
    int different;                    /* later passes with other logits */
};

static void *run_passes(void *context)
{
    static const int32_t rows[WORKER_ROWS] = {0, 1, 2, 3, 4, 5, 6, 7};
    struct worker *worker = context;
    int32_t ids[WORKER_LENGTH];
    float logits[WORKER_ROWS * VOCAB];
    struct dllm_session *session;

    for (int i = 0; i < WORKER_LENGTH; i++)
        ids[i] = worker->id + i;
    if (dllm_session_create(worker->engine, &session, NULL))
        return NULL;
    for (int i = 0; i < WORKER_PASSES; i++) {
        float *out = i ? logits : worker->first;
        dllm_logits(session, ids, WORKER_LENGTH, rows, WORKER_ROWS, false, out, NULL);
        worker->different += i && memcmp(logits, worker->first, sizeof logits) != 0;
    }
    dllm_session_destroy(session);
    return NULL;
}

static void test_sessions_on_two_threads(void **state)
{
    struct dllm_engine *engine = open_model("models/llada-Q4_K_M.gguf");
    static struct worker alone[2], together[2];
    pthread_t threads[2];

    (void)state;
    for (int i = 0; i < 2; i++) {
        alone[i] = together[i] = (struct worker){.engine = engine, .id = 10 + 100 * i};
        run_passes(&alone[i]);
    }
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, run_passes, &together[i]), 0);
    for (int i = 0; i < 2; i++) {
        pthread_join(threads[i], NULL);
        assert_int_equal(together[i].different, 0);
        assert_memory_equal(alone[i].first, together[i].first, sizeof alone[i].first);
    }
    dllm_engine_close(engine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_vocabulary_only),
                                       cmocka_unit_test(test_vocabulary_faults),
                                       cmocka_unit_test(test_vocabulary_is_no_model),
                                       cmocka_unit_test(test_open_usage),
                                       cmocka_unit_test(test_info),
                                       cmocka_unit_test(test_suffix_has_no_bos),
                                       cmocka_unit_test(test_logits_in_pieces),
                                       cmocka_unit_test(test_logits_usage),
                                       cmocka_unit_test(test_sessions_on_two_threads)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
