/*
 * panel_simd.h: 256-bit helpers of the panel decoders, which every level uses:
 * half-width loads run two a cycle where 512-bit masked broadcasts run one, so
 * 512-bit panels are decoded by halves too. Include only in files compiled for
 * AVX2 or more.
 */
#ifndef PANEL_SIMD_H
#define PANEL_SIMD_H

#include "compiler.h"

#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>

/* Turns 16 bytes of eight rows that are stride apart: out[k] = dword k of every
 * row, row 0 first. */
ALWAYS_INLINE void turn_rows(const uint8_t *bytes, size_t stride, __m256i out[4])
{
    __m256i v[4];
    UNROLL(4)
    for (size_t i = 0; i < 4; i++) {
        __m128i low = _mm_loadu_si128((const __m128i *)(bytes + i * stride));
        __m128i high = _mm_loadu_si128((const __m128i *)(bytes + (i + 4) * stride));
        v[i] = _mm256_inserti128_si256(_mm256_castsi128_si256(low), high, 1);
    }
    __m256i a = _mm256_unpacklo_epi32(v[0], v[1]), b = _mm256_unpackhi_epi32(v[0], v[1]);
    __m256i c = _mm256_unpacklo_epi32(v[2], v[3]), d = _mm256_unpackhi_epi32(v[2], v[3]);
    out[0] = _mm256_unpacklo_epi64(a, c);
    out[1] = _mm256_unpackhi_epi64(a, c);
    out[2] = _mm256_unpacklo_epi64(b, d);
    out[3] = _mm256_unpackhi_epi64(b, d);
}

/* The low half-floats of eight dwords as f32. */
ALWAYS_INLINE __m256 low_halves_to_float(__m256i v)
{
    v = _mm256_and_si256(v, _mm256_set1_epi32(0xffff));
    return _mm256_cvtph_ps(
        _mm_packus_epi32(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1)));
}

/*
 * A step of a panel of int8 weights: four weights of each of two sub-blocks ("a
 * pair") of 16 rows, two vectors of 64 bytes. Even dwords belong to the first,
 * odd dwords to the second sub-block, so that the activations of a step are one
 * 64-bit broadcast (activation_place). The first vector is rows 0 1 4 5 8 9 12
 * 13, the second rows 2 3 6 7 10 11 14 15: packing the int32 sums of both to
 * int16, or shuffling even and odd dwords of both together, works within
 * 128-bit lanes and gives rows in plain order.
 *
 * Stores rows 8e..8e+7, given as one dword a row.
 */
ALWAYS_INLINE void pair_store_step(uint8_t step[2][64], int e, __m256i first, __m256i second)
{
    __m256i *to = (__m256i *)step[0] + e;
    _mm256_store_si256(to, _mm256_unpacklo_epi32(first, second));
    _mm256_store_si256(to + 2, _mm256_unpackhi_epi32(first, second));
}

/* (a & mask_a) | (b & mask_b). */
ALWAYS_INLINE __m256i merge_bits(__m256i a, __m256i mask_a, __m256i b, __m256i mask_b)
{
#ifdef __AVX512VL__
    return _mm256_ternarylogic_epi32(_mm256_and_si256(a, mask_a), b, mask_b, 0xf8);
#else
    return _mm256_or_si256(_mm256_and_si256(a, mask_a), _mm256_and_si256(b, mask_b));
#endif
}

/* Eight bytes at an address that need not be aligned, as a number. */
ALWAYS_INLINE long long load_64(const void *from)
{
    long long value;
    __builtin_memcpy(&value, from, sizeof(value));
    return value;
}

/* Four bytes at an address that need not be aligned, as a number. */
ALWAYS_INLINE int load_32(const void *from)
{
    int value;
    __builtin_memcpy(&value, from, sizeof(value));
    return value;
}

/* Two bytes at an address that need not be aligned, as a number. */
ALWAYS_INLINE uint16_t load_16(const void *from)
{
    uint16_t value;
    __builtin_memcpy(&value, from, sizeof(value));
    return value;
}

#endif
