/*
 * kernels_iq.h: the kernels of IQ4_XS and the codebook types, once per level:
 * included by matmul_iq_*.c after these are defined, as for kernels_k.h.
 *
 *   LEVEL(name)             the kernel of type `name` at this level
 *   K_PANEL                 struct of a panel; K_FINISH(panel, type) ends its decoding
 *   K_DECODER(name)         what fills it from blocks of type `name`
 *   K_TILE(panel, in, at, sums, n, type)
 *                           PANEL_TILE of panel_loop.h
 *   I32_TILE                the same for IQ4_XS, whose panel is a struct k_panel
 *   TOKENS_Q6, TOKENS_IQ2, TOKENS_I32
 *                           most tokens of a tile of panels of K_Q6 or K_Q3, of K_IQ2, of K_I32
 *   IQ2_XXS_RUN             run_i32 or run_iq2, as IQ2_XXS_TYPE of panel_iq_large.h says
 */
#include "kernels_q6.h"

#define PANEL_NAME                     run_iq2
#define PANEL_TYPE                     K_PANEL
#define PANEL_FINISH(p)                K_FINISH(p, K_IQ2)
#define PANEL_TILE(p, in, at, sums, n) K_TILE(p, in, at, sums, n, K_IQ2)
#define PANEL_TOKENS                   TOKENS_IQ2
#include "panel_loop.h"

#define PANEL_NAME run_i32
#define PANEL_TYPE struct k_panel
#define PANEL_FINISH(p)
#define PANEL_TILE(p, in, at, sums, n) I32_TILE(p, in, at, sums, n, K_I32)
#define PANEL_TOKENS                   TOKENS_I32
#include "panel_loop.h"

#define KERNEL_IQ(type, run, decoder)                                                              \
    PANEL_KERNEL(LEVEL(type), run, sizeof(struct block_##type), decoder)

KERNEL_IQ(iq4_xs, run_i32, k_decode_iq4_xs)
KERNEL_IQ(iq3_s, run_q3, K_DECODER(iq3_s))
KERNEL_IQ(iq3_xxs, run_q6, K_DECODER(iq3_xxs))
KERNEL_IQ(iq2_s, run_iq2, K_DECODER(iq2_s))
KERNEL_IQ(iq2_xs, run_iq2, K_DECODER(iq2_xs))
KERNEL_IQ(iq2_xxs, IQ2_XXS_RUN, K_DECODER(iq2_xxs))
KERNEL_IQ(iq1_s, run_q3, K_DECODER(iq1_s))
KERNEL_IQ(iq1_m, run_q3, K_DECODER(iq1_m))
