/*
 * matmul_q8_0_avx512vnni.c: Q8_0 against int8
 * on AVX512-VNNI, 16 rows a vector.
 */
#include "matmul_table.h"

#define TOKENS 6
#include "tile_q8_0_vnni.h"

#define PANEL_NAME                     matmul_q8_0_avx512vnni
#define PANEL_TYPE                     struct q8_0_panel
#define PANEL_BLOCK_BYTES              (8 * sizeof(struct block_q8_0))
#define PANEL_DECODE(bytes, stride, p) q8_0_decode(bytes, stride, p, 0x80)
#define PANEL_TILE                     q8_0_tile
#define PANEL_TOKENS                   TOKENS
#include "panel_loop.h"
