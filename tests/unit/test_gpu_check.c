/*
 * test_gpu_check: the distance by which dllm doctor judges a GPU.
 *
 * What would break: one row of many that is wrong, or logits that are no numbers,
 * taken for the CPU's.
 */
#include "gpu_check.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { ROWS = 3, WIDTH = 4 };

static const float want[ROWS * WIDTH] = {1, 2, 3, 4, 4, 3, 2, 1, 1, -1, 1, -1};

static double with_value(int at, float value)
{
    float got[ROWS * WIDTH];

    for (int i = 0; i < ROWS * WIDTH; i++)
        got[i] = i == at ? value : want[i];
    return gpu_check_cosine(got, want, ROWS, WIDTH);
}

static void test_same(void **state)
{
    (void)state;
    assert_true(gpu_check_cosine(want, want, ROWS, WIDTH) > 1 - 1e-12);
}

static void test_each_row_counts(void **state)
{
    (void)state;
    for (int i = 0; i < ROWS * WIDTH; i++)
        assert_true(with_value(i, want[i] + 1) < GPU_CHECK_COSINE);
}

static void test_no_numbers(void **state)
{
    static const float zeros[ROWS * WIDTH];

    (void)state;
    for (int i = 0; i < ROWS * WIDTH; i++) {
        assert_true(isnan(with_value(i, NAN)));
        assert_true(isnan(with_value(i, INFINITY)));
    }
    assert_true(isnan(gpu_check_cosine(zeros, want, ROWS, WIDTH)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same),
        cmocka_unit_test(test_each_row_counts),
        cmocka_unit_test(test_no_numbers),
    };

    return cmocka_run_group_tests_name("gpu_check", tests, NULL, NULL);
}
