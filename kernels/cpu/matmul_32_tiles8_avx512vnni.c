/*
 * matmul_32_tiles8_avx512vnni.c: matmul_32_avx512vnni.c again with tiles of eight
 * tokens and the width in parts.
 */
#include "matmul_table.h"

#define CUTS_WIDTH 1
#define TOKENS     8
#include "tile_32_vnni.h"

#define LEVEL(type) matmul_##type##_tiles8_avx512vnni
#define TILE_32     p32_tile
#include "kernels_32.h"
