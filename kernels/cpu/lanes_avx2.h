/* lanes_avx2.h: sixteen floats in two 256-bit registers; see lanes_ref.h for
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
    __m256 a, b;
};

ALWAYS_INLINE struct lanes lanes_load(const float *p)
{
    return (struct lanes){_mm256_loadu_ps(p), _mm256_loadu_ps(p + 8)};
}

ALWAYS_INLINE void lanes_store(float *p, struct lanes x)
{
    _mm256_storeu_ps(p, x.a);
    _mm256_storeu_ps(p + 8, x.b);
}

ALWAYS_INLINE struct lanes lanes_set1(float x)
{
    __m256 v = _mm256_set1_ps(x);

    return (struct lanes){v, v};
}

#define LANES_OP2(name, instruction)                                                               \
    ALWAYS_INLINE struct lanes name(struct lanes x, struct lanes y)                                \
    {                                                                                              \
        return (struct lanes){instruction(x.a, y.a), instruction(x.b, y.b)};                       \
    }
LANES_OP2(lanes_add, _mm256_add_ps)
LANES_OP2(lanes_sub, _mm256_sub_ps)
LANES_OP2(lanes_mul, _mm256_mul_ps)
LANES_OP2(lanes_div, _mm256_div_ps)
LANES_OP2(lanes_max, _mm256_max_ps)
LANES_OP2(lanes_min, _mm256_min_ps)
#undef LANES_OP2

ALWAYS_INLINE struct lanes lanes_fma(struct lanes x, struct lanes y, struct lanes z)
{
    return (struct lanes){_mm256_fmadd_ps(x.a, y.a, z.a), _mm256_fmadd_ps(x.b, y.b, z.b)};
}

ALWAYS_INLINE struct lanes lanes_fnma(struct lanes x, struct lanes y, struct lanes z)
{
    return (struct lanes){_mm256_fnmadd_ps(x.a, y.a, z.a), _mm256_fnmadd_ps(x.b, y.b, z.b)};
}

ALWAYS_INLINE __m256 power_of_two_256(__m256 t)
{
    __m256i exponent = _mm256_slli_epi32(_mm256_castps_si256(t), 23);

    return _mm256_castsi256_ps(_mm256_add_epi32(exponent, _mm256_set1_epi32(0x3f800000)));
}

ALWAYS_INLINE struct lanes lanes_power_of_two(struct lanes t)
{
    return (struct lanes){power_of_two_256(t.a), power_of_two_256(t.b)};
}

#endif
