/*
 * test_numeric_faults.c: models with numbers that are none, too large or too
 * small. Whatever is wrong where: an error that names it, or an answer of finite
 * numbers; never a hang, never a NaN handed on.
 */
#include "dllm.h"
#include "dtype.h"
#include "gguf.h"
#include "test_paths.h"
#include "tiny_model.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* A model's file, whose weights a test may change. */
struct changed_model {
    uint8_t *bytes;
    size_t size;
    struct dllm_file *file; /* over the bytes */
};

static struct changed_model make_model(struct tiny_model model)
{
    struct changed_model changed;

    model.text = true;
    changed.bytes = tiny_model_bytes(&model, &changed.size);
    assert_int_equal(gguf_open_bytes("tiny", changed.bytes, changed.size, &changed.file, NULL),
                     DLLM_OK);
    return changed;
}

static void free_model(struct changed_model *changed)
{
    dllm_file_close(changed->file);
    free(changed->bytes);
}

/* Weight `index` of a F32 tensor, to be written. */
static float *weight(const struct changed_model *changed, const struct dllm_tensor *tensor,
                     size_t index)
{
    assert_int_equal(tensor->type, DTYPE_F32);
    return (float *)(void *)(changed->bytes + tensor->offset) + index;
}

static const struct dllm_tensor *tensor_of(const struct changed_model *changed, const char *name)
{
    const struct dllm_tensor *tensor = dllm_file_find_tensor(changed->file, name);

    assert_non_null(tensor);
    return tensor;
}

/* --- what becomes of it --- */

static int check_confidences(void *context, const struct dllm_step *step)
{
    int *bad = context;

    for (size_t i = 0; i < step->committed; i++)
        *bad += !isfinite(step->confidences[i]);
    return 0;
}

static enum dllm_status generate(struct dllm_engine *engine, enum dllm_remasking remasking,
                                 struct dllm_error *error)
{
    static const int32_t prompt[] = {1, 2, 3};
    struct dllm_generate_options settings;
    struct dllm_session *session;
    struct dllm_result result;
    enum dllm_status status;
    int bad = 0;

    dllm_generate_defaults(engine, false, &settings);
    settings.max_tokens = 4;
    settings.steps = 2;
    settings.block_length = 0;
    settings.remasking = remasking;
    settings.on_step = check_confidences;
    settings.context = &bad;
    assert_int_equal(dllm_session_create(engine, &session, NULL), DLLM_OK);
    status = dllm_generate(session, prompt, 3, &settings, &result, error);
    assert_int_equal(bad, 0);
    dllm_result_free(&result);
    dllm_session_destroy(session);
    return status;
}

static enum dllm_status score(struct dllm_engine *engine, struct dllm_error *error)
{
    static const int32_t ids[] = {1, 2, 3};
    struct dllm_score_query query = {ids, 3, ids, 2};
    struct dllm_score_options options;
    struct dllm_session *session;
    struct dllm_likelihood likelihood;
    enum dllm_status status;

    dllm_score_defaults(&options);
    options.samples = options.batch = 4;
    assert_int_equal(dllm_session_create(engine, &session, NULL), DLLM_OK);
    status = dllm_score(session, &query, &options, &likelihood, error);
    if (status == DLLM_OK)
        assert_true(isfinite(likelihood.log_likelihood));
    dllm_session_destroy(session);
    return status;
}

/* Of the plain C kernels, or NULL for the best ones. */
static const char *level;

/* Opens the model and lets it answer and score: what became of the answer, in
 * *scored (unless NULL) of the score. The answer's message is in *error. */
static enum dllm_status run(const struct changed_model *changed, enum dllm_status *scored,
                            struct dllm_error *error)
{
    char path[TEST_PATH_BYTES];
    struct dllm_engine_options options = {
        .model_path = test_temporary_file(path, changed->bytes, changed->size),
        .threads = 1,
        .cpu_level = level};
    struct dllm_engine *engine;
    enum dllm_status status, score_status;

    *error = (struct dllm_error){.status = DLLM_OK};
    status = dllm_engine_open(&options, &engine, error);
    unlink(path);
    if (status != DLLM_OK)
        return status;
    status = generate(engine, DLLM_REMASKING_LOW_CONFIDENCE, error);
    score_status = score(engine, NULL);
    if (scored)
        *scored = score_status;
    dllm_engine_close(engine);
    return status;
}

static void expect_message(const struct dllm_error *error, const char *words)
{
    if (!strstr(error->message, words))
        fail_msg("\"%s\" expected in \"%s\"", words, error->message);
}

/* --- the tests --- */

/* Experts that a router does not choose are not used; of the embedding only the rows
 * of ids that occur, of which the prompt's 1 is one. */
static size_t used_weight(const struct dllm_tensor *tensor)
{
    uint64_t row = tensor->shape[0];

    return (size_t)(strncmp(tensor->name.data, "token_embd", 10) == 0 ? row + 3 : row / 2);
}

static bool is_of_expert(const struct dllm_tensor *tensor)
{
    return memmem(tensor->name.data, tensor->name.size, "_exps", 5) != NULL;
}

/* Breaks when a NaN anywhere in the weights gets lost on its way to the logits (a
 * silent wrong answer), or when the message does not name step, tensor and row. */
static void check_each_tensor(struct tiny_model model)
{
    struct changed_model changed = make_model(model);
    struct dllm_error error;
    char words[200];

    assert_int_equal(run(&changed, NULL, &error), DLLM_OK);
    for (size_t i = 0; i < dllm_file_tensor_count(changed.file); i++) {
        const struct dllm_tensor *tensor = dllm_file_tensor(changed.file, i);
        size_t index = used_weight(tensor);
        float *at = weight(&changed, tensor, index), before = *at;
        enum dllm_status status, scored;

        *at = NAN;
        status = run(&changed, &scored, &error);
        *at = before;
        if (status == DLLM_OK && is_of_expert(tensor))
            continue;
        if (status != DLLM_ERROR_NUMERIC || (scored != status && !is_of_expert(tensor)))
            fail_msg("%s, NaN in %.*s: status %d, of the score %d", model.architecture,
                     (int)tensor->name.size, tensor->name.data, (int)status, (int)scored);
        snprintf(words, sizeof words, "; tensor %.*s has a weight that is not finite in row %zu",
                 (int)tensor->name.size, tensor->name.data, index / (size_t)tensor->shape[0]);
        expect_message(&error, words);
        expect_message(&error, is_of_expert(tensor) ? ", step " : ", step 1: ");
    }
    free_model(&changed);
}

static void test_nan_in_each_tensor(void **state)
{
    (void)state;
    level = "ref";
    check_each_tensor(tiny_model_llada());
    level = NULL;
    check_each_tensor(tiny_model_llada());
    check_each_tensor(tiny_model_dream());
    check_each_tensor(tiny_model_llada_moe());
    check_each_tensor(tiny_model_rnd1());
}

/* Breaks when an infinity gives an answer with numbers that are not finite, or a
 * hang; it may get lost on the way (a key whose score is -infinity). */
static void test_infinities(void **state)
{
    struct changed_model changed = make_model(tiny_model_llada());
    struct dllm_error error;

    (void)state;
    for (size_t i = 0; i < dllm_file_tensor_count(changed.file); i++)
        for (int sign = -1; sign <= 1; sign += 2) {
            const struct dllm_tensor *tensor = dllm_file_tensor(changed.file, i);
            float *at = weight(&changed, tensor, used_weight(tensor)), before = *at;

            *at = (float)sign * INFINITY;
            if (run(&changed, NULL, &error) != DLLM_OK)
                expect_message(&error, "is not finite in row");
            *at = before;
        }
    free_model(&changed);
}

static void fill(const struct changed_model *changed, const char *name, float value)
{
    const struct dllm_tensor *tensor = tensor_of(changed, name);

    for (size_t i = 0; i < tensor->size / sizeof(float); i++)
        *weight(changed, tensor, i) = value;
}

/* Breaks when a layer whose finite weights overflow is not named. */
static void test_overflow_in_a_layer(void **state)
{
    struct changed_model changed = make_model(tiny_model_dream());
    struct dllm_error error;

    (void)state;
    fill(&changed, "blk.1.ffn_up.weight", 3e38f);
    fill(&changed, "blk.1.ffn_gate.weight", 3e38f);
    assert_int_equal(run(&changed, NULL, &error), DLLM_ERROR_NUMERIC);
    expect_message(&error, "; all weights are finite, but not what comes out of layer 1 in row ");
    free_model(&changed);
    changed = make_model(tiny_model_dream());
    fill(&changed, "blk.0.attn_v.weight", 3e38f);
    assert_int_equal(run(&changed, NULL, &error), DLLM_ERROR_NUMERIC);
    expect_message(&error, "; all weights are finite, but not what comes out of layer 0 in row ");
    free_model(&changed);
    changed = make_model(tiny_model_llada());
    fill(&changed, "output.weight", 3e38f);
    assert_int_equal(run(&changed, NULL, &error), DLLM_ERROR_NUMERIC);
    expect_message(&error, "the output matrix overflows");
    free_model(&changed);
}

/* Breaks when weights of zeros, or of the smallest numbers there are, divide by zero
 * or hang: the answer is a poor one, but of finite numbers. */
static void test_zeros_and_denormals(void **state)
{
    static const float values[] = {0, -0.0f, 0x1p-149f, -0x1p-149f, 0x1p-127f, 1e-30f};
    struct dllm_error error;

    (void)state;
    for (size_t v = 0; v < sizeof values / sizeof *values; v++) {
        struct tiny_model models[] = {tiny_model_llada(), tiny_model_llada_moe()};

        for (size_t m = 0; m < 2; m++) {
            struct changed_model changed = make_model(models[m]);

            for (size_t i = 0; i < dllm_file_tensor_count(changed.file); i++) {
                const struct dllm_tensor *tensor = dllm_file_tensor(changed.file, i);
                char name[100];

                snprintf(name, sizeof name, "%.*s", (int)tensor->name.size, tensor->name.data);
                fill(&changed, name, values[v]);
                if (run(&changed, NULL, &error) != DLLM_OK)
                    fail_msg("%s filled with %g: %s", name, (double)values[v], error.message);
            }
            free_model(&changed);
        }
    }
}

/* Breaks when a scale beyond f16 in a block gives an answer, or is not named. */
static void test_scales_that_overflow(void **state)
{
    char path[TEST_PATH_BYTES];
    struct dllm_engine_options options = {.model_path = path, .threads = 2};
    const char *name = "blk.0.ffn_down.weight";
    struct dllm_error error = {.status = DLLM_OK};
    struct dllm_engine *engine;
    const struct dllm_tensor *tensor;
    struct dllm_file *file;
    size_t size;
    uint8_t *bytes = test_read_file("tests/data/models/llada-Q4_K_M.gguf", &size);
    char words[200];

    (void)state;
    assert_non_null(bytes);
    assert_int_equal(gguf_open_bytes("llada", bytes, size, &file, NULL), DLLM_OK);
    tensor = dllm_file_find_tensor(file, name);
    assert_non_null(tensor);
    memcpy(bytes + tensor->offset + 5 * dtype_row_bytes(tensor->type, tensor->shape[0]) +
               dtype_info(tensor->type)->first_scale,
           "\x00\x7c", 2);
    test_temporary_file(path, bytes, size);
    assert_int_equal(dllm_engine_open(&options, &engine, NULL), DLLM_OK);
    assert_int_equal(generate(engine, DLLM_REMASKING_LOW_CONFIDENCE, &error), DLLM_ERROR_NUMERIC);
    snprintf(words, sizeof words, "; tensor %s has a scale that is not finite in row 5", name);
    expect_message(&error, words);
    dllm_engine_close(engine);
    dllm_file_close(file);
    free(bytes);
    unlink(path);
}

/* Breaks when numbers of the header that no model has are believed. */
static void test_numbers_of_the_header(void **state)
{
    static const float bad[] = {0, -1, 1e-40f, 0x1p-149f, INFINITY, NAN};
    static const char key[] = "llada.attention.layer_norm_rms_epsilon";
    struct changed_model changed = make_model(tiny_model_llada());
    uint8_t *at = memmem(changed.bytes, changed.size, key, sizeof key - 1);
    struct dllm_error error;

    (void)state;
    assert_non_null(at);
    at += sizeof key - 1 + 4;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        memcpy(at, &bad[i], sizeof bad[i]);
        assert_int_equal(run(&changed, NULL, &error), DLLM_ERROR_FORMAT);
        expect_message(&error, "layer_norm_rms_epsilon");
    }
    free_model(&changed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nan_in_each_tensor),   cmocka_unit_test(test_infinities),
        cmocka_unit_test(test_overflow_in_a_layer),  cmocka_unit_test(test_zeros_and_denormals),
        cmocka_unit_test(test_scales_that_overflow), cmocka_unit_test(test_numbers_of_the_header),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
