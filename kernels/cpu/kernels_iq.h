/*
 * kernels_iq.h: the kernels of IQ4_XS and the codebook types, once per level:
 * included by matmul_iq_*.c after these are defined.
 *
 *   LEVEL(name)   the kernel of type `name` at this level
 *   IQ_TILE(panel, in, at, sums, n, type)
 *                 PANEL_TILE of panel_loop.h
 *   TOKENS        most tokens of a tile
 */
#define PANEL_NAME run_i32
#define PANEL_TYPE struct k_panel
#define PANEL_FINISH(p)
#define PANEL_TILE(p, in, at, sums, n) IQ_TILE(p, in, at, sums, n, K_I32)
#define PANEL_TOKENS                   TOKENS
#include "panel_loop.h"

#define PANEL_NAME run_i16
#define PANEL_TYPE struct k_panel
#define PANEL_FINISH(p)
#define PANEL_TILE(p, in, at, sums, n) IQ_TILE(p, in, at, sums, n, K_I16)
#define PANEL_TOKENS                   TOKENS
#include "panel_loop.h"

#define KERNEL_IQ(type, run)                                                                       \
    PANEL_KERNEL(LEVEL(type), run, sizeof(struct block_##type), k_decode_##type)

KERNEL_IQ(iq4_xs, run_i32)
KERNEL_IQ(iq3_s, run_i32)
KERNEL_IQ(iq3_xxs, run_i32)
KERNEL_IQ(iq2_s, run_i16)
KERNEL_IQ(iq2_xs, run_i16)
KERNEL_IQ(iq2_xxs, run_i32)
KERNEL_IQ(iq1_s, run_i32)
KERNEL_IQ(iq1_m, run_i16)
