/* ceiling_avxvnni.c: the ceiling loop of AVX-VNNI. */
#include "ceiling.h"
#include "ceiling_asm.h"

#define DOT(i) "%{vex%} vpdpbusd %%ymm14, %%ymm15, %%ymm" #i "\n"

double ceiling_int8_avxvnni(void)
{
    CEILING_LOOP(CEILING_ZERO_256, CEILING_SUMS_14(DOT), CEILING_CLOBBERS);
    return CEILING_ROUNDS * 14.0 * 32 * 2;
}
