/*
 * test_floats.cpp: conversions of 16-bit floats, by CUDA's headers or by those
 * that stand in for them, against the definition of the formats. Both must agree,
 * so that kernels compute the same with and without the toolkit.
 */
#include "device_test.h"

#include <cstring>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

using namespace device_test;

/* A float format of 16 bits. */
struct Format {
    int mantissa_bits, bias;

    int infinity() const
    {
        return ((1 << (15 - mantissa_bits)) - 1) << mantissa_bits;
    }
    /* The value of bits without a sign, up to infinity. */
    double value(int bits) const
    {
        const int exponent = bits >> mantissa_bits, mantissa = bits & ((1 << mantissa_bits) - 1);
        if (exponent == 0)
            return std::ldexp(mantissa, 1 - bias - mantissa_bits);
        return std::ldexp(mantissa + (1 << mantissa_bits), exponent - bias - mantissa_bits);
    }
    /* The nearest one of x >= 0, the even one of two: by bisection, not by tricks with bits. Past
     * the last number the format goes on as if it had one more, which is infinity. */
    int nearest(double x) const
    {
        int low = 0, high = infinity();
        while (high - low > 1) {
            const int middle = (low + high) / 2;
            (value(middle) <= x ? low : high) = middle;
        }
        const double to_low = x - value(low), to_high = value(high) - x;
        return to_low < to_high || (to_low == to_high && low % 2 == 0) ? low : high;
    }
};
static const Format half_format = {10, 15}, bfloat_format = {7, 127};

/* All 65,536 to float, NaN as NaN. */
static void check_widening(const Format &format, float (*widen)(uint16_t))
{
    for (int i = 0; i < 65536; i++) {
        const int bits = i & 0x7fff;
        const double sign = i & 0x8000 ? -1 : 1, got = double(widen(uint16_t(i)));
        if (bits > format.infinity())
            expect(got != got, "%04x is %g, not NaN", unsigned(i), got);
        else if (bits == format.infinity())
            expect(got == sign * INFINITY, "%04x is %g, not infinite", unsigned(i), got);
        else
            expect(got == sign * format.value(bits), "%04x is %g, not %g", unsigned(i), got,
                   sign * format.value(bits));
    }
}

static void check_one_narrowing(const Format &format, float x, uint16_t (*narrow)(float))
{
    const int want = format.nearest(std::fabs(double(x))) | (std::signbit(x) ? 0x8000 : 0);
    expect(narrow(x) == want, "%.9g becomes %04x, not %04x", double(x), unsigned(narrow(x)),
           unsigned(want));
}

/* Every number of the format, the middle to the next one, and both floats beside each. */
static void check_narrowing(const Format &format, uint16_t (*narrow)(float))
{
    for (int bits = 0; bits < format.infinity(); bits++) {
        const double value = format.value(bits), middle = (value + format.value(bits + 1)) / 2;
        for (const double x : {value, middle})
            for (const float toward : {-INFINITY, 0.0f, INFINITY}) {
                const float y = toward == 0 ? float(x) : std::nextafter(float(x), toward);
                check_one_narrowing(format, y, narrow);
                check_one_narrowing(format, -y, narrow);
            }
    }
    for (int i = 0; i < 200000; i++) {
        const uint32_t bits = random_bits() & 0x7fffffff;
        float x;
        memcpy(&x, &bits, 4);
        if (x < INFINITY)
            check_one_narrowing(format, x, narrow);
    }
    expect((narrow(NAN) & 0x7fff) > format.infinity(), "NaN becomes %04x", unsigned(narrow(NAN)));
    expect(narrow(INFINITY) == format.infinity(), "infinity becomes %04x",
           unsigned(narrow(INFINITY)));
}

DEVICE_TEST(halves_to_floats)
{
    check_widening(half_format, [](uint16_t bits) { return __half2float(__ushort_as_half(bits)); });
}

DEVICE_TEST(floats_to_halves)
{
    check_narrowing(half_format,
                    [](float x) { return uint16_t(__half_as_ushort(__float2half_rn(x))); });
}

DEVICE_TEST(bfloats_to_floats)
{
    check_widening(bfloat_format,
                   [](uint16_t bits) { return __bfloat162float(__ushort_as_bfloat16(bits)); });
}

DEVICE_TEST(floats_to_bfloats)
{
    check_narrowing(bfloat_format,
                    [](float x) { return uint16_t(__bfloat16_as_ushort(__float2bfloat16_rn(x))); });
}
