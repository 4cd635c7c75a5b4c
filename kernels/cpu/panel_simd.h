/*
 * panel_simd.h: helpers of the panel decoders, on the vectors of
 * panel_dwords.h. Include only in files compiled for AVX2 or more.
 */
#ifndef PANEL_SIMD_H
#define PANEL_SIMD_H

#include "compiler.h"
#include "panel_dwords.h"

#include <stddef.h>
#include <stdint.h>

/* 16 bytes of rows i, i + 4, ... that are stride apart, a row in each 128 bits. */
ALWAYS_INLINE dwords load_every_fourth(const uint8_t *row, size_t stride)
{
#define ROW(n) _mm_loadu_si128((const __m128i *)(row + (n)*stride))
    __m256i v = _mm256_inserti128_si256(_mm256_castsi128_si256(ROW(0)), ROW(4), 1);
#ifdef __AVX512BW__
    __m256i w = _mm256_inserti128_si256(_mm256_castsi128_si256(ROW(8)), ROW(12), 1);
    return _mm512_inserti64x4(_mm512_castsi256_si512(v), w, 1);
#else
    return v;
#endif
#undef ROW
}

/* Turns 16 bytes of DECODE_ROWS rows that are stride apart: out[k] = dword k of
 * every row, row 0 first. */
ALWAYS_INLINE void turn_rows(const uint8_t *bytes, size_t stride, dwords out[4])
{
    dwords v[4];
    UNROLL(4)
    for (size_t i = 0; i < 4; i++) {
        v[i] = load_every_fourth(bytes + i * stride, stride);
    }
    dwords a = dwords_unpack_low_32(v[0], v[1]), b = dwords_unpack_high_32(v[0], v[1]);
    dwords c = dwords_unpack_low_32(v[2], v[3]), d = dwords_unpack_high_32(v[2], v[3]);
    out[0] = dwords_unpack_low_64(a, c);
    out[1] = dwords_unpack_high_64(a, c);
    out[2] = dwords_unpack_low_64(b, d);
    out[3] = dwords_unpack_high_64(b, d);
}

/* The low half-floats of dwords as f32. */
ALWAYS_INLINE dword_floats low_halves_to_float(dwords v)
{
#ifdef __AVX512BW__
    return _mm512_cvtph_ps(_mm512_cvtepi32_epi16(v));
#else
    v = dwords_and(v, dwords_set_32(0xffff));
    return _mm256_cvtph_ps(
        _mm_packus_epi32(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1)));
#endif
}

/* Stores them to [DECODE_ROWS] floats. */
ALWAYS_INLINE void store_low_halves(float *to, dwords v)
{
    dword_floats_store(to, low_halves_to_float(v));
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
 * Stores part e of the rows, given as one dword a row.
 */
ALWAYS_INLINE void pair_store_step(uint8_t step[2][64], int e, dwords first, dwords second)
{
    dwords_store(step[0], e, dwords_unpack_low_32(first, second));
    dwords_store(step[1], e, dwords_unpack_high_32(first, second));
}

/* (a & mask_a) | (b & mask_b). */
ALWAYS_INLINE dwords merge_bits(dwords a, dwords mask_a, dwords b, dwords mask_b)
{
    return dwords_merge(a, mask_a, b, mask_b);
}

/* Keeps an integer sum in the order written: gcc would turn additions into a tree and
 * spill the products. */
#define KEEP(v) __asm__("" : "+x"(v))

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
