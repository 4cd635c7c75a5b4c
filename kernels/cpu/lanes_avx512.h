/* lanes_avx512.h: sixteen floats in one 512-bit register; see lanes_ref.h for
 * what each operation means. */
#ifndef LANES_H
#define LANES_H

#include "compiler.h"

#include <immintrin.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

enum { LANES = 16 };

struct lanes {
    __m512 v;
};

ALWAYS_INLINE struct lanes lanes_load(const float *p)
{
    return (struct lanes){_mm512_loadu_ps(p)};
}

ALWAYS_INLINE void lanes_store(float *p, struct lanes x)
{
    _mm512_storeu_ps(p, x.v);
}

ALWAYS_INLINE struct lanes lanes_set1(float x)
{
    return (struct lanes){_mm512_set1_ps(x)};
}

#define LANES_OP2(name, instruction)                                                               \
    ALWAYS_INLINE struct lanes name(struct lanes x, struct lanes y)                                \
    {                                                                                              \
        return (struct lanes){instruction(x.v, y.v)};                                              \
    }
LANES_OP2(lanes_add, _mm512_add_ps)
LANES_OP2(lanes_sub, _mm512_sub_ps)
LANES_OP2(lanes_mul, _mm512_mul_ps)
LANES_OP2(lanes_div, _mm512_div_ps)
LANES_OP2(lanes_max, _mm512_max_ps)
LANES_OP2(lanes_min, _mm512_min_ps)
#undef LANES_OP2

ALWAYS_INLINE struct lanes lanes_fma(struct lanes x, struct lanes y, struct lanes z)
{
    return (struct lanes){_mm512_fmadd_ps(x.v, y.v, z.v)};
}

ALWAYS_INLINE struct lanes lanes_fnma(struct lanes x, struct lanes y, struct lanes z)
{
    return (struct lanes){_mm512_fnmadd_ps(x.v, y.v, z.v)};
}

ALWAYS_INLINE struct lanes lanes_power_of_two(struct lanes t)
{
    __m512i exponent = _mm512_slli_epi32(_mm512_castps_si512(t.v), 23);

    return (struct lanes){
        _mm512_castsi512_ps(_mm512_add_epi32(exponent, _mm512_set1_epi32(0x3f800000)))};
}

#endif
