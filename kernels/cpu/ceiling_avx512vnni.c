/* ceiling_avx512vnni.c: the ceiling loops of AVX-512 with VNNI. */
#include "ceiling.h"
#include "ceiling_asm.h"

/* 16 sums; the factors are zmm30 and zmm31. */
#define DOT(i) "vpdpbusd %%zmm30, %%zmm31, %%zmm" #i "\n"
#define FMA(i) "vfmadd231ps %%zmm30, %%zmm31, %%zmm" #i "\n"
#define ZERO   "vpxord %%zmm30, %%zmm30, %%zmm30\nvpxord %%zmm31, %%zmm31, %%zmm31\n"

double ceiling_int8_avx512vnni(void)
{
    CEILING_LOOP(ZERO, CEILING_SUMS_16(DOT), CEILING_CLOBBERS, "xmm30", "xmm31");
    return CEILING_ROUNDS * 16.0 * 64 * 2;
}

double ceiling_float_avx512vnni(void)
{
    CEILING_LOOP(ZERO, CEILING_SUMS_16(FMA), CEILING_CLOBBERS, "xmm30", "xmm31");
    return CEILING_ROUNDS * 16.0 * 16 * 2;
}
