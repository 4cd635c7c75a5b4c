/* ceiling.c: which loop bounds the kernels of which level. */
#include "ceiling.h"

#include <stddef.h>

ceiling_loop *ceiling_of(enum cpu_level level, bool floats)
{
    switch (level) {
    case CPU_AVX2:
        return floats ? ceiling_float_avx2 : ceiling_int8_avx2;
    case CPU_AVXVNNI: /* its float kernels are those of AVX2 */
        return floats ? ceiling_float_avx2 : ceiling_int8_avxvnni;
    case CPU_AVX512VNNI:
        return floats ? ceiling_float_avx512vnni : ceiling_int8_avx512vnni;
    default:
        return NULL;
    }
}
