/* matmul_iq.cu: products with weights of IQ4_XS and the codebook types. */
#include "dequant_iq.cuh"
#include "matmul_int8.cuh"

LAUNCHER_256(weights_iq4_xs)
LAUNCHER_256(weights_iq3_s)
LAUNCHER_256(weights_iq3_xxs)
LAUNCHER_256(weights_iq2_s)
LAUNCHER_256(weights_iq2_xs)
LAUNCHER_256(weights_iq2_xxs)
LAUNCHER_256(weights_iq1_s)
LAUNCHER_256(weights_iq1_m)
