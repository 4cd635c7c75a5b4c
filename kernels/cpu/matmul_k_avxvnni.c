/*
 * matmul_k_avxvnni.c: the types with blocks of 256 weights but IQ ones against
 * int8 for processors with VNNI but
 * without AVX-512, in VEX encoding, 8 rows a vector.
 */
#include "matmul_table.h"

#define TOKENS    6
#define TOKENS_Q2 TOKENS
#define TOKENS_Q6 TOKENS
#include "panel_k_large.h"
#include "panel_k_small.h"
#include "tile_k_vnni.h"

#define LEVEL(type) matmul_##type##_avxvnni
#define K_PANEL     struct k_panel
#define K_FINISH(p, type)
#define K_DECODER(name) k_decode_##name
#define K_TILE          k_tile
#include "kernels_k.h"
