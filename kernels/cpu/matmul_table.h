/*
 * matmul_table.h: the matmul kernels of each level, by weight type; kernels.h
 * says what a matmul_kernel does. matmul_kernels_*() put them into the table.
 */
#ifndef MATMUL_TABLE_H
#define MATMUL_TABLE_H

#include "kernels.h"

matmul_kernel matmul_q4_k_avx2, matmul_q5_k_avx2, matmul_q6_k_avx2;
matmul_kernel matmul_q8_0_avx2;
matmul_kernel matmul_f32_avx2, matmul_f16_avx2, matmul_bf16_avx2;

/* Float weights gain nothing from VNNI. */
matmul_kernel matmul_q4_k_avxvnni, matmul_q5_k_avxvnni, matmul_q6_k_avxvnni;
matmul_kernel matmul_q8_0_avxvnni;

matmul_kernel matmul_q4_k_avx512vnni, matmul_q5_k_avx512vnni, matmul_q6_k_avx512vnni;
matmul_kernel matmul_q8_0_avx512vnni;
matmul_kernel matmul_f32_avx512vnni, matmul_f16_avx512vnni, matmul_bf16_avx512vnni;

#endif
