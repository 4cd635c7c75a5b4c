/*
 * panel_dwords.h: the vectors of the panel decoders: a dword of each of
 * DECODE_ROWS rows. With AVX-512 they hold all 16 rows of a panel, else eight, and
 * a decoder runs DECODE_PARTS times. Within every 128 bits lie four rows, so that
 * operations within 128-bit lanes mean the same at both widths.
 */
#ifndef PANEL_DWORDS_H
#define PANEL_DWORDS_H

#include "compiler.h"

#include <immintrin.h>

#ifdef __AVX512BW__

enum { DECODE_ROWS = 16, DECODE_PARTS = 1 };
typedef __m512i dwords;

#define dwords_zero()                _mm512_setzero_si512()
#define dwords_set_8(x)              _mm512_set1_epi8(x)
#define dwords_set_16(x)             _mm512_set1_epi16(x)
#define dwords_set_32(x)             _mm512_set1_epi32(x)
#define dwords_and(a, b)             _mm512_and_si512(a, b)
#define dwords_or(a, b)              _mm512_or_si512(a, b)
#define dwords_xor(a, b)             _mm512_xor_si512(a, b)
#define dwords_add_8(a, b)           _mm512_add_epi8(a, b)
#define dwords_sub_8(a, b)           _mm512_sub_epi8(a, b)
#define dwords_sub_16(a, b)          _mm512_sub_epi16(a, b)
#define dwords_multiply_16(a, b)     _mm512_mullo_epi16(a, b)
#define dwords_max_u8(a, b)          _mm512_max_epu8(a, b)
#define dwords_left_16(v, n)         _mm512_slli_epi16(v, n)
#define dwords_left_32(v, n)         _mm512_slli_epi32(v, n)
#define dwords_right_16(v, n)        _mm512_srli_epi16(v, n)
#define dwords_right_32(v, n)        _mm512_srli_epi32(v, n)
#define dwords_signed_right_16(v, n) _mm512_srai_epi16(v, n)
#define dwords_unpack_low_32(a, b)   _mm512_unpacklo_epi32(a, b)
#define dwords_unpack_high_32(a, b)  _mm512_unpackhi_epi32(a, b)
#define dwords_unpack_low_16(a, b)   _mm512_unpacklo_epi16(a, b)
#define dwords_unpack_high_16(a, b)  _mm512_unpackhi_epi16(a, b)
#define dwords_unpack_low_64(a, b)   _mm512_unpacklo_epi64(a, b)
#define dwords_unpack_high_64(a, b)  _mm512_unpackhi_epi64(a, b)
/* -1 in every byte where a and b are equal. */
#define dwords_equal_8(a, b) _mm512_movm_epi8(_mm512_cmpeq_epi8_mask(a, b))
/* Bytes of v by their number within 128 bits. */
#define dwords_shuffle_8(v, order) _mm512_shuffle_epi8(v, order)
/* The same 128 bits for every four rows. */
#define dwords_repeat(v)          _mm512_broadcast_i32x4(v)
#define dwords_store(to, part, v) _mm512_store_si512((dwords *)(to) + (part), v)
#define dwords_load(from, part)   _mm512_load_si512((const dwords *)(from) + (part))
/* Dwords 0, 2, .. (1, 3, ..) of a, each followed by the same one of b. */
#define dwords_even(a, b) _mm512_mask_shuffle_epi32(a, 0xaaaa, b, (_MM_PERM_ENUM)0xa0)
#define dwords_odd(a, b)  _mm512_mask_shuffle_epi32(b, 0x5555, a, (_MM_PERM_ENUM)0xf5)
/* Bytes base + m, or base - m where `bits` has the one bit of `bit`. */
ALWAYS_INLINE dwords dwords_signed(dwords base, dwords m, dwords bits, dwords bit)
{
    __mmask64 minus = _mm512_test_epi8_mask(bits, bit);
    return _mm512_mask_sub_epi8(_mm512_add_epi8(base, m), minus, base, m);
}
#define dwords_merge(a, mask_a, b, mask_b)                                                         \
    _mm512_ternarylogic_epi32(_mm512_and_si512(a, mask_a), b, mask_b, 0xf8)

typedef __m512 dword_floats;
#define dword_floats_set(x)       _mm512_set1_ps(x)
#define dword_floats_mul(a, b)    _mm512_mul_ps(a, b)
#define dword_floats_store(to, v) _mm512_store_ps(to, v)
#define dwords_as_floats(v)       _mm512_castsi512_ps(v)

#else

enum { DECODE_ROWS = 8, DECODE_PARTS = 2 };
typedef __m256i dwords;

#define dwords_zero()                _mm256_setzero_si256()
#define dwords_set_8(x)              _mm256_set1_epi8(x)
#define dwords_set_16(x)             _mm256_set1_epi16(x)
#define dwords_set_32(x)             _mm256_set1_epi32(x)
#define dwords_and(a, b)             _mm256_and_si256(a, b)
#define dwords_or(a, b)              _mm256_or_si256(a, b)
#define dwords_xor(a, b)             _mm256_xor_si256(a, b)
#define dwords_add_8(a, b)           _mm256_add_epi8(a, b)
#define dwords_sub_8(a, b)           _mm256_sub_epi8(a, b)
#define dwords_sub_16(a, b)          _mm256_sub_epi16(a, b)
#define dwords_multiply_16(a, b)     _mm256_mullo_epi16(a, b)
#define dwords_max_u8(a, b)          _mm256_max_epu8(a, b)
#define dwords_left_16(v, n)         _mm256_slli_epi16(v, n)
#define dwords_left_32(v, n)         _mm256_slli_epi32(v, n)
#define dwords_right_16(v, n)        _mm256_srli_epi16(v, n)
#define dwords_right_32(v, n)        _mm256_srli_epi32(v, n)
#define dwords_signed_right_16(v, n) _mm256_srai_epi16(v, n)
#define dwords_unpack_low_32(a, b)   _mm256_unpacklo_epi32(a, b)
#define dwords_unpack_high_32(a, b)  _mm256_unpackhi_epi32(a, b)
#define dwords_unpack_low_16(a, b)   _mm256_unpacklo_epi16(a, b)
#define dwords_unpack_high_16(a, b)  _mm256_unpackhi_epi16(a, b)
#define dwords_unpack_low_64(a, b)   _mm256_unpacklo_epi64(a, b)
#define dwords_unpack_high_64(a, b)  _mm256_unpackhi_epi64(a, b)
#define dwords_equal_8(a, b)         _mm256_cmpeq_epi8(a, b)
#define dwords_shuffle_8(v, order)   _mm256_shuffle_epi8(v, order)
#define dwords_repeat(v)             _mm256_broadcastsi128_si256(v)
#define dwords_store(to, part, v)    _mm256_store_si256((dwords *)(to) + (part), v)
#define dwords_load(from, part)      _mm256_load_si256((const dwords *)(from) + (part))
#define dwords_even(a, b)            _mm256_blend_epi32(a, _mm256_slli_epi64(b, 32), 0xaa)
#define dwords_odd(a, b)             _mm256_blend_epi32(_mm256_srli_epi64(a, 32), b, 0xaa)
/* Bytes base + m, or base - m where `bits` has the one bit of `bit`. */
ALWAYS_INLINE dwords dwords_signed(dwords base, dwords m, dwords bits, dwords bit)
{
    /* -m is ~m + 1, and 1 is what `minus` takes away from base. */
    __m256i minus = _mm256_cmpeq_epi8(_mm256_and_si256(bits, bit), bit);
    return _mm256_add_epi8(_mm256_xor_si256(m, minus), _mm256_sub_epi8(base, minus));
}
#define dwords_merge(a, mask_a, b, mask_b)                                                         \
    _mm256_or_si256(_mm256_and_si256(a, mask_a), _mm256_and_si256(b, mask_b))

typedef __m256 dword_floats;
#define dword_floats_set(x)       _mm256_set1_ps(x)
#define dword_floats_mul(a, b)    _mm256_mul_ps(a, b)
#define dword_floats_store(to, v) _mm256_store_ps(to, v)
#define dwords_as_floats(v)       _mm256_castsi256_ps(v)

#endif

#endif
