/* matmul_32.cu: products with weights in blocks of 32. */
#include "dequant_32.cuh"
#include "matmul_int8.cuh"

LAUNCHER_32(weights_q4_0)
LAUNCHER_32(weights_q4_1)
LAUNCHER_32(weights_q5_0)
LAUNCHER_32(weights_q5_1)
LAUNCHER_32(weights_q8_0)
LAUNCHER_32(weights_iq4_nl)
LAUNCHER_32(weights_mxfp4)
