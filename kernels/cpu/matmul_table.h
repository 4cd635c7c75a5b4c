/*
 * matmul_table.h: the matmul kernels of each level, by weight type; kernels.h
 * says what a matmul_kernel does. matmul_kernels_*() put them into the table.
 */
#ifndef MATMUL_TABLE_H
#define MATMUL_TABLE_H

#include "kernels.h"

/* A line per file. */
#define MATMUL_KERNELS_32(level)                                                                   \
    matmul_kernel matmul_q4_0_##level, matmul_q4_1_##level, matmul_q5_0_##level,                   \
        matmul_q5_1_##level, matmul_q8_0_##level, matmul_iq4_nl_##level, matmul_mxfp4_##level
#define MATMUL_KERNELS_K(level)                                                                    \
    matmul_kernel matmul_q2_k_##level, matmul_q3_k_##level, matmul_q4_k_##level,                   \
        matmul_q5_k_##level, matmul_q6_k_##level, matmul_tq1_0_##level, matmul_tq2_0_##level
#define MATMUL_KERNELS_IQ(level)                                                                   \
    matmul_kernel matmul_iq4_xs_##level, matmul_iq3_s_##level, matmul_iq3_xxs_##level,             \
        matmul_iq2_s_##level, matmul_iq2_xs_##level, matmul_iq2_xxs_##level, matmul_iq1_s_##level, \
        matmul_iq1_m_##level

/* What every level has. */
#define MATMUL_KERNELS(level)                                                                      \
    MATMUL_KERNELS_32(level);                                                                      \
    MATMUL_KERNELS_K(level);                                                                       \
    MATMUL_KERNELS_IQ(level)

MATMUL_KERNELS(avx2);
MATMUL_KERNELS(avxvnni);
MATMUL_KERNELS(avx512vnni);
MATMUL_KERNELS(tiles8_avx512vnni);

/* Float weights gain nothing from VNNI. */
matmul_kernel matmul_f32_avx2, matmul_f16_avx2, matmul_bf16_avx2;
matmul_kernel matmul_f32_avx512vnni, matmul_f16_avx512vnni, matmul_bf16_avx512vnni;

#endif
