/*
 * ceiling.c: see the header. The loops are assembly so that nothing is loaded,
 * stored or left out. Every register holds zeros: the values do not matter to
 * integer units, and zeros keep floats normal.
 */
#include "ceiling.h"

enum { ROUNDS = 6250 };

#define CLOBBERS                                                                                   \
    "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10",       \
        "xmm11", "xmm12", "xmm13", "xmm14", "xmm15"

#define FIRST_14(op)                                                                               \
    op(0) op(1) op(2) op(3) op(4) op(5) op(6) op(7) op(8) op(9) op(10) op(11) op(12) op(13)
#define ALL_16(op) FIRST_14(op) op(14) op(15)

/* 16 independent sums hide the latency; the factors are zmm30 and zmm31. */
#define DOT_512(i) "vpdpbusd %%zmm30, %%zmm31, %%zmm" #i "\n"
#define FMA_512(i) "vfmadd231ps %%zmm30, %%zmm31, %%zmm" #i "\n"
/* Without AVX-512 there are 14 sums and two factors. */
#define DOT_256(i) "%{vex%} vpdpbusd %%ymm14, %%ymm15, %%ymm" #i "\n"
#define FMA_256(i) "vfmadd231ps %%ymm14, %%ymm15, %%ymm" #i "\n"

#define LOOP(zero, body)                                                                           \
    __asm__ volatile(zero "1:\n" body "dec %0\njnz 1b\nvzeroupper\n" : "+r"(rounds)::CLOBBERS)
#define ZERO_512 "vpxord %%zmm30, %%zmm30, %%zmm30\nvpxord %%zmm31, %%zmm31, %%zmm31\n"
#define ZERO_256 "vpxor %%ymm14, %%ymm14, %%ymm14\nvpxor %%ymm15, %%ymm15, %%ymm15\n"

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
#define SUB_BLOCK                                                                                  \
    PRODUCT(0)                                                                                     \
    PRODUCT(1) PRODUCT(2) PRODUCT(3) PRODUCT(4) PRODUCT(5) PRODUCT(6) PRODUCT(7) ADD(0, 4)         \
        ADD(1, 5) STEP_A STEP_B STEP_C STEP_A STEP_B STEP_C ADD(2, 6) ADD(3, 7) SCALED(0)          \
            SCALED(1) SCALED(2) SCALED(3)

double ceiling_run(enum cpu_level level, bool floats)
{
    long rounds = ROUNDS;
    if (level == CPU_AVX512VNNI && floats) {
        LOOP(ZERO_512, ALL_16(FMA_512));
        return ROUNDS * 16.0 * 16 * 2;
    }
    if (level == CPU_AVX512VNNI) {
        LOOP(ZERO_512, ALL_16(DOT_512));
        return ROUNDS * 16.0 * 64 * 2;
    }
    if (floats) {
        LOOP(ZERO_256, FIRST_14(FMA_256));
        return ROUNDS * 14.0 * 8 * 2;
    }
    if (level == CPU_AVXVNNI) {
        LOOP(ZERO_256, FIRST_14(DOT_256));
        return ROUNDS * 14.0 * 32 * 2;
    }
    LOOP(ZERO_256, SUB_BLOCK); /* 32 products of 32 bytes */
    return ROUNDS * 32.0 * 32 * 2;
}
