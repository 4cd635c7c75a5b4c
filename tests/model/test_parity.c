/*
 * test_parity.c: whole models through the public header, against llama.cpp's
 * logits (models/NAME.logits: every row of one pass over NAME.tokens).
 *
 * What would break: any wrong tensor, norm, rope pairing, head group, bias,
 * block decoder moves the logits; a kernel level or a share of the work among
 * threads that computes anything else changes bits.
 */
#include "convert_model.h"
#include "model_data.h"
#include "parity.h"
#include "test_paths.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* The bounds differ for quantized weights (parity.h). */
struct parity_model {
    const char *name;
    bool quantized;
};
static const struct parity_model models[] = {
    {"llada-F32", false},       {"llada-Q8_0", true},       {"llada-Q4_K_M", true},
    {"llada-Q5_K_M", true},     {"llada-gqa-Q4_K_M", true}, {"llada-tied-Q4_K_M", true},
    {"dream-F32", false},       {"dream-Q8_0", true},       {"dream-Q4_K_M", true},
    {"llada-moe-Q4_K_M", true}, {"rnd1-Q4_K_M", true},
};
static const char *const float_models[] = {"llada-F32", "dream-F32"};

/* Whether this machine can run a level, told by opening a model with it. */
static bool level_available(const char *path, const char *level)
{
    struct dllm_engine_options options = {.model_path = path, .threads = 1, .cpu_level = level};
    struct dllm_engine *engine;

    if (dllm_engine_open(&options, &engine, NULL) != DLLM_OK)
        return false;
    dllm_engine_close(engine);
    return true;
}

/* ------------------------------------------------------------- parity --- */

static void assert_parity(const char *name, const float *got, const struct reference *want,
                          bool quantized)
{
    struct parity parity = parity_of_rows(got, want->logits, want->count, want->vocab);
    char line[256];

    parity_describe(&parity, line, sizeof line);
    print_message("%s: %s\n", name, line);
    assert_true(parity_is_good(&parity, quantized));
}

static void test_logits_equal_the_peer(void **state)
{
    const struct parity_model *model = *state;
    char path[PATH_BYTES];
    struct reference want;
    float *got;

    if (!model_data_find_model(model->name, ".gguf", path))
        skip();
    model_data_load_reference(model->name, &want);
    got = model_data_logits(path, NULL, 2, want.ids, want.count);
    assert_parity(model->name, got, &want, model->quantized);
    free(got);
    free(want.logits);
}

/* --------------------------------------------------------------- bits --- */

static void assert_same_bits(const char *path, const struct reference *reference)
{
    static const char *const levels[] = {"ref", "avx2", "avxvnni", "avx512vnni"};
    static const int threads[] = {1, 2, 3, 7};
    size_t bytes = reference->count * reference->vocab * sizeof(float);
    int compared = 0;
    float *want = model_data_logits(path, "ref", 1, reference->ids, reference->count);

    for (size_t l = 0; l < 4; l++) {
        if (!level_available(path, levels[l]))
            continue;
        for (size_t t = 0; t < 4; t++) {
            float *got =
                model_data_logits(path, levels[l], threads[t], reference->ids, reference->count);

            if (memcmp(got, want, bytes) != 0)
                fail_msg("%s: level %s with %d threads gives other bits than ref with 1", path,
                         levels[l], threads[t]);
            free(got);
        }
        compared++;
    }
    print_message("%s: %d levels available here\n", path, compared);
    free(want);
}

static void test_levels_and_threads_give_the_same_bits(void **state)
{
    const struct parity_model *model = *state;
    char path[PATH_BYTES];
    struct reference reference;

    if (!model_data_find_model(model->name, ".gguf", path))
        skip();
    model_data_load_reference(model->name, &reference);
    assert_same_bits(path, &reference);
    free(reference.logits);
}

/* Rows asked for alone go through the last layer in a smaller batch; they must
 * be the rows of the whole answer. */
static void test_some_rows_equal_those_of_all(void **state)
{
    static const int32_t rows[] = {0, 3, 4, 11, 23};
    const struct parity_model *model = *state;
    char path[PATH_BYTES];
    struct reference reference;
    struct opened opened;
    float *all, *some;

    if (!model_data_find_model(model->name, ".gguf", path))
        skip();
    model_data_load_reference(model->name, &reference);
    assert_true(reference.count > 23);
    all = model_data_logits(path, NULL, 2, reference.ids, reference.count);
    opened = model_data_open(path, NULL, 2);
    some = calloc(5 * reference.vocab, sizeof *some);
    assert_non_null(some);
    assert_int_equal(
        dllm_logits(opened.session, reference.ids, reference.count, rows, 5, false, some, NULL),
        DLLM_OK);
    for (size_t i = 0; i < 5; i++)
        assert_memory_equal(some + i * reference.vocab, all + (size_t)rows[i] * reference.vocab,
                            reference.vocab * sizeof(float));
    model_data_close(&opened);
    free(some);
    free(all);
    free(reference.logits);
}

/* -------------------------------------------------------- half floats --- */

/* Logits of the model at in_path with its matrices converted. Also checks the
 * converted file on all levels. */
static float *converted_logits(const char *in_path, enum convert_kind kind,
                               const struct reference *reference)
{
    char path[TEST_PATH_BYTES];
    float *logits;

    test_temporary_path(path);
    assert_true(convert_model(in_path, path, kind));
    assert_same_bits(path, reference);
    logits = model_data_logits(path, NULL, 2, reference->ids, reference->count);
    unlink(path);
    return logits;
}

/* No reference file of these types exists, but an F32 file that holds the same
 * rounded values takes the same float path: bits must be equal. F16 rounding
 * itself stays within the bound for float weights. */
static void test_half_floats_equal_the_same_values_as_f32(void **state)
{
    const char *name = *state;
    char path[PATH_BYTES], title[64];
    struct reference reference;
    size_t bytes;
    float *half, *rounded;

    if (!model_data_find_model(name, ".gguf", path))
        skip();
    model_data_load_reference(name, &reference);
    bytes = reference.count * reference.vocab * sizeof(float);

    half = converted_logits(path, CONVERT_F16, &reference);
    rounded = converted_logits(path, CONVERT_F32_ROUNDED_F16, &reference);
    assert_memory_equal(half, rounded, bytes);
    snprintf(title, sizeof title, "%s as F16", name);
    assert_parity(title, half, &reference, false);
    free(half);
    free(rounded);

    half = converted_logits(path, CONVERT_BF16, &reference);
    rounded = converted_logits(path, CONVERT_F32_ROUNDED_BF16, &reference);
    assert_memory_equal(half, rounded, bytes);
    free(half);
    free(rounded);
    free(reference.logits);
}

/* ---------------------------------------------------------------- main --- */

enum { MAX_TESTS = 64 };

/* The tests of each model, named after both. */
static struct CMUnitTest tests[MAX_TESTS];
static char names[MAX_TESTS][80];
static size_t test_count;

static void add_test(const char *what, const char *model, CMUnitTestFunction function,
                     const void *state)
{
    snprintf(names[test_count], sizeof names[0], "%s_%s", what, model);
    tests[test_count] = (struct CMUnitTest){.name = names[test_count],
                                            .test_func = function,
                                            .initial_state = (void *)(uintptr_t)state};
    test_count++;
}

int main(void)
{
    for (size_t i = 0; i < sizeof models / sizeof models[0]; i++) {
        const char *name = models[i].name;

        add_test("logits", name, test_logits_equal_the_peer, &models[i]);
        add_test("same_bits", name, test_levels_and_threads_give_the_same_bits, &models[i]);
        add_test("some_rows", name, test_some_rows_equal_those_of_all, &models[i]);
    }
    for (size_t i = 0; i < sizeof float_models / sizeof float_models[0]; i++) {
        const char *name = float_models[i];

        add_test("half_floats", name, test_half_floats_equal_the_same_values_as_f32, name);
    }
    return _cmocka_run_group_tests("parity", tests, test_count, NULL, NULL);
}
