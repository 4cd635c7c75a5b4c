/*
 * test_products: the operations and bytes that speeds are computed from, against
 * what the tensors of a file say; ceilings; products without a model.
 */
#include "model_data.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { PROMPT = 5, MASKS = 12, ROWS = 4, CANVAS = PROMPT + MASKS };

/* What the matrix products of a step take. */
struct counts {
    double operations, bytes;
};

static void add_tensor(struct counts *counts, const struct dllm_file *file, const char *name,
                       int tokens)
{
    const struct dllm_tensor *tensor = dllm_file_find_tensor(file, name);

    assert_non_null(tensor);
    counts->operations += 2.0 * (double)tensor->shape[0] * (double)tensor->shape[1] * tokens;
    counts->bytes += (double)tensor->size;
}

static void add_layer(struct counts *counts, const struct dllm_file *file, int layer, bool last)
{
    static const char *const every[] = {"attn_k", "attn_v"};
    static const char *const chosen[] = {"attn_q", "attn_output", "ffn_gate", "ffn_up", "ffn_down"};
    char name[64];

    for (size_t i = 0; i < sizeof every / sizeof *every; i++) {
        snprintf(name, sizeof name, "blk.%d.%s.weight", layer, every[i]);
        add_tensor(counts, file, name, CANVAS);
    }
    for (size_t i = 0; i < sizeof chosen / sizeof *chosen; i++) {
        snprintf(name, sizeof name, "blk.%d.%s.weight", layer, chosen[i]);
        add_tensor(counts, file, name, last ? ROWS : CANVAS);
    }
}

/* The first step of a run, computed from nothing. */
static struct counts counts_of_step(const char *path, int layers)
{
    struct counts counts = {0};
    struct dllm_file *file;

    assert_int_equal(dllm_file_open(path, &file, NULL), DLLM_OK);
    for (int layer = 0; layer < layers; layer++)
        add_layer(&counts, file, layer, layer == layers - 1);
    add_tensor(&counts, file, "output.weight", ROWS);
    dllm_file_close(file);
    return counts;
}

static int stop_after_step(void *context, const struct dllm_step *step)
{
    (void)context;
    return step->computed;
}

/* Wrong counts make wrong Gop/s and GB/s: a matrix left out, the wrong rows, the
 * head's products forgotten. */
static void test_counts_of_a_step(void **state)
{
    static const int32_t prompt[PROMPT] = {3, 5, 17, 40, 41};
    char path[PATH_BYTES];
    struct opened model;
    struct dllm_generate_options options;
    struct dllm_result result;
    struct counts want;

    (void)state;
    assert_true(model_data_find("llada-Q4_K_M.gguf", path));
    model = model_data_open(path, NULL, 2);
    want = counts_of_step(path, model.info.layers);
    dllm_generate_defaults(model.engine, false, &options);
    options.max_tokens = MASKS;
    options.block_length = ROWS;
    options.on_step = stop_after_step;
    assert_int_equal(dllm_generate(model.session, prompt, PROMPT, &options, &result, NULL),
                     DLLM_OK);
    assert_true(result.timings.products.int8_operations == want.operations);
    assert_true(result.timings.products.weight_bytes == want.bytes);
    assert_true(result.timings.products.float_operations == 0);
    assert_true(result.timings.products.seconds >= result.timings.matmul_seconds);
    assert_true(result.timings.products.seconds <=
                result.timings.matmul_seconds + result.timings.head_seconds);
    dllm_result_free(&result);
    model_data_close(&model);
}

/* A ceiling below what a kernel reaches would be none; the reference has none. */
static void test_ceiling(void **state)
{
    static const char *const levels[] = {"ref", "avx2", "avxvnni", "avx512vnni"};
    char path[PATH_BYTES];

    (void)state;
    assert_true(model_data_find("llada-Q4_K_M.gguf", path));
    for (size_t i = 0; i < sizeof levels / sizeof *levels; i++) {
        struct dllm_engine_options options = {
            .model_path = path, .threads = 1, .cpu_level = levels[i]};
        struct dllm_engine *engine;

        if (dllm_engine_open(&options, &engine, NULL))
            continue;
        for (int floats = 0; floats < 2; floats++)
            assert_int_equal(dllm_engine_ceiling(engine, floats) > 1e8, i > 0);
        assert_true(dllm_engine_bandwidth(engine) == 0);
        dllm_engine_close(engine);
    }
}

/* int8 and float weights must be counted apart: their ceilings differ. */
static void test_random_products(void **state)
{
    static const char *const names[] = {"F32", "F16", "BF16", "Q8_0", "Q4_K", "Q5_K", "Q6_K"};
    static const double bytes[] = {4, 2, 2, 34 / 32., 144 / 256., 176 / 256., 210 / 256.};

    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct dllm_product_options options = {.rows = 48, .width = 512, .tokens = 3, .threads = 2};
        struct dllm_product *product;
        struct dllm_products run;

        while (!dllm_type_name(options.type) || strcmp(dllm_type_name(options.type), names[i]) != 0)
            options.type++;
        assert_int_equal(dllm_product_create(&options, &product, NULL), DLLM_OK);
        assert_int_equal(dllm_product_run(product, &run, NULL, NULL), DLLM_OK);
        assert_true(run.seconds > 0);
        assert_true(run.int8_operations == (i < 3 ? 0 : 2.0 * 48 * 512 * 3));
        assert_true(run.float_operations == (i < 3 ? 2.0 * 48 * 512 * 3 : 0));
        assert_true(run.weight_bytes == bytes[i] * 48 * 512);
        assert_true(dllm_product_bandwidth(product) == 0);
        dllm_product_destroy(product);
    }
}

/* Sizes that make no sense are refused before memory is taken. */
static void test_refused_products(void **state)
{
    static const struct dllm_product_options wrong[] = {
        {.type = 15, .rows = 1, .width = 256, .tokens = 1}, /* Q8_K */
        {.type = 77, .rows = 1, .width = 256, .tokens = 1},
        {.type = 12, .rows = 0, .width = 256, .tokens = 1},
        {.type = 12, .rows = 1, .width = 255, .tokens = 1},
        {.type = 12, .rows = 1, .width = 256, .tokens = 1 << 23},
        {.type = 12, .rows = 1, .width = 256, .tokens = 1, .threads = -1},
        {.type = 12, .rows = 1, .width = 256, .tokens = 1, .cpu_level = "mmx"},
    };
    struct dllm_product *product;
    struct dllm_error error;

    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_int_equal(dllm_product_create(&wrong[i], &product, &error), DLLM_ERROR_USAGE);
        assert_null(product);
        assert_string_not_equal(error.message, "");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counts_of_a_step),
        cmocka_unit_test(test_ceiling),
        cmocka_unit_test(test_random_products),
        cmocka_unit_test(test_refused_products),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
