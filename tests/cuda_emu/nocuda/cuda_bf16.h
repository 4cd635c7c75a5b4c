/*
 * cuda_bf16.h: stands in for NVIDIA's header: conversions, to nearest even.
 */
#pragma once
#include "cuda_runtime_api.h"
#include <string.h>

struct __nv_bfloat16_raw {
    unsigned short x;
};
struct __nv_bfloat16 {
    unsigned short x;
    __nv_bfloat16() = default;
    __nv_bfloat16(__nv_bfloat16_raw raw) : x(raw.x)
    {
    }
};

static inline float __bfloat162float(__nv_bfloat16 value)
{
    const unsigned bits = unsigned(value.x) << 16;
    float result;
    memcpy(&result, &bits, 4);
    return result;
}

static inline __nv_bfloat16 __ushort_as_bfloat16(unsigned short bits)
{
    return __nv_bfloat16(__nv_bfloat16_raw{bits});
}

static inline unsigned short __bfloat16_as_ushort(__nv_bfloat16 value)
{
    return value.x;
}

static inline __nv_bfloat16 __float2bfloat16_rn(float value)
{
    unsigned bits;
    memcpy(&bits, &value, 4);
    const unsigned rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
    return __ushort_as_bfloat16((unsigned short)(value != value ? 0x7fff : rounded));
}

static inline __nv_bfloat16 __float2bfloat16(float value)
{
    return __float2bfloat16_rn(value);
}
