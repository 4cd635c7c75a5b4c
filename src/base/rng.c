/* rng.c: Philox4x32-10 as its paper defines it. */
#include "rng.h"

enum { ROUNDS = 10 };

static const uint32_t multipliers[2] = {0xD2511F53, 0xCD9E8D57};
static const uint32_t key_steps[2] = {0x9E3779B9, 0xBB67AE85};

static void philox_round(uint32_t x[4], const uint32_t key[2])
{
    uint64_t p0 = (uint64_t)multipliers[0] * x[0];
    uint64_t p1 = (uint64_t)multipliers[1] * x[2];

    x[0] = (uint32_t)(p1 >> 32) ^ x[1] ^ key[0];
    x[1] = (uint32_t)p1;
    x[2] = (uint32_t)(p0 >> 32) ^ x[3] ^ key[1];
    x[3] = (uint32_t)p0;
}

void rng_philox4x32(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4])
{
    uint32_t x[4] = {counter[0], counter[1], counter[2], counter[3]};
    uint32_t k[2] = {key[0], key[1]};

    for (int round = 0; round < ROUNDS; round++) {
        philox_round(x, k);
        k[0] += key_steps[0];
        k[1] += key_steps[1];
    }
    for (int i = 0; i < 4; i++)
        out[i] = x[i];
}

double rng_uniform(uint64_t seed, uint32_t step, uint32_t position, uint32_t draw)
{
    const uint32_t counter[4] = {draw, position, step, 0};
    const uint32_t key[2] = {(uint32_t)seed, (uint32_t)(seed >> 32)};
    uint32_t words[4];
    uint64_t bits;

    rng_philox4x32(counter, key, words);
    bits = (uint64_t)(words[0] >> 5) << 26 | words[1] >> 6;
    /* Adding half a unit to open the interval would round the largest value
     * up to 1, so only zero is moved. */
    return bits ? (double)bits * 0x1p-53 : 0x1p-54;
}
