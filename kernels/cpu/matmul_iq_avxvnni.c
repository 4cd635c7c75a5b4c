/*
 * matmul_iq_avxvnni.c: IQ4_XS and the codebook types against int8
 * for processors with VNNI but
 * without AVX-512, in VEX encoding, 8 rows a vector.
 */
#include "matmul_table.h"

#define TOKENS     6
#define LEVEL_FLIP 0x80
#include "panel_iq.h"
#include "tile_k_vnni.h"

#define LEVEL(type) matmul_##type##_avxvnni
#define IQ_TILE     k_tile
#include "kernels_iq.h"
