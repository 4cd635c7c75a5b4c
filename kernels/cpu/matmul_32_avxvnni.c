/*
 * matmul_32_avxvnni.c: the types with blocks of 32 weights against int8
 * for processors with VNNI but without
 * AVX-512, in VEX encoding, 8 rows a vector.
 */
#include "matmul_table.h"

#define TOKENS 6
#include "tile_32_vnni.h"

#define LEVEL(type) matmul_##type##_avxvnni
#define TILE_32     p32_tile
#include "kernels_32.h"
