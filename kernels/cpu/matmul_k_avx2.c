/*
 * matmul_k_avx2.c: the types with blocks of 256 weights but IQ ones against int8
 * without VNNI.
 */
#include "matmul_table.h"
#include "panel_k_large.h"
#include "panel_k_small.h"

#define TOKENS    5
#define TOKENS_Q2 TOKENS
#define TOKENS_Q6 TOKENS
#include "tile_k_avx2.h"

BASE_DECODER(q2_k)
BASE_DECODER(q3_k)
BASE_DECODER(q4_k)
BASE_DECODER(q5_k)
BASE_DECODER(q6_k)
BASE_DECODER(tq1_0)
BASE_DECODER(tq2_0)

#define LEVEL(type)       matmul_##type##_avx2
#define K_PANEL           struct k_panel_avx2
#define K_FINISH(p, type) spread_scales(p, type)
#define K_DECODER(name)   decode_##name
#define K_TILE            k_tile
#include "kernels_k.h"
