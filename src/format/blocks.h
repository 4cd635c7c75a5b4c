/*
 * blocks.h: the weight blocks of GGUF files, as they lie in the file (little
 * endian, packed). Shared by C and CUDA. Half floats are raw bits.
 */
#ifndef BLOCKS_H
#define BLOCKS_H

#include <stdint.h>

/* 32 weights: w = d * q. */
struct block_q8_0 {
    uint16_t d;
    int8_t q[32];
};

/* 256 weights in 8 sub-blocks of 32: w = d * scale * q - dmin * minimum with
 * 6-bit scales and minimums packed into 12 bytes. Nibbles of bytes 32p..32p+31:
 * low ones are sub-block 2p, high ones sub-block 2p + 1. */
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

/* 256 weights in 16 groups of 16: w = d * scales[g] * (q - 32); low nibbles
 * and pairs of high bits apart. */
struct block_q6_k {
    uint8_t low[128];
    uint8_t high[64];
    int8_t scales[16];
    uint16_t d;
};

#define BLOCK_SIZE_IS(type, bytes) _Static_assert(sizeof(struct type) == bytes, #type)
#ifndef __cplusplus
BLOCK_SIZE_IS(block_q8_0, 34);
BLOCK_SIZE_IS(block_q4_k, 144);
BLOCK_SIZE_IS(block_q5_k, 176);
BLOCK_SIZE_IS(block_q6_k, 210);
#endif

#endif
