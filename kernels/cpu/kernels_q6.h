/*
 * kernels_q6.h: the loops over panels of K_Q6 and K_Q3, which kernels_k.h and
 * kernels_iq.h share: included by them, with what they say defined.
 */
#define PANEL_NAME                     run_q6
#define PANEL_TYPE                     K_PANEL
#define PANEL_FINISH(p)                K_FINISH(p, K_Q6)
#define PANEL_TILE(p, in, at, sums, n) K_TILE(p, in, at, sums, n, K_Q6)
#define PANEL_TOKENS                   TOKENS_Q6
#include "panel_loop.h"

#define PANEL_NAME                     run_q3
#define PANEL_TYPE                     K_PANEL
#define PANEL_FINISH(p)                K_FINISH(p, K_Q3)
#define PANEL_TILE(p, in, at, sums, n) K_TILE(p, in, at, sums, n, K_Q3)
#define PANEL_TOKENS                   TOKENS_Q6
#include "panel_loop.h"
