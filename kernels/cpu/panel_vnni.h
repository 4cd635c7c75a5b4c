/*
 * panel_vnni.h: the vectors of the VNNI tiles: a body written with them runs on
 * zmm (AVX512-VNNI, all 16 rows of a panel at once) and on ymm (AVX-VNNI in VEX
 * encoding, 8 rows, PANEL_PARTS times). Pointers are to 16-row records of a
 * panel; part picks the rows 8 * part.. on ymm and is 0 on zmm.
 */
#ifndef PANEL_VNNI_H
#define PANEL_VNNI_H

#include "panel.h"
#include "panel_simd.h"

#ifdef __AVX512VNNI__

enum { PANEL_PARTS = 1, PART_ROWS = 16 };
typedef __m512i ints;
typedef __m512 floats;

#define ints_zero()              _mm512_setzero_si512()
#define ints_load(from, part)    _mm512_load_si512((const ints *)(from) + (part))
#define ints_broadcast_32(x)     _mm512_set1_epi32(x)
#define ints_broadcast_64(x)     _mm512_set1_epi64(x)
#define ints_dot_8(sum, w, x)    _mm512_dpbusd_epi32(sum, w, x)
#define ints_dot_16(sum, w, x)   _mm512_dpwssd_epi32(sum, w, x)
#define ints_pack(a, b)          _mm512_packs_epi32(a, b)
#define ints_to_floats(v)        _mm512_cvtepi32_ps(v)
#define ints_and(a, b)           _mm512_and_si512(a, b)
#define ints_shift_right(v, n)   _mm512_srai_epi32(v, n)
#define ints_shift_left_16(v, n) _mm512_slli_epi16(v, n)
/* Even (0x88) or odd (0xdd) dwords of a and b. */
#define ints_dwords(a, b, which)                                                                   \
    _mm512_castps_si512(_mm512_shuffle_ps(_mm512_castsi512_ps(a), _mm512_castsi512_ps(b), which))
#define floats_load(from)       _mm512_load_ps(from)
#define floats_store(to, v)     _mm512_store_ps(to, v)
#define floats_broadcast(x)     _mm512_set1_ps(x)
#define floats_mul(a, b)        _mm512_mul_ps(a, b)
#define floats_fma(a, b, c)     _mm512_fmadd_ps(a, b, c)
#define floats_neg_fma(a, b, c) _mm512_fnmadd_ps(a, b, c)

#else

enum { PANEL_PARTS = 2, PART_ROWS = 8 };
typedef __m256i ints;
typedef __m256 floats;

#define ints_zero()              _mm256_setzero_si256()
#define ints_load(from, part)    _mm256_load_si256((const ints *)(from) + (part))
#define ints_broadcast_32(x)     _mm256_set1_epi32(x)
#define ints_broadcast_64(x)     _mm256_set1_epi64x(x)
#define ints_dot_8(sum, w, x)    _mm256_dpbusd_avx_epi32(sum, w, x)
#define ints_dot_16(sum, w, x)   _mm256_dpwssd_avx_epi32(sum, w, x)
#define ints_pack(a, b)          _mm256_packs_epi32(a, b)
#define ints_to_floats(v)        _mm256_cvtepi32_ps(v)
#define ints_and(a, b)           _mm256_and_si256(a, b)
#define ints_shift_right(v, n)   _mm256_srai_epi32(v, n)
#define ints_shift_left_16(v, n) _mm256_slli_epi16(v, n)
#define ints_dwords(a, b, which)                                                                   \
    _mm256_castps_si256(_mm256_shuffle_ps(_mm256_castsi256_ps(a), _mm256_castsi256_ps(b), which))
#define floats_load(from)       _mm256_load_ps(from)
#define floats_store(to, v)     _mm256_store_ps(to, v)
#define floats_broadcast(x)     _mm256_set1_ps(x)
#define floats_mul(a, b)        _mm256_mul_ps(a, b)
#define floats_fma(a, b, c)     _mm256_fmadd_ps(a, b, c)
#define floats_neg_fma(a, b, c) _mm256_fnmadd_ps(a, b, c)

#endif

#endif
