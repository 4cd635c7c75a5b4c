/*
 * ceiling.h: loops on registers alone: rates of multiply-adds that no kernel of
 * a level can pass on this machine at this minute. Speeds measured beside them,
 * as shares of them, hold also where clocks and neighbours vary.
 */
#ifndef CEILING_H
#define CEILING_H

#include "cpu_features.h"

#include <stdbool.h>

/* Runs about 100,000 instructions on this thread: int8 dot products of the level
 * (AVX2: the mix of vpmaddubsw, vpaddw, vpmaddwd and vpaddd that a Q4_K sub-block
 * takes), or f32 fma with floats set. The level must be available, and not the
 * reference. Returns the operations done, two per multiply-add. */
double ceiling_run(enum cpu_level level, bool floats);

#endif
