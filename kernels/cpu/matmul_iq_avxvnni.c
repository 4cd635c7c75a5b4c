/*
 * matmul_iq_avxvnni.c: IQ4_XS and the codebook types against int8 for processors
 * with VNNI but without AVX-512, in VEX encoding, 8 rows a vector.
 */
#include "matmul_table.h"

#define TOKENS       6
#define TOKENS_Q6    6
#define TOKENS_IQ2   6
#define TOKENS_I32   6
#define LEVEL_FLIP   0x80
#define IQ2_XXS_TYPE K_I32
#define IQ2_XXS_RUN  run_i32
#include "panel_iq_large.h"
#include "panel_iq_small.h"
#include "tile_k_vnni.h"

#define LEVEL(type) matmul_##type##_avxvnni
#define K_PANEL     struct k_panel
#define K_FINISH(p, type)
#define K_DECODER(name) k_decode_##name
#define K_TILE          k_tile
#define I32_TILE        k_tile
#include "kernels_iq.h"
