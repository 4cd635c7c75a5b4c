/*
 * cuda_fp16.h: stands in for NVIDIA's header: conversions, to nearest even.
 */
#pragma once
#include "cuda_runtime_api.h"

struct __half_raw {
    unsigned short x;
};

static inline float emu_half_to_float(unsigned half)
{
    const unsigned exponent = half >> 10 & 31, mantissa = half & 1023;
    float value;
    if (exponent == 31)
        value = mantissa ? NAN : INFINITY;
    else if (exponent == 0)
        value = ldexpf(float(mantissa), -24);
    else
        value = ldexpf(float(mantissa | 1024), int(exponent) - 25);
    return half & 0x8000 ? -value : value;
}

static inline unsigned short emu_float_to_half(float value)
{
    const unsigned sign = signbit(value) ? 0x8000 : 0;
    const float a = fabsf(value);
    if (a != a)
        return 0x7fff;
    if (a >= 65520.0f)
        return (unsigned short)(sign | 0x7c00);
    if (a < 0x1p-14f) /* subnormal: steps of 2^-24 */
        return (unsigned short)(sign | unsigned(nearbyintf(a * 0x1p24f)));
    int exponent;
    const float fraction = frexpf(a, &exponent); /* from 0.5 to 1 */
    const unsigned rounded = unsigned(nearbyintf(fraction * 2048.0f));
    return (unsigned short)(sign | ((unsigned(exponent + 13) << 10) + rounded));
}

struct __half {
    unsigned short x;
    __half() = default;
    __half(__half_raw raw) : x(raw.x)
    {
    }
    __half(float value) : x(emu_float_to_half(value))
    {
    }
    operator float() const
    {
        return emu_half_to_float(x);
    }
};
typedef __half half;

struct __align__(4) __half2
{
    __half x, y;
};
typedef __half2 half2;

static inline float __half2float(__half value)
{
    return emu_half_to_float(value.x);
}

static inline __half __float2half_rn(float value)
{
    return __half(value);
}

static inline __half __float2half(float value)
{
    return __half(value);
}

static inline __half __ushort_as_half(unsigned short bits)
{
    return __half(__half_raw{bits});
}

static inline unsigned short __half_as_ushort(__half value)
{
    return value.x;
}

static inline __half2 __floats2half2_rn(float low, float high)
{
    return __half2{__half(low), __half(high)};
}

static inline __half2 __halves2half2(__half low, __half high)
{
    return __half2{low, high};
}

static inline float2 __half22float2(__half2 pair)
{
    return make_float2(emu_half_to_float(pair.x.x), emu_half_to_float(pair.y.x));
}

static inline float __low2float(__half2 pair)
{
    return emu_half_to_float(pair.x.x);
}

static inline float __high2float(__half2 pair)
{
    return emu_half_to_float(pair.y.x);
}
