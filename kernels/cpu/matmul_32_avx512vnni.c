/*
 * matmul_32_avx512vnni.c: the types with blocks of 32 weights against int8
 * on AVX512-VNNI, 16 rows a vector.
 */
#include "matmul_table.h"

#define TOKENS 6
#include "tile_32_vnni.h"

#define LEVEL(type) matmul_##type##_avx512vnni
#define TILE_32     p32_tile
#include "kernels_32.h"
