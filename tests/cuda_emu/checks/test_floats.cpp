/*
 * test_floats.cpp: conversions of 16-bit floats, by CUDA's headers or by those
 * that stand in for them, against the definition of the formats. Both must agree,
 * so that kernels compute the same with and without the toolkit. And sums of the
 * tensor cores, which are no better than a card's.
 */
#include "cuda_probe.h"
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

/* C[0][0] of an f16 mma whose A[0][k] is 2^-12, but at k = 7, where it is 1, and whose B[k][0] is
 * `other` for k < 7 and 1 for k = 7; all else is 0. */
static float sum_of_eight(double other)
{
    std::vector<uint32_t> in(192);
    for (int k = 0; k < 8; k++) {
        const uint32_t shift = k % 2 ? 16 : 0;
        in[size_t(k / 2 * 4)] |= uint32_t(to_half(k == 7 ? 1 : 0x1p-12)) << shift;
        in[size_t(128 + k / 2 * 2)] |= uint32_t(to_half(k == 7 ? 1 : other)) << shift;
    }
    DeviceArray<uint32_t> input(in), output(128);
    succeed(cuda_probe_run(output.data, input.data, CUDA_PROBE_MMA_F16, nullptr), "cuda_probe_run");
    float sum;
    const uint32_t bits = output.get()[0];
    memcpy(&sum, &bits, sizeof sum);
    return sum;
}

/* Breaks if the emulated tensor cores are better than an A100's: rounding of the exact sums would
 * give 1 + 2^-22 twice. */
DEVICE_TEST(sums_of_tensor_cores_are_cut)
{
    const float low = sum_of_eight(0x1p-13), high = sum_of_eight(0x1p-12);
    expect(low == 1, "seven times 2^-25 were not cut off: %.9g", double(low));
    expect(high == 1 + 3 * 0x1p-23f, "seven times 2^-24 gave %.9g", double(high));
}
