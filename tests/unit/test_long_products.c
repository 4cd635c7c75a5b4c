/*
 * test_long_products: products of more rows of inputs than an item of work takes,
 * against plain sums.
 * What would break: rows of inputs that two blocks of them compute, or none; outputs
 * that go to another row; a launch of several matrices that counts its items wrongly.
 */
#include "backend_cpu.h"

#include "dtype.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { TOKENS = 1000, WIDTH = 288, FIRST_ROWS = 40, SECOND_ROWS = 16 };

struct fixture {
    struct backend *backend;
    struct backend_buffer *x, *first, *second;
    struct backend_activations *in;
    float *first_weights, *second_weights;
};

/* Whole numbers below 8: every sum is exact. */
static float small_number(int i)
{
    return (float)(i * 7919 % 15 - 7);
}

static float *make_numbers(int count)
{
    float *numbers = malloc(sizeof *numbers * (size_t)count);

    assert_non_null(numbers);
    for (int i = 0; i < count; i++)
        numbers[i] = small_number(i);
    return numbers;
}

static void open_fixture(struct fixture *f, int threads)
{
    const struct backend_limits sizes = {
        .rows = TOKENS, .width = WIDTH, .keys = 1, .kv_heads = 1, .head_dim = 32, .vocab = 1};
    const uint64_t types = UINT64_C(1) << DTYPE_F32;

    assert_int_equal(backend_cpu_create(threads, NULL, &f->backend, NULL), DLLM_OK);
    assert_int_equal(backend_reserve(f->backend, &sizes, NULL), DLLM_OK);
    assert_int_equal(backend_buffer_create(f->backend, TOKENS, WIDTH, &f->x, NULL), DLLM_OK);
    assert_int_equal(backend_buffer_create(f->backend, TOKENS, FIRST_ROWS, &f->first, NULL),
                     DLLM_OK);
    assert_int_equal(backend_buffer_create(f->backend, TOKENS, SECOND_ROWS, &f->second, NULL),
                     DLLM_OK);
    assert_int_equal(backend_activations_create(f->backend, TOKENS, WIDTH, types, &f->in, NULL),
                     DLLM_OK);
    f->first_weights = make_numbers(FIRST_ROWS * WIDTH);
    f->second_weights = make_numbers(SECOND_ROWS * WIDTH);
    for (int i = 0; i < TOKENS * WIDTH; i++)
        f->x->data[i] = small_number(i / 3);
}

static void close_fixture(struct fixture *f)
{
    free(f->second_weights);
    free(f->first_weights);
    backend_activations_destroy(f->backend, f->in);
    backend_buffer_destroy(f->backend, f->second);
    backend_buffer_destroy(f->backend, f->first);
    backend_buffer_destroy(f->backend, f->x);
    backend_destroy(f->backend);
}

static void multiply(struct fixture *f, int tokens)
{
    const struct backend_rows rows = {f->x, 0, tokens};
    const struct backend_matrix first = {DTYPE_F32, FIRST_ROWS, WIDTH, f->first_weights};
    const struct backend_matrix second = {DTYPE_F32, SECOND_ROWS, WIDTH, f->second_weights};
    const struct backend_product products[] = {{.matrix = &first, .out = f->first},
                                               {.matrix = &second, .out = f->second}};

    memset(f->first->data, 0xff, sizeof(float) * TOKENS * FIRST_ROWS);
    memset(f->second->data, 0xff, sizeof(float) * TOKENS * SECOND_ROWS);
    backend_prepare(f->backend, rows, NULL, UINT64_C(1) << DTYPE_F32, f->in);
    backend_matmul(f->backend, f->in, products, 2);
}

static void expect_products(const struct fixture *f, const float *weights,
                            const struct backend_buffer *out, int tokens)
{
    for (int t = 0; t < tokens; t++)
        for (int r = 0; r < out->width; r++) {
            float want = 0;

            for (int i = 0; i < WIDTH; i++)
                want += weights[r * WIDTH + i] * f->x->data[t * WIDTH + i];
            if (out->data[t * out->width + r] != want)
                fail_msg("%d tokens: token %d, row %d is %g, not %g", tokens, t, r,
                         (double)out->data[t * out->width + r], (double)want);
        }
    for (int i = tokens * out->width; i < TOKENS * out->width; i++)
        assert_true(isnan(out->data[i]));
}

static void test_every_row_of_inputs_once(void **state)
{
    static const int counts[] = {1, 383, 384, 385, 769, TOKENS};
    struct fixture f;

    (void)state;
    for (int threads = 1; threads <= 3; threads += 2) {
        open_fixture(&f, threads);
        for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
            multiply(&f, counts[i]);
            expect_products(&f, f.first_weights, f.first, counts[i]);
            expect_products(&f, f.second_weights, f.second, counts[i]);
        }
        close_fixture(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_row_of_inputs_once)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
