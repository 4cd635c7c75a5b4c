/*
 * matmul_k_tiles8_avx512vnni.c: matmul_k_avx512vnni.c again with tiles of eight
 * tokens and the width in parts, with which processors that multiply 512 bits in one
 * pass are faster (docs/kernels.md).
 */
#include "matmul_table.h"

#define CUTS_WIDTH 1
#define TOKENS     8
#define TOKENS_Q2  6
#define TOKENS_Q6  8
#include "panel_k_large.h"
#include "panel_k_small.h"
#include "tile_k_vnni.h"

#define LEVEL(type) matmul_##type##_tiles8_avx512vnni
#define K_PANEL     struct k_panel
#define K_FINISH(p, type)
#define K_DECODER(name) k_decode_##name
#define K_TILE          k_tile
#include "kernels_k.h"
