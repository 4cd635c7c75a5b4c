/*
 * uniform.cuh: the counter-based random numbers of src/base/rng.c on the card,
 * equal in every bit (Philox4x32-10).
 */
#pragma once
#include "gpu.cuh"

static __device__ __forceinline__ void philox_round(uint32_t (&x)[4], uint32_t key0, uint32_t key1)
{
    const uint32_t high0 = __umulhi(0xD2511F53u, x[0]), low0 = 0xD2511F53u * x[0];
    const uint32_t high1 = __umulhi(0xCD9E8D57u, x[2]), low1 = 0xCD9E8D57u * x[2];

    x[0] = high1 ^ x[1] ^ key0;
    x[1] = low1;
    x[2] = high0 ^ x[3] ^ key1;
    x[3] = low0;
}

/* In (0, 1), as rng_uniform. */
static __device__ __forceinline__ double uniform(uint64_t seed, uint32_t step, uint32_t position,
                                                 uint32_t draw)
{
    uint32_t x[4] = {draw, position, step, 0};
    uint32_t key0 = (uint32_t)seed, key1 = (uint32_t)(seed >> 32);

    UNROLL
    for (int round = 0; round < 10; round++) {
        philox_round(x, key0, key1);
        key0 += 0x9E3779B9u;
        key1 += 0xBB67AE85u;
    }
    const uint64_t bits = (uint64_t)(x[0] >> 5) << 26 | x[1] >> 6;
    return bits ? (double)bits * 0x1p-53 : 0x1p-54;
}
