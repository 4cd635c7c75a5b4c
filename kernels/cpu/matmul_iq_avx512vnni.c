/*
 * matmul_iq_avx512vnni.c: IQ4_XS and the codebook types against int8
 * on AVX512-VNNI,
 * 16 rows a vector.
 */
#include "matmul_table.h"

#define TOKENS     6
#define LEVEL_FLIP 0x80
#include "panel_iq.h"
#include "tile_k_vnni.h"

#define LEVEL(type) matmul_##type##_avx512vnni
#define IQ_TILE     k_tile
#include "kernels_iq.h"
