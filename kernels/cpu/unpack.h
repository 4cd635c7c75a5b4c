/*
 * unpack.h: weight blocks as integers and the floats that scale them: what a
 * block of each type means (blocks.h says where the bits lie). Decoding to f32
 * and the reference matmuls both start here.
 */
#ifndef UNPACK_H
#define UNPACK_H

#include "activations.h"

#include <stdint.h>

/* A block of 256 weights: w[i] = d * weight[i] - dmin * minimum[i]. weight is
 * scale * q: at most 4,064 (Q6_K: 4,096) in magnitude. minimum: 0..63, all 0
 * and dmin 0 where a type has none. Factors of 1/4 and 1/8 of the codebook types
 * are in d, which they leave exact; IQ1 weights are eighths. */
struct unpacked_256 {
    int16_t weight[SUPER_BLOCK];
    int16_t minimum[SUPER_BLOCK];
    float d, dmin;
};

/* A block of 32 weights: w[i] = d * weight[i] + m. */
struct unpacked_32 {
    int8_t weight[32];
    float d, m; /* m = -0, which changes nothing, where a type has none */
};

/* block: dtype_info(type)->block_bytes bytes, of any alignment. */
typedef void unpack_256(const void *block, struct unpacked_256 *out);
typedef void unpack_32(const void *block, struct unpacked_32 *out);

/* The unpacker of a type, NULL for types of other block lengths. */
unpack_256 *unpack_256_of(uint32_t type);
unpack_32 *unpack_32_of(uint32_t type);

unpack_256 unpack_q2_k, unpack_q3_k, unpack_q4_k, unpack_q5_k, unpack_q6_k, unpack_iq4_xs,
    unpack_iq3_s, unpack_iq3_xxs, unpack_iq2_s, unpack_iq2_xs, unpack_iq2_xxs, unpack_iq1_s,
    unpack_iq1_m, unpack_tq1_0, unpack_tq2_0;
unpack_32 unpack_q4_0, unpack_q4_1, unpack_q5_0, unpack_q5_1, unpack_q8_0, unpack_iq4_nl,
    unpack_mxfp4;

/* The 16 levels of IQ4_NL and IQ4_XS, and of MXFP4. */
extern const int8_t iq4_levels[16], mxfp4_levels[16];

/* Seven sign bits (the low ones of s) and the eighth that makes their number
 * even, as bit 7. */
static inline unsigned even_signs(unsigned s)
{
    s &= 127;
    return s | (unsigned)__builtin_parity(s) << 7;
}

#endif
