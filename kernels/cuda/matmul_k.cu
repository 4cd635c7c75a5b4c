/* matmul_k.cu: products with weights of the K types and the ternary types. */
#include "dequant_k.cuh"
#include "matmul_int8.cuh"

LAUNCHER_256(weights_q2_k)
LAUNCHER_256(weights_q3_k)
LAUNCHER_256(weights_q4_k)
LAUNCHER_256(weights_q5_k)
LAUNCHER_256(weights_q6_k)
LAUNCHER_256(weights_tq1_0)
LAUNCHER_256(weights_tq2_0)
