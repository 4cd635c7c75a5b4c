/*
 * rng.h: counter-based random numbers (Philox4x32-10; Salmon, Moraes, Dror and
 * Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011).
 *
 * A number is a pure function of (seed, step, position, draw): threads, batch
 * order, caches and skipped steps cannot change it.
 */
#ifndef RNG_H
#define RNG_H

#include <stdint.h>

/* One Philox4x32-10 block: counter and key to four words. */
void rng_philox4x32(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4]);

/* A double in the open interval (0, 1) with 53 random bits. draw numbers the
 * independent values of one step and position (a vocabulary id, say). */
double rng_uniform(uint64_t seed, uint32_t step, uint32_t position, uint32_t draw);

#endif
