/*
 * blocks.h: the weight blocks of GGUF files, as they lie in the file (little
 * endian, packed). Shared by C and CUDA. Half floats are raw bits.
 */
#ifndef BLOCKS_H
#define BLOCKS_H

#include <stdint.h>

/*
 * Blocks of 32 weights. Nibbles: low ones of q are weights 0..15, high ones
 * 16..31. Bit i of the 32 bits of `high` (little endian) is weight i's fifth.
 */

/* w = d * (q - 8). */
struct block_q4_0 {
    uint16_t d;
    uint8_t q[16];
};

/* w = d * q + m. */
struct block_q4_1 {
    uint16_t d, m;
    uint8_t q[16];
};

/* w = d * (q - 16). */
struct block_q5_0 {
    uint16_t d;
    uint8_t high[4];
    uint8_t q[16];
};

/* w = d * q + m. */
struct block_q5_1 {
    uint16_t d, m;
    uint8_t high[4];
    uint8_t q[16];
};

/* w = d * q. */
struct block_q8_0 {
    uint16_t d;
    int8_t q[32];
};

/* w = d * (one of 16 levels); the levels are in unpack.h. */
struct block_iq4_nl {
    uint16_t d;
    uint8_t q[16];
};

/* w = d * (one of 16 levels), d = 2^(exponent - 128); the levels are in unpack.h. The
 * OCP format MXFP4 with the levels doubled. */
struct block_mxfp4 {
    uint8_t exponent;
    uint8_t q[16];
};

/*
 * Blocks of 256 weights.
 */

/* 16 groups of 16: w = d * scale * q - dmin * minimum, scale and minimum the low
 * and the high nibble of scales[g]. Two-bit q: weight 128n + 32j + l is bits 2j
 * and 2j + 1 of q[32n + l]. */
struct block_q2_k {
    uint8_t scales[16];
    uint8_t q[64];
    uint16_t d, dmin;
};

/* 16 groups of 16: w = d * (scale - 32) * (q - 4), q in the order of Q2_K with
 * bit 4n + j of high[l] as third bit. Low nibbles of scales 0..7 and 8..15 are
 * the low and high ones of scales[0..7]; scale k's upper two bits are bits
 * 2(k / 4) and 2(k / 4) + 1 of scales[8 + k % 4]. */
struct block_q3_k {
    uint8_t high[32];
    uint8_t q[64];
    uint8_t scales[12];
    uint16_t d;
};

/* 8 sub-blocks of 32: w = d * scale * q - dmin * minimum with 6-bit scales and
 * minimums packed into 12 bytes. Nibbles of bytes 32p..32p+31: low ones are
 * sub-block 2p, high ones sub-block 2p + 1. */
struct block_q4_k {
    uint16_t d, dmin;
    uint8_t scales[12];
    uint8_t q[128];
};

/* As Q4_K, with a fifth bit: bit j of high[l] belongs to weight l of
 * sub-block j. */
struct block_q5_k {
    uint16_t d, dmin;
    uint8_t scales[12];
    uint8_t high[32];
    uint8_t q[128];
};

/* 16 groups of 16: w = d * scales[g] * (q - 32); low nibbles and pairs of high
 * bits apart. */
struct block_q6_k {
    uint8_t low[128];
    uint8_t high[64];
    int8_t scales[16];
    uint16_t d;
};

/* 8 sub-blocks of 32 in the nibble order of the blocks of 32: w = d * (scale -
 * 32) * (one of IQ4_NL's levels). Scale j: nibble j of scales_low, bits 2j and
 * 2j + 1 of scales_high above it. */
struct block_iq4_xs {
    uint16_t d, scales_high;
    uint8_t scales_low[4];
    uint8_t q[128];
};

/*
 * Codebook types: a grid (grids.h) maps an index to four or eight magnitudes,
 * in order; a sign bit of 1 means negative. Seven sign bits stand for eight: the
 * eighth makes the number of ones even. "Odd" below is 2s + 1 of a 4-bit s.
 */

/* Sub-blocks of 32: w = d * odd * sign * grid. Four weights a grid entry of
 * nine bits: q[8j + i] and bit i of high[j]. s: nibble j of scales. */
struct block_iq3_s {
    uint16_t d;
    uint8_t q[64];
    uint8_t high[8];
    uint8_t signs[32];
    uint8_t scales[4];
};

/* Sub-blocks of 32: w = d / 4 * odd * sign * grid. Four weights a grid entry.
 * tail[j], a u32: four times seven sign bits, from the lowest up, then s. */
struct block_iq3_xxs {
    uint16_t d;
    uint8_t q[64];
    uint8_t tail[8][4];
};

/* Groups of 16: w = d / 8 * odd * sign * grid. Eight weights a grid entry of ten
 * bits: q[4j + i] and bits 2i and 2i + 1 of high[j]. s: nibble g of scales. */
struct block_iq2_s {
    uint16_t d;
    uint8_t q[32];
    uint8_t signs[32];
    uint8_t high[8];
    uint8_t scales[8];
};

/* As IQ2_S with nine bits of index and seven of signs above them in a u16. */
struct block_iq2_xs {
    uint16_t d;
    uint16_t q[32];
    uint8_t scales[8];
};

/* Sub-blocks of 32: w = d / 8 * odd * sign * grid: four indices, then the tail
 * of IQ3_XXS. */
struct block_iq2_xxs {
    uint16_t d;
    struct {
        uint8_t q[4], tail[4];
    } part[8];
};

/*
 * Types with a codebook of digits 0, 1, 2, eight an entry of eleven bits: a weight is
 * digit - 1, moved up or down by an eighth. "Odd" is 2s + 1 of a 3-bit s.
 */

/* Sub-blocks of 32: w = d * odd * (digit - 1 + eighth). Of the index of entry i the
 * upper bits are bits 3i.. of high[j], the lower ones q[4j + i]; s: bits 12..14 of
 * high[j]; its bit 15: down. */
struct block_iq1_s {
    uint16_t d;
    uint8_t q[32];
    uint16_t high[8];
};

/* Groups of 16: the same; entry i of sub-block j has nibble i % 2 of high[2j + i / 2]:
 * three upper bits of its index, and the highest: down. s of group g: bits 3(g % 4).. of
 * u16 g / 4 of scales, whose upper nibbles are d, a half float, its lowest nibble first. */
struct block_iq1_m {
    uint8_t q[32];
    uint8_t high[16];
    uint8_t scales[8];
};

/*
 * Ternary types: w = d * (digit - 1).
 */

/* Digit k of a byte b is (b * 3^k mod 256) * 3 / 256. Weights 0..159 are digits
 * 0..4 of q[0..31] (all digits 0 first), 160..239 those of q[32..47], 240..255
 * digits 0..3 of high. */
struct block_tq1_0 {
    uint8_t q[48];
    uint8_t high[4];
    uint16_t d;
};

/* Two bits a digit, in the order of Q2_K. */
struct block_tq2_0 {
    uint8_t q[64];
    uint16_t d;
};

#define BLOCK_SIZE_IS(type, bytes) _Static_assert(sizeof(struct type) == bytes, #type)
#ifndef __cplusplus
BLOCK_SIZE_IS(block_q4_0, 18);
BLOCK_SIZE_IS(block_q4_1, 20);
BLOCK_SIZE_IS(block_q5_0, 22);
BLOCK_SIZE_IS(block_q5_1, 24);
BLOCK_SIZE_IS(block_q8_0, 34);
BLOCK_SIZE_IS(block_iq4_nl, 18);
BLOCK_SIZE_IS(block_mxfp4, 17);
BLOCK_SIZE_IS(block_q2_k, 84);
BLOCK_SIZE_IS(block_q3_k, 110);
BLOCK_SIZE_IS(block_q4_k, 144);
BLOCK_SIZE_IS(block_q5_k, 176);
BLOCK_SIZE_IS(block_q6_k, 210);
BLOCK_SIZE_IS(block_iq4_xs, 136);
BLOCK_SIZE_IS(block_iq3_s, 110);
BLOCK_SIZE_IS(block_iq3_xxs, 98);
BLOCK_SIZE_IS(block_iq2_s, 82);
BLOCK_SIZE_IS(block_iq2_xs, 74);
BLOCK_SIZE_IS(block_iq2_xxs, 66);
BLOCK_SIZE_IS(block_iq1_s, 50);
BLOCK_SIZE_IS(block_iq1_m, 56);
BLOCK_SIZE_IS(block_tq1_0, 54);
BLOCK_SIZE_IS(block_tq2_0, 66);
#endif

#endif
