/*
 * ceiling_asm.h: what the ceiling loops share. They are assembly so that
 * nothing is loaded, stored or left out. Every register holds zeros: the values
 * do not matter to integer units, and zeros keep floats normal. Enough sums are
 * independent to hide the latency.
 */
#ifndef CEILING_ASM_H
#define CEILING_ASM_H

enum { CEILING_ROUNDS = 6250 };

#define CEILING_SUMS_14(op)                                                                        \
    op(0) op(1) op(2) op(3) op(4) op(5) op(6) op(7) op(8) op(9) op(10) op(11) op(12) op(13)
#define CEILING_SUMS_16(op) CEILING_SUMS_14(op) op(14) op(15)

#define CEILING_CLOBBERS                                                                           \
    "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10",       \
        "xmm11", "xmm12", "xmm13", "xmm14", "xmm15"

/* Runs body CEILING_ROUNDS times after zero; more registers may follow. */
#define CEILING_LOOP(zero, body, ...)                                                              \
    do {                                                                                           \
        long rounds = CEILING_ROUNDS;                                                              \
        __asm__ volatile(zero "1:\n" body "dec %0\njnz 1b\nvzeroupper\n"                           \
                         : "+r"(rounds)                                                            \
                         :                                                                         \
                         : __VA_ARGS__);                                                           \
    } while (0)

/* With 16 registers there are 14 sums and two factors. */
#define CEILING_ZERO_256 "vpxor %%ymm14, %%ymm14, %%ymm14\nvpxor %%ymm15, %%ymm15, %%ymm15\n"

#endif
