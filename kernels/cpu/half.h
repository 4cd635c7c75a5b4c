/*
 * half.h: IEEE half and bfloat16 to f32 and back in plain C, exact for all
 * 65536 patterns without any instruction set beyond C's. To f32 every value is
 * representable; from f32 rounding is to nearest, ties to even.
 */
#ifndef HALF_H
#define HALF_H

#include "compiler.h"

#include <stdint.h>
#include <string.h>

ALWAYS_INLINE uint32_t float_bits(float value)
{
    uint32_t bits;

    memcpy(&bits, &value, sizeof bits);
    return bits;
}

ALWAYS_INLINE float float_from_bits(uint32_t bits)
{
    float value;

    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Half bits to f32. NaNs keep their payload and become quiet, as F16C does. */
ALWAYS_INLINE float half_to_float(uint16_t half)
{
    uint32_t sign = (uint32_t)(half & 0x8000) << 16;
    uint32_t magnitude = half & 0x7fff;

    if (magnitude >= 0x7c00) /* infinity and NaN */
        return float_from_bits(sign | 0x7f800000 | (magnitude & 0x3ff) << 13 |
                               (uint32_t)(magnitude > 0x7c00) << 22);
    if (magnitude >= 0x0400) /* normal: the exponent's bias grows by 127 - 15 */
        return float_from_bits(sign | ((magnitude << 13) + (112u << 23)));
    /* Subnormal: a multiple of 2^-24, exact in f32. */
    return float_from_bits(sign | float_bits((float)magnitude * 0x1p-24f));
}

/* f32 to half bits. Too large becomes infinity; NaNs become quiet. */
ALWAYS_INLINE uint16_t half_from_float(float value)
{
    uint32_t bits = float_bits(value);
    uint16_t sign = (uint16_t)(bits >> 16 & 0x8000);
    uint32_t magnitude = bits & 0x7fffffff;

    if (magnitude > 0x7f800000)
        return sign | 0x7e00 | (magnitude >> 13 & 0x3ff);
    if (magnitude >= 0x477ff000) /* 65520 and more round up to infinity */
        return sign | 0x7c00;
    /* Below 2^-14 adding 0.5 lines the subnormal's last bit up with f32's, so
     * that the addition rounds it. */
    if (magnitude < 0x38800000)
        return sign | (uint16_t)(float_bits(float_from_bits(magnitude) + 0.5f) - 0x3f000000);
    magnitude += 0xfff + (magnitude >> 13 & 1);
    return sign | (uint16_t)((magnitude - (112u << 23)) >> 13);
}

/* bfloat16 bits, the upper half of an f32, to f32. */
ALWAYS_INLINE float bfloat_to_float(uint16_t bits)
{
    return float_from_bits((uint32_t)bits << 16);
}

/* f32 to bfloat16 bits. NaNs become quiet. */
ALWAYS_INLINE uint16_t bfloat_from_float(float value)
{
    uint32_t bits = float_bits(value);

    if ((bits & 0x7fffffff) > 0x7f800000)
        return (uint16_t)(bits >> 16 | 0x40);
    return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

#endif
