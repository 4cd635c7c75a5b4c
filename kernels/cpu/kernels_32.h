/*
 * kernels_32.h: the kernels of the types with blocks of 32 weights, once per
 * level: included by matmul_32_*.c after these are defined.
 *
 *   LEVEL(name)   the kernel of type `name` at this level
 *   TILE_32(panel, in, at, sums, n, has_m)
 *                 PANEL_TILE of panel_loop.h
 *   TOKENS        most tokens of a tile
 */
#define PANEL_NAME run_32
#define PANEL_TYPE struct panel_32
#define PANEL_FINISH(panel)
#define PANEL_TILE(p, in, at, sums, n) TILE_32(p, in, at, sums, n, false)
#define PANEL_TOKENS                   TOKENS
#include "panel_loop.h"

#define PANEL_NAME run_32_m
#define PANEL_TYPE struct panel_32
#define PANEL_FINISH(panel)
#define PANEL_TILE(p, in, at, sums, n) TILE_32(p, in, at, sums, n, true)
#define PANEL_TOKENS                   TOKENS
#include "panel_loop.h"

#define KERNEL_32(type, run)                                                                       \
    PANEL_KERNEL(LEVEL(type), run, 8 * sizeof(struct block_##type), p32_decode_##type)

KERNEL_32(q4_0, run_32)
KERNEL_32(q4_1, run_32_m)
KERNEL_32(q5_0, run_32)
KERNEL_32(q5_1, run_32_m)
KERNEL_32(q8_0, run_32)
KERNEL_32(iq4_nl, run_32)
KERNEL_32(mxfp4, run_32)
