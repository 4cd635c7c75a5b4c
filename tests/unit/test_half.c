/* test_half.c: half and bfloat16 conversions, exhaustively. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "half.h"

/* The value of half bits straight from the definition. */
static double half_by_definition(uint16_t half)
{
    int exponent = half >> 10 & 31, mantissa = half & 1023;
    double magnitude = exponent == 0 ? ldexp(mantissa, -24) : ldexp(1024 + mantissa, exponent - 25);

    return half & 0x8000 ? -magnitude : magnitude;
}

/* Breaks on any wrong pattern of the 65536, subnormals and signed zeros
 * included, or a NaN that loses its sign or payload. */
static void test_half_to_float(void **state)
{
    (void)state;
    for (uint32_t half = 0; half < 65536; half++) {
        float value = half_to_float((uint16_t)half);
        uint32_t bits = float_bits(value);

        assert_int_equal(bits >> 31, half >> 15);
        if ((half & 0x7c00) != 0x7c00)
            assert_true((double)value == half_by_definition((uint16_t)half));
        else if ((half & 0x3ff) == 0)
            assert_true(isinf(value));
        else
            assert_int_equal(bits & 0x7fffffff, 0x7fc00000 | (half & 0x3ff) << 13);
    }
}

/* Breaks when a half does not survive the way to f32 and back (a NaN comes
 * back quiet). */
static void test_half_round_trip(void **state)
{
    (void)state;
    for (uint32_t half = 0; half < 65536; half++) {
        bool nan = (half & 0x7fff) > 0x7c00;

        assert_int_equal(half_from_float(half_to_float((uint16_t)half)), half | (nan ? 0x200 : 0));
    }
}

/* Breaks when rounding between two neighbours is not to the nearest, or a tie
 * does not go to the even one. */
static void test_half_rounding(void **state)
{
    (void)state;
    for (uint32_t half = 0; half < 0x7c00; half++) {
        /* Above the largest half the next step would be 65536. */
        double low = half_by_definition((uint16_t)half);
        double high = half == 0x7bff ? 65536 : half_by_definition((uint16_t)(half + 1));
        float middle = (float)((low + high) / 2);
        uint16_t even = (uint16_t)(half + (half & 1));

        assert_int_equal(half_from_float(middle), even);
        assert_int_equal(half_from_float(nextafterf(middle, 0)), half);
        assert_int_equal(half_from_float(nextafterf(middle, INFINITY)), half + 1);
        assert_int_equal(half_from_float(-middle), even | 0x8000);
    }
    assert_int_equal(half_from_float(3e38f), 0x7c00);
    assert_int_equal(half_from_float(-INFINITY), 0xfc00);
    assert_int_equal(half_from_float(1e-30f), 0);
    assert_int_equal(half_from_float(float_from_bits(0x7f800001)), 0x7e00);
}

/* The same for bfloat16, whose values are those of f32 with 16 bits dropped. */
static void test_bfloat(void **state)
{
    (void)state;
    for (uint32_t bits = 0; bits < 65536; bits++) {
        bool nan = (bits & 0x7fff) > 0x7f80;
        uint32_t middle = bits << 16 | 0x8000;

        assert_int_equal(float_bits(bfloat_to_float((uint16_t)bits)), bits << 16);
        assert_int_equal(bfloat_from_float(bfloat_to_float((uint16_t)bits)),
                         bits | (nan ? 0x40 : 0));
        if ((bits & 0x7f80) == 0x7f80)
            continue;
        assert_int_equal(bfloat_from_float(float_from_bits(middle)), bits + (bits & 1));
        assert_int_equal(bfloat_from_float(float_from_bits(middle - 1)), bits);
        assert_int_equal(bfloat_from_float(float_from_bits(middle + 1)), bits + 1);
    }
    assert_int_equal(bfloat_from_float(float_from_bits(0x7f800001)), 0x7fc0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_half_to_float),
        cmocka_unit_test(test_half_round_trip),
        cmocka_unit_test(test_half_rounding),
        cmocka_unit_test(test_bfloat),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
