/* matmul_iq.cu: products with weights of IQ4_XS and the codebook types. */
#include "dequant_iq.cuh"
#include "matmul_int8.cuh"

INT8_LAUNCHER(product_256, weights_iq4_xs)
INT8_LAUNCHER(product_256, weights_iq3_s)
INT8_LAUNCHER(product_256, weights_iq3_xxs)
INT8_LAUNCHER(product_256, weights_iq2_s)
INT8_LAUNCHER(product_256, weights_iq2_xs)
INT8_LAUNCHER(product_256, weights_iq2_xxs)
