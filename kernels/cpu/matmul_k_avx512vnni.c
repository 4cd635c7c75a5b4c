/*
 * matmul_k_avx512vnni.c: Q4_K, Q5_K and Q6_K against int8
 * on AVX512-VNNI, 16 rows a vector.
 */
#include "matmul_table.h"

#define TOKENS 6
#include "tile_k_vnni.h"

#define PANEL_NAME                     matmul_q4_k_avx512vnni
#define PANEL_TYPE                     struct k_panel
#define PANEL_BLOCK_BYTES              sizeof(struct block_q4_k)
#define PANEL_DECODE                   k_decode_q4
#define PANEL_TILE(p, in, at, sums, n) k_tile(p, in, at, sums, n, K_Q4)
#define PANEL_TOKENS                   TOKENS
#include "panel_loop.h"

#define PANEL_NAME                     matmul_q5_k_avx512vnni
#define PANEL_TYPE                     struct k_panel
#define PANEL_BLOCK_BYTES              sizeof(struct block_q5_k)
#define PANEL_DECODE                   k_decode_q5
#define PANEL_TILE(p, in, at, sums, n) k_tile(p, in, at, sums, n, K_Q5)
#define PANEL_TOKENS                   TOKENS
#include "panel_loop.h"

#define PANEL_NAME                     matmul_q6_k_avx512vnni
#define PANEL_TYPE                     struct k_panel
#define PANEL_BLOCK_BYTES              sizeof(struct block_q6_k)
#define PANEL_DECODE                   k_decode_q6
#define PANEL_TILE(p, in, at, sums, n) k_tile(p, in, at, sums, n, K_Q6)
#define PANEL_TOKENS                   TOKENS
#include "panel_loop.h"
