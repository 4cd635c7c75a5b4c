/* unpack_256_ref.c: the K types and the ternary types as integers, and the
 * table of all types with blocks of 256 weights. */
#include "unpack.h"

#include "blocks.h"
#include "dtype.h"
#include "half.h"

#include <string.h>

/* The two bits of weight i in the order of Q2_K. */
static int two_bits(const uint8_t q[64], int i)
{
    return q[i / 128 * 32 + i % 32] >> (i / 32 % 4 * 2) & 3;
}

void unpack_q2_k(const void *bytes, struct unpacked_256 *out)
{
    struct block_q2_k block;
    memcpy(&block, bytes, sizeof(block));
    out->d = half_to_float(block.d);
    out->dmin = half_to_float(block.dmin);
    for (int i = 0; i < SUPER_BLOCK; i++) {
        uint8_t scale = block.scales[i / 16];
        out->weight[i] = (int16_t)((scale & 15) * two_bits(block.q, i));
        out->minimum[i] = (int16_t)(scale >> 4);
    }
}

/* Scale k of Q3_K, -32..31. */
static int q3_k_scale(const uint8_t s[12], int k)
{
    int low = s[k % 8] >> (k / 8 * 4) & 15, high = s[8 + k % 4] >> (k / 4 * 2) & 3;
    return (low | high << 4) - 32;
}

void unpack_q3_k(const void *bytes, struct unpacked_256 *out)
{
    struct block_q3_k block;
    memcpy(&block, bytes, sizeof(block));
    *out = (struct unpacked_256){.d = half_to_float(block.d)};
    for (int i = 0; i < SUPER_BLOCK; i++) {
        int q = two_bits(block.q, i) | (block.high[i % 32] >> i / 32 & 1) << 2;
        out->weight[i] = (int16_t)(q3_k_scale(block.scales, i / 16) * (q - 4));
    }
}

/* Scale and minimum of sub-block j of Q4_K and Q5_K, six bits each. Those of
 * sub-blocks 0 to 3 lie in the low bits of bytes 0 to 7; for 4 to 7 the low
 * four bits are in bytes 8 to 11 and the high two on top of bytes 0 to 7. */
static void unpack_scale(const uint8_t s[12], int j, int *scale, int *minimum)
{
    if (j < 4) {
        *scale = s[j] & 63;
        *minimum = s[j + 4] & 63;
    } else {
        *scale = (s[j + 4] & 15) | s[j - 4] >> 6 << 4;
        *minimum = s[j + 4] >> 4 | s[j] >> 6 << 4;
    }
}

static int nibble(const uint8_t q[128], int i)
{
    return q[i / 64 * 32 + i % 32] >> (i / 32 % 2 * 4) & 15;
}

void unpack_q4_k(const void *bytes, struct unpacked_256 *out)
{
    struct block_q4_k block;
    memcpy(&block, bytes, sizeof(block));
    out->d = half_to_float(block.d);
    out->dmin = half_to_float(block.dmin);
    for (int i = 0; i < SUPER_BLOCK; i++) {
        int scale, minimum;
        unpack_scale(block.scales, i / 32, &scale, &minimum);
        out->weight[i] = (int16_t)(scale * nibble(block.q, i));
        out->minimum[i] = (int16_t)minimum;
    }
}

void unpack_q5_k(const void *bytes, struct unpacked_256 *out)
{
    struct block_q5_k block;
    memcpy(&block, bytes, sizeof(block));
    out->d = half_to_float(block.d);
    out->dmin = half_to_float(block.dmin);
    for (int i = 0; i < SUPER_BLOCK; i++) {
        int scale, minimum;
        unpack_scale(block.scales, i / 32, &scale, &minimum);
        int q = nibble(block.q, i) | (block.high[i % 32] >> i / 32 & 1) << 4;
        out->weight[i] = (int16_t)(scale * q);
        out->minimum[i] = (int16_t)minimum;
    }
}

/* Each half of 128 weights has four runs of 32: low nibbles of its 64 bytes,
 * then high ones; run r takes bits 2r and 2r + 1 of the half's 32 high bytes. */
void unpack_q6_k(const void *bytes, struct unpacked_256 *out)
{
    struct block_q6_k block;
    memcpy(&block, bytes, sizeof(block));
    *out = (struct unpacked_256){.d = half_to_float(block.d)};
    for (int i = 0; i < SUPER_BLOCK; i++) {
        int half = i / 128, run = i / 32 % 4;
        int low = block.low[half * 64 + run % 2 * 32 + i % 32] >> (run / 2 * 4) & 15;
        int high = block.high[half * 32 + i % 32] >> (2 * run) & 3;
        out->weight[i] = (int16_t)(block.scales[i / 16] * ((low | high << 4) - 32));
    }
}

/* Digit k of a byte of TQ1_0 less one: -1, 0, 1. */
static int16_t ternary(uint8_t byte, int k)
{
    static const uint8_t power[5] = {1, 3, 9, 27, 81};
    return (int16_t)((uint8_t)(byte * power[k]) * 3 / 256 - 1);
}

void unpack_tq1_0(const void *bytes, struct unpacked_256 *out)
{
    struct block_tq1_0 block;
    memcpy(&block, bytes, sizeof(block));
    *out = (struct unpacked_256){.d = half_to_float(block.d)};
    for (int i = 0; i < 160; i++) {
        out->weight[i] = ternary(block.q[i % 32], i / 32);
    }
    for (int i = 0; i < 80; i++) {
        out->weight[160 + i] = ternary(block.q[32 + i % 16], i / 16);
    }
    for (int i = 0; i < 16; i++) {
        out->weight[240 + i] = ternary(block.high[i % 4], i / 4);
    }
}

void unpack_tq2_0(const void *bytes, struct unpacked_256 *out)
{
    struct block_tq2_0 block;
    memcpy(&block, bytes, sizeof(block));
    *out = (struct unpacked_256){.d = half_to_float(block.d)};
    for (int i = 0; i < SUPER_BLOCK; i++) {
        out->weight[i] = (int16_t)(two_bits(block.q, i) - 1);
    }
}

unpack_256 *unpack_256_of(uint32_t type)
{
    static unpack_256 *const of[DTYPE_LIMIT] = {
        [DTYPE_Q2_K] = unpack_q2_k,       [DTYPE_Q3_K] = unpack_q3_k,
        [DTYPE_Q4_K] = unpack_q4_k,       [DTYPE_Q5_K] = unpack_q5_k,
        [DTYPE_Q6_K] = unpack_q6_k,       [DTYPE_IQ4_XS] = unpack_iq4_xs,
        [DTYPE_IQ3_S] = unpack_iq3_s,     [DTYPE_IQ3_XXS] = unpack_iq3_xxs,
        [DTYPE_IQ2_S] = unpack_iq2_s,     [DTYPE_IQ2_XS] = unpack_iq2_xs,
        [DTYPE_IQ2_XXS] = unpack_iq2_xxs, [DTYPE_IQ1_S] = unpack_iq1_s,
        [DTYPE_IQ1_M] = unpack_iq1_m,     [DTYPE_TQ1_0] = unpack_tq1_0,
        [DTYPE_TQ2_0] = unpack_tq2_0,
    };
    return type < DTYPE_LIMIT ? of[type] : NULL;
}
