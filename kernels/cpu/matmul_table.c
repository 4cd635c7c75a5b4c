/* matmul_table.c: which matmul kernels each level adds. */
#include "matmul_table.h"
#include "prepare.h"

void matmul_kernels_avx2(struct cpu_kernels *kernels)
{
    kernels->prepare = prepare_avx2;
    kernels->matmul[DTYPE_Q4_K] = matmul_q4_k_avx2;
    kernels->matmul[DTYPE_Q5_K] = matmul_q5_k_avx2;
    kernels->matmul[DTYPE_Q6_K] = matmul_q6_k_avx2;
    kernels->matmul[DTYPE_Q8_0] = matmul_q8_0_avx2;
    kernels->matmul[DTYPE_F32] = matmul_f32_avx2;
    kernels->matmul[DTYPE_F16] = matmul_f16_avx2;
    kernels->matmul[DTYPE_BF16] = matmul_bf16_avx2;
}

void matmul_kernels_avxvnni(struct cpu_kernels *kernels)
{
    kernels->matmul[DTYPE_Q4_K] = matmul_q4_k_avxvnni;
    kernels->matmul[DTYPE_Q5_K] = matmul_q5_k_avxvnni;
    kernels->matmul[DTYPE_Q6_K] = matmul_q6_k_avxvnni;
    kernels->matmul[DTYPE_Q8_0] = matmul_q8_0_avxvnni;
}

void matmul_kernels_avx512vnni(struct cpu_kernels *kernels)
{
    kernels->matmul[DTYPE_Q4_K] = matmul_q4_k_avx512vnni;
    kernels->matmul[DTYPE_Q5_K] = matmul_q5_k_avx512vnni;
    kernels->matmul[DTYPE_Q6_K] = matmul_q6_k_avx512vnni;
    kernels->matmul[DTYPE_Q8_0] = matmul_q8_0_avx512vnni;
    kernels->matmul[DTYPE_F32] = matmul_f32_avx512vnni;
    kernels->matmul[DTYPE_F16] = matmul_f16_avx512vnni;
    kernels->matmul[DTYPE_BF16] = matmul_bf16_avx512vnni;
}
