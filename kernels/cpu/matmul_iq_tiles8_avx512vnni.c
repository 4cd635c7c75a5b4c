/*
 * matmul_iq_tiles8_avx512vnni.c: matmul_iq_avx512vnni.c again with tiles of eight
 * tokens and the width in parts (docs/kernels.md).
 */
#include "matmul_table.h"

#define CUTS_WIDTH   1
#define TOKENS       8
#define TOKENS_Q6    8
#define TOKENS_IQ2   6
#define TOKENS_I32   6
#define LEVEL_FLIP   0x80
#define IQ2_XXS_TYPE K_I32
#define IQ2_XXS_RUN  run_i32
#include "panel_iq_large.h"
#include "panel_iq_small.h"
#include "tile_k_vnni.h"

#define LEVEL(type) matmul_##type##_tiles8_avx512vnni
#define K_PANEL     struct k_panel
#define K_FINISH(p, type)
#define K_DECODER(name) k_decode_##name
#define K_TILE          k_tile
#define I32_TILE        k_tile
#include "kernels_iq.h"
