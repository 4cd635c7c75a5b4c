/*
 * test_dequantize.c: the decoders of the weight types against the values that
 * an independent decoder gave for random blocks (tests/data/dequant: 8 rows of
 * 256 weights each).
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "dtype.h"
#include "half.h"
#include "kernels.h"
#include "test_paths.h"

enum { ROWS = 8, WIDTH = 256 };

static void *read_vectors(const char *type, const char *suffix, size_t expected)
{
    char name[64];
    size_t size = 0;
    uint8_t *bytes;

    snprintf(name, sizeof name, "dequant/%s.%s", type, suffix);
    bytes = test_read_file(test_data_path(name), &size);
    assert_non_null(bytes);
    assert_int_equal(size, expected);
    return bytes;
}

/* The largest magnitude: the bound below is relative to it. */
static float largest(const float *values, int count)
{
    float top = 0;

    for (int i = 0; i < count; i++)
        top = fmaxf(top, fabsf(values[i]));
    return top;
}

/* All rows in one call, from an odd address, must give the same bits. */
static void check_unaligned(uint32_t type, const uint8_t *blocks, size_t bytes,
                            const float *expected)
{
    uint8_t *shifted = malloc(bytes + 1);
    float out[ROWS * WIDTH];

    assert_non_null(shifted);
    memcpy(shifted + 1, blocks, bytes);
    dequantize_row(type, shifted + 1, ROWS * WIDTH, out);
    assert_memory_equal(out, expected, sizeof out);
    free(shifted);
}

static void check_type(uint32_t type)
{
    const char *name = dtype_info(type)->name;
    size_t row_bytes = (size_t)dtype_row_bytes(type, WIDTH);
    uint8_t *blocks = read_vectors(name, "blocks", ROWS * row_bytes);
    float *expected = read_vectors(name, "f32", ROWS * WIDTH * sizeof(float));
    float bound = 1e-6f * largest(expected, ROWS * WIDTH), out[ROWS * WIDTH];

    assert_true(bound > 0);
    for (int row = 0; row < ROWS; row++)
        dequantize_row(type, blocks + (size_t)row * row_bytes, WIDTH, out + row * WIDTH);
    for (int i = 0; i < ROWS * WIDTH; i++)
        if (!(fabsf(out[i] - expected[i]) <= bound))
            fail_msg("%s weight %d: %g, expected %g", name, i, out[i], expected[i]);
    check_unaligned(type, blocks, ROWS * row_bytes, out);
    free(blocks);
    free(expected);
}

/* Breaks when a nibble, a high bit, a packed scale or the order of weights is
 * read wrongly. */
static void test_quantized(void **state)
{
    (void)state;
    for (uint32_t type = 0; type < DTYPE_LIMIT; type++)
        if (dtype_info(type) && dtype_info(type)->matrix && dtype_info(type)->block_weights > 1)
            check_type(type);
}

/* Breaks when one of MXFP4's exponents is not 2^(e - 128): subnormal ones, and the last,
 * with which large weights overflow. */
static void test_exponents(void **state)
{
    static const float levels[16] = {0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12};
    uint8_t block[17];
    float out[32];

    (void)state;
    for (int i = 0; i < 16; i++)
        block[1 + i] = (uint8_t)(i | (15 - i) << 4);
    for (int exponent = 0; exponent < 256; exponent++) {
        block[0] = (uint8_t)exponent;
        dequantize_row(DTYPE_MXFP4, block, 32, out);
        for (int i = 0; i < 32; i++) {
            float level = levels[i < 16 ? i : 31 - i];

            assert_true(out[i] == ldexpf(level, exponent - 128));
        }
    }
}

/* Breaks when a float type is not copied value by value. */
static void test_floats(void **state)
{
    enum { COUNT = 37 };
    float values[COUNT], out[COUNT];
    uint16_t halves[COUNT], bfloats[COUNT];

    (void)state;
    for (int i = 0; i < COUNT; i++) {
        values[i] = (float)(i - 18) * 0.375f; /* exact in all three */
        halves[i] = half_from_float(values[i]);
        bfloats[i] = bfloat_from_float(values[i]);
    }
    dequantize_row(DTYPE_F32, values, COUNT, out);
    assert_memory_equal(out, values, sizeof out);
    dequantize_row(DTYPE_F16, halves, COUNT, out);
    assert_memory_equal(out, values, sizeof out);
    dequantize_row(DTYPE_BF16, bfloats, COUNT, out);
    assert_memory_equal(out, values, sizeof out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_quantized),
        cmocka_unit_test(test_exponents),
        cmocka_unit_test(test_floats),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
