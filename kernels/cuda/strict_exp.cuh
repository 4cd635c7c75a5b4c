/*
 * strict_exp.cuh: e^x to the bit as the CPU computes it: in f32 as lanes_exp of
 * kernels/cpu/lanes_math.h, in doubles as softmax_exp of src/backend/softmax.h,
 * where polynomials and error bounds are explained.
 */
#pragma once
#include "gpu.cuh"

/* Relative error below 2e-7 for -87 <= x <= 88; arguments outside are taken to
 * the nearer end, NaN goes through. */
static __device__ __forceinline__ float strict_exp(float x)
{
    const float magic = 0x1.8p23f;

    x = -87.0f > x ? -87.0f : x;
    x = 88.0f < x ? 88.0f : x;
    const float t = fmaf(x, 0x1.715476p0f, magic);
    const float n = t - magic;
    const float r = fmaf(-n, 0x1.7f7d1cp-20f, fmaf(-n, 0x1.62e4p-1f, x));
    float p = 1.0f / 5040;
    p = fmaf(p, r, 1.0f / 720);
    p = fmaf(p, r, 1.0f / 120);
    p = fmaf(p, r, 1.0f / 24);
    p = fmaf(p, r, 1.0f / 6);
    p = fmaf(p, r, 0.5f);
    p = fmaf(p, r, 1.0f);
    p = fmaf(p, r, 1.0f);
    return p * __uint_as_float((__float_as_uint(t) << 23) + 0x3f800000u);
}

/* x <= 0; 0 below -708. Relative error below 1e-15. */
static __device__ __forceinline__ double strict_exp(double x)
{
    const double shifter = 0x1.8p52, lowest = -708.0;
    const double clamped = x < lowest ? lowest : x;
    const double shifted = clamped * 0x1.71547652b82fep+0 + shifter;
    const double k = shifted - shifter;
    const double r = (clamped - k * 0x1.62e42fee00000p-1) - k * 0x1.a39ef35793c76p-33;
    const double r2 = r * r, r4 = r2 * r2;
    const double low = (1.0 + r) + r2 * (1.0 / 2 + r * (1.0 / 6));
    const double middle = (1.0 / 24 + r * (1.0 / 120)) + r2 * (1.0 / 720 + r * (1.0 / 5040));
    const double high = (1.0 / 40320 + r * (1.0 / 362880)) +
                        r2 * (1.0 / 3628800 + r * (1.0 / 39916800)) + r4 * (1.0 / 479001600);
    const double sum = low + r4 * (middle + r4 * high);
    const unsigned long long bits = (unsigned long long)__double_as_longlong(shifted);
    const double power = __longlong_as_double((long long)((bits << 52) + (1023ULL << 52)));

    return x < lowest ? 0.0 : sum * power;
}
