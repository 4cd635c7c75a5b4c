/* matmul_table.c: which matmul kernels each level adds. */
#include "matmul_table.h"
#include "prepare.h"

/* A file each. */
#define PUT_KERNELS_32(matmul, level)                                                              \
    matmul[DTYPE_Q4_0] = matmul_q4_0_##level;                                                      \
    matmul[DTYPE_Q4_1] = matmul_q4_1_##level;                                                      \
    matmul[DTYPE_Q5_0] = matmul_q5_0_##level;                                                      \
    matmul[DTYPE_Q5_1] = matmul_q5_1_##level;                                                      \
    matmul[DTYPE_Q8_0] = matmul_q8_0_##level;                                                      \
    matmul[DTYPE_IQ4_NL] = matmul_iq4_nl_##level;                                                  \
    matmul[DTYPE_MXFP4] = matmul_mxfp4_##level;
#define PUT_KERNELS_K(matmul, level)                                                               \
    matmul[DTYPE_Q2_K] = matmul_q2_k_##level;                                                      \
    matmul[DTYPE_Q3_K] = matmul_q3_k_##level;                                                      \
    matmul[DTYPE_Q4_K] = matmul_q4_k_##level;                                                      \
    matmul[DTYPE_Q5_K] = matmul_q5_k_##level;                                                      \
    matmul[DTYPE_Q6_K] = matmul_q6_k_##level;                                                      \
    matmul[DTYPE_TQ1_0] = matmul_tq1_0_##level;                                                    \
    matmul[DTYPE_TQ2_0] = matmul_tq2_0_##level;
#define PUT_KERNELS_IQ(matmul, level)                                                              \
    matmul[DTYPE_IQ4_XS] = matmul_iq4_xs_##level;                                                  \
    matmul[DTYPE_IQ3_S] = matmul_iq3_s_##level;                                                    \
    matmul[DTYPE_IQ3_XXS] = matmul_iq3_xxs_##level;                                                \
    matmul[DTYPE_IQ2_S] = matmul_iq2_s_##level;                                                    \
    matmul[DTYPE_IQ2_XS] = matmul_iq2_xs_##level;                                                  \
    matmul[DTYPE_IQ2_XXS] = matmul_iq2_xxs_##level;                                                \
    matmul[DTYPE_IQ1_S] = matmul_iq1_s_##level;                                                    \
    matmul[DTYPE_IQ1_M] = matmul_iq1_m_##level;

/* What every level has: all types with int8 inputs. */
#define PUT_KERNELS(matmul, level)                                                                 \
    PUT_KERNELS_32(matmul, level)                                                                  \
    PUT_KERNELS_K(matmul, level)                                                                   \
    PUT_KERNELS_IQ(matmul, level)

void matmul_kernels_avx2(struct cpu_kernels *kernels)
{
    kernels->prepare = prepare_avx2;
    PUT_KERNELS(kernels->matmul, avx2)
    kernels->matmul[DTYPE_F32] = matmul_f32_avx2;
    kernels->matmul[DTYPE_F16] = matmul_f16_avx2;
    kernels->matmul[DTYPE_BF16] = matmul_bf16_avx2;
}

void matmul_kernels_avxvnni(struct cpu_kernels *kernels)
{
    PUT_KERNELS(kernels->matmul, avxvnni)
}

void matmul_kernels_avx512vnni(struct cpu_kernels *kernels)
{
    PUT_KERNELS(kernels->matmul, avx512vnni)
    kernels->matmul[DTYPE_F32] = matmul_f32_avx512vnni;
    kernels->matmul[DTYPE_F16] = matmul_f16_avx512vnni;
    kernels->matmul[DTYPE_BF16] = matmul_bf16_avx512vnni;
}

void matmul_kernels_tiles8(struct cpu_kernels *kernels)
{
    PUT_KERNELS(kernels->matmul, tiles8_avx512vnni)
}
