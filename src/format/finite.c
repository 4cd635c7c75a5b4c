/*
 * finite.c: weights that are no numbers. In a block only the scales can be such;
 * they and the float types are looked at by their bits.
 */
#include "dtype.h"

#include <string.h>

/* The exponents that stand for infinities and NaN. */
enum { HALF_EXPONENT = 0x7c00, BFLOAT_EXPONENT = 0x7f80, FLOAT_EXPONENT = 0x7f800000 };

static bool half_bits_are_finite(uint16_t bits)
{
    return (bits & HALF_EXPONENT) != HALF_EXPONENT;
}

static bool half_is_finite(const uint8_t *bytes)
{
    uint16_t bits;

    memcpy(&bits, bytes, sizeof bits);
    return half_bits_are_finite(bits);
}

static bool weight_is_finite(uint32_t type, const uint8_t *bytes)
{
    uint32_t bits = 0;

    if (type == DTYPE_F16)
        return half_is_finite(bytes);
    memcpy(&bits, bytes, type == DTYPE_F32 ? 4 : 2);
    return type == DTYPE_F32 ? (bits & FLOAT_EXPONENT) != FLOAT_EXPONENT
                             : (bits & BFLOAT_EXPONENT) != BFLOAT_EXPONENT;
}

static bool block_is_finite(const struct dtype_info *info, const uint8_t *block)
{
    switch (info->scales) {
    case SCALES_HALVES:
        return half_is_finite(block + info->first_scale) &&
               half_is_finite(block + info->second_scale);
    case SCALES_NIBBLES:
        return half_bits_are_finite(dtype_half_of_nibbles(block + info->first_scale));
    default:
        return true;
    }
}

int64_t dtype_find_not_finite(uint32_t type, const void *data, uint64_t size)
{
    const struct dtype_info *info = dtype_info(type);
    const uint8_t *bytes = data;

    for (uint64_t at = 0; at < size; at += info->block_bytes)
        if (info->block_weights == 1 ? !weight_is_finite(type, bytes + at)
                                     : !block_is_finite(info, bytes + at))
            return (int64_t)at;
    return -1;
}
