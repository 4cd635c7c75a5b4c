/* ceiling_avx2.c: the ceiling loops of AVX2 and fma. */
#include "ceiling.h"
#include "ceiling_asm.h"

#define FMA(i) "vfmadd231ps %%ymm14, %%ymm15, %%ymm" #i "\n"

/* Four sums in ymm0..3 of eight vpmaddubsw each; two sums lag behind their
 * products, which was the fastest of the orders tried. */
#define PRODUCT(t)  "vpmaddubsw %%ymm15, %%ymm14, %%ymm" #t "\n"
#define ADD(sum, t) "vpaddw %%ymm" #t ", %%ymm" #sum ", %%ymm" #sum "\n"
#define SCALED(sum)                                                                                \
    "vpmaddwd %%ymm15, %%ymm" #sum ", %%ymm" #sum "\n"                                             \
    "vpaddd %%ymm14, %%ymm" #sum ", %%ymm" #sum "\n"
#define STEP_A PRODUCT(8) PRODUCT(9) ADD(2, 6) ADD(3, 7) PRODUCT(4) PRODUCT(5) ADD(0, 8) ADD(1, 9)
#define STEP_B PRODUCT(6) PRODUCT(7) ADD(2, 4) ADD(3, 5) PRODUCT(8) PRODUCT(9) ADD(0, 6) ADD(1, 7)
#define STEP_C PRODUCT(4) PRODUCT(5) ADD(2, 8) ADD(3, 9) PRODUCT(6) PRODUCT(7) ADD(0, 4) ADD(1, 5)
/* clang-format does not agree with itself on a run of macro calls. */
/* clang-format off */
#define SUB_BLOCK                                                                                  \
    PRODUCT(0) PRODUCT(1) PRODUCT(2) PRODUCT(3) PRODUCT(4) PRODUCT(5) PRODUCT(6) PRODUCT(7)        \
    ADD(0, 4) ADD(1, 5)                                                                            \
    STEP_A STEP_B STEP_C STEP_A STEP_B STEP_C                                                      \
    ADD(2, 6) ADD(3, 7) SCALED(0) SCALED(1) SCALED(2) SCALED(3)
/* clang-format on */

double ceiling_float_avx2(void)
{
    CEILING_LOOP(CEILING_ZERO_256, CEILING_SUMS_14(FMA), CEILING_CLOBBERS);
    return CEILING_ROUNDS * 14.0 * 8 * 2;
}

double ceiling_int8_avx2(void)
{
    CEILING_LOOP(CEILING_ZERO_256, SUB_BLOCK, CEILING_CLOBBERS);
    return CEILING_ROUNDS * 32.0 * 32 * 2; /* 32 products of 32 bytes */
}
