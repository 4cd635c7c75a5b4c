/*
 * test_gpu_models: whole models through the public header, on a GPU.
 *
 * What would break: a block type or an architecture whose logits are not those of
 * llama.cpp (models/NAME.logits) and of the CPU.
 */
#include "model_data.h"
#include "parity.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* --- logits --- */

static const char *const models[] = {
    "llada-Q4_K_M", "dream-Q4_K_M",     "llada-F32",        "llada-Q8_0",
    "llada-Q5_K_M", "dream-F32",        "llada-gqa-Q4_K_M", "llada-tied-Q4_K_M",
    "dream-Q8_0",   "llada-moe-Q4_K_M", "rnd1-Q4_K_M",
};
enum { MODELS = sizeof models / sizeof *models };

static bool is_float(const char *name)
{
    return strstr(name, "F32") != NULL;
}

static float *logits_of(struct opened *model, const struct reference *reference)
{
    size_t count = reference->count;
    float *logits = calloc(count * reference->vocab, sizeof *logits);
    int32_t rows[MAX_TOKENS];
    struct dllm_error error;

    assert_non_null(logits);
    for (size_t i = 0; i < count; i++)
        rows[i] = (int32_t)i;
    if (dllm_logits(model->session, reference->ids, count, rows, count, false, logits, &error))
        fail_msg("%s", error.message);
    return logits;
}

static void print_parity(const char *name, const char *whose, const struct parity *parity)
{
    char line[256];

    parity_describe(parity, line, sizeof line);
    print_message("%s beside %s: %s\n", name, whose, line);
}

/* Rounding keys and values to f16 moves logits as much as another runtime's order of
 * sums does: a cosine of 0.9998 in the median row (0.99988 was seen), half of that
 * distance in Q8_0's. F32 models keep f32 throughout. */
static void test_logits(void **state)
{
    const char *name = *state;
    char path[PATH_BYTES];
    struct reference want;
    struct opened gpu, cpu;
    struct parity beside_peer, beside_cpu;
    float *got, *again, *host;
    size_t bytes;

    if (!model_data_find_model(name, ".gguf", path))
        skip();
    model_data_load_reference(name, &want);
    bytes = want.count * want.vocab * sizeof(float);
    gpu = model_data_open_on(path, "gpu");
    cpu = model_data_open_on(path, "cpu");
    assert_string_equal(gpu.info.device, "gpu:0");
    got = logits_of(&gpu, &want);
    again = logits_of(&gpu, &want);
    host = logits_of(&cpu, &want);
    assert_memory_equal(got, again, bytes);
    beside_peer = parity_of_rows(got, want.logits, want.count, want.vocab);
    beside_cpu = parity_of_rows(got, host, want.count, want.vocab);
    print_parity(name, "llama.cpp", &beside_peer);
    print_parity(name, "the CPU", &beside_cpu);
    assert_true(parity_is_good(&beside_peer, !is_float(name)));
    assert_true(beside_cpu.median_cosine >= 0.9998 && beside_cpu.lowest_cosine >= 0.9995);
    if (is_float(name))
        assert_memory_equal(got, host, bytes);
    model_data_close(&gpu);
    model_data_close(&cpu);
    free(got);
    free(again);
    free(host);
    free(want.logits);
}

/* Layers that the CPU keeps are nearer to the CPU's than all on the GPU would be; with all
 * of them there, the output matrix on the GPU gives the CPU's bits. Breaks if quantized
 * weights of a layer are looked for where they are not. */
static void test_shared_logits(void **state)
{
    const char *name = *state;
    char path[PATH_BYTES];
    struct reference want;
    struct opened cpu;
    float *host;

    if (!model_data_find_model(name, ".gguf", path))
        skip();
    model_data_load_reference(name, &want);
    cpu = model_data_open_on(path, "cpu");
    host = logits_of(&cpu, &want);
    for (int layers = 0; layers < cpu.info.layers; layers++) {
        const char number[] = {(char)('0' + layers), 0};
        struct opened shared = model_data_open_shared(path, number);
        float *got = logits_of(&shared, &want);
        struct parity parity = parity_of_rows(got, host, want.count, want.vocab);

        assert_int_equal(shared.info.gpu_layers, layers);
        print_parity(name, shared.info.device, &parity);
        assert_true(parity.median_cosine >= 0.9998 && parity.lowest_cosine >= 0.9995);
        if (layers == 0)
            assert_memory_equal(got, host, want.count * want.vocab * sizeof *got);
        model_data_close(&shared);
        free(got);
    }
    model_data_close(&cpu);
    free(host);
    free(want.logits);
}

/* Of each kind of feed-forward one. */
static const char *const shared_models[] = {"dream-Q4_K_M", "llada-moe-Q4_K_M"};
enum { SHARED_MODELS = sizeof shared_models / sizeof *shared_models };

int main(void)
{
    static char names[MODELS + SHARED_MODELS][80];
    struct CMUnitTest tests[MODELS + SHARED_MODELS];
    int gpus;

    if (dllm_gpu_count(&gpus, NULL) != DLLM_OK)
        return 77;
    for (size_t i = 0; i < MODELS; i++) {
        snprintf(names[i], sizeof names[i], "logits_%s", models[i]);
        tests[i] =
            (struct CMUnitTest){names[i], test_logits, NULL, NULL, (void *)(uintptr_t)models[i]};
    }
    for (size_t i = 0; i < SHARED_MODELS; i++) {
        snprintf(names[MODELS + i], sizeof names[0], "shared_logits_%s", shared_models[i]);
        tests[MODELS + i] = (struct CMUnitTest){names[MODELS + i], test_shared_logits, NULL, NULL,
                                                (void *)(uintptr_t)shared_models[i]};
    }
    return cmocka_run_group_tests_name("gpu_models", tests, NULL, NULL);
}
