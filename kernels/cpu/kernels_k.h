/*
 * kernels_k.h: the kernels of the types with blocks of 256 weights whose sums
 * are packed, once per level: included by matmul_k_*.c after these are defined.
 *
 *   LEVEL(name)             the kernel of type `name` at this level
 *   K_PANEL                 struct of a panel; K_FINISH(panel, type) ends its decoding
 *   K_DECODER(name)         what fills it from blocks of type `name`
 *   K_TILE(panel, in, at, sums, n, type)
 *                           PANEL_TILE of panel_loop.h
 *   TOKENS                  most tokens of a tile
 *   TOKENS_Q2, TOKENS_Q6    the same, at most TOKENS, of panels of K_Q2, of K_Q6 or K_Q3
 */
#define PANEL_NAME                     run_q2
#define PANEL_TYPE                     K_PANEL
#define PANEL_FINISH(p)                K_FINISH(p, K_Q2)
#define PANEL_TILE(p, in, at, sums, n) K_TILE(p, in, at, sums, n, K_Q2)
#define PANEL_TOKENS                   TOKENS_Q2
#include "panel_loop.h"

#define PANEL_NAME                     run_q4
#define PANEL_TYPE                     K_PANEL
#define PANEL_FINISH(p)                K_FINISH(p, K_Q4)
#define PANEL_TILE(p, in, at, sums, n) K_TILE(p, in, at, sums, n, K_Q4)
#define PANEL_TOKENS                   TOKENS
#include "panel_loop.h"

#define PANEL_NAME                     run_q5
#define PANEL_TYPE                     K_PANEL
#define PANEL_FINISH(p)                K_FINISH(p, K_Q5)
#define PANEL_TILE(p, in, at, sums, n) K_TILE(p, in, at, sums, n, K_Q5)
#define PANEL_TOKENS                   TOKENS
#include "panel_loop.h"

#include "kernels_q6.h"

#define KERNEL_K(type, run)                                                                        \
    PANEL_KERNEL(LEVEL(type), run, sizeof(struct block_##type), K_DECODER(type))

KERNEL_K(q2_k, run_q2)
KERNEL_K(q3_k, run_q3)
KERNEL_K(q4_k, run_q4)
KERNEL_K(q5_k, run_q5)
KERNEL_K(q6_k, run_q6)
KERNEL_K(tq1_0, run_q3)
KERNEL_K(tq2_0, run_q3)
