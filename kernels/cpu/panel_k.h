/*
 * panel_k.h: panels of the types with blocks of 256 weights, one layout for all
 * of them and for every level: 32 steps of pairs (panel_simd.h). A pair is
 * sub-blocks 2i and 2i + 1 of 32 weights (4 pairs of 8 steps) or groups g and
 * g + 2 of 16 weights (8 pairs of 4 steps). panel_k_large.h, panel_k_small.h,
 * panel_iq_large.h and panel_iq_small.h have the decoders.
 */
#ifndef PANEL_K_H
#define PANEL_K_H

#include "blocks.h"
#include "panel.h"
#include "panel_simd.h"

/* What a tile must know of a panel. Weights:
 *   K_Q2   groups of 16 with minimums, 0..3: sums always fit int16
 *   K_Q4   sub-blocks of 32 with minimums, 0..15
 *   K_Q5   the same, 0..31
 *   K_Q6   groups of 16, -32..31, counted from 0: sums start at -32 times their
 *          inputs
 *   K_Q3   the same, -15..15: sums always fit int16, 16 * 15 * 127 = 30,480
 *   K_IQ2  groups of 16, -43..43, counted from -43: sums start at -32 times their
 *          inputs, `minimum` = -11 * scale takes the rest back
 *   K_I32  sub-blocks of 32, -127..127 (VNNI: counted from -128, which `minimum`
 *          takes back): sums do not fit int16 */
enum k_type { K_Q2, K_Q4, K_Q5, K_Q6, K_Q3, K_IQ2, K_I32 };

struct k_panel {
    _Alignas(64) uint8_t weight[32][2][64];         /* [step][row half] */
    _Alignas(64) int16_t scale[8][PANEL_ROWS][2];   /* [pair][row] */
    _Alignas(64) int16_t minimum[8][PANEL_ROWS][2]; /* [pair][row]; not K_Q6 and K_Q3 */
    _Alignas(64) float d[PANEL_ROWS], dmin[PANEL_ROWS];
};

ALWAYS_INLINE int k_pairs(enum k_type type)
{
    return type == K_Q4 || type == K_Q5 || type == K_I32 ? 4 : 8;
}

ALWAYS_INLINE int k_steps(enum k_type type)
{
    return 32 / k_pairs(type);
}

/* Whether v = d * total - dmin * minimums. */
ALWAYS_INLINE bool k_has_minimums(enum k_type type)
{
    return type == K_Q2 || type == K_Q4 || type == K_Q5;
}

/* Whether sums start at -32 times their inputs. */
ALWAYS_INLINE bool k_starts_below(enum k_type type)
{
    return type == K_Q6 || type == K_Q3 || type == K_IQ2;
}

/* Whether minimums are part of the total. */
ALWAYS_INLINE bool k_totals_minimums(enum k_type type)
{
    return type == K_IQ2 || type == K_I32;
}

/* Sums of the inputs that minimums multiply, in the order of pairs. */
ALWAYS_INLINE const int16_t *k_sums(const struct activations_q8_256 *in, size_t at,
                                    enum k_type type)
{
    return k_pairs(type) == 8 ? in->sums16 + at * 16 : in->sums32 + at * 8;
}

/* The bit of tokens whose sums may leave int16; of K_Q2 and K_Q3 none do, of K_I32 all. */
ALWAYS_INLINE unsigned k_wide_bit(enum k_type type)
{
    return type == K_Q4    ? WIDE_Q4_K
           : type == K_Q5  ? WIDE_Q5_K
           : type == K_Q6  ? WIDE_Q6_K
           : type == K_IQ2 ? WIDE_IQ2
                           : 0;
}

/* Whether one of n tokens has the bit. */
ALWAYS_INLINE bool k_any_wide(const uint8_t *wide, const int n, unsigned bit)
{
    unsigned bits = 0;
    UNROLL(8)
    for (int t = 0; t < n; t++) {
        bits |= wide[t];
    }
    return bits & bit;
}

#endif
