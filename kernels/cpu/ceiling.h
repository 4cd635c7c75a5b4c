/*
 * ceiling.h: loops on registers alone: rates of multiply-adds that no kernel of
 * a level can pass on this machine at this minute. Speeds measured beside them,
 * as shares of them, hold also where clocks and neighbours vary.
 */
#ifndef CEILING_H
#define CEILING_H

#include "cpu_features.h"

#include <stdbool.h>

/* Runs about 100,000 instructions on this thread and returns the operations
 * done, two per multiply-add. */
typedef double ceiling_loop(void);

/* int8: dot products of the level; on AVX2 the mix of vpmaddubsw, vpaddw,
 * vpmaddwd and vpaddd that a Q4_K sub-block takes. float: f32 fma. */
ceiling_loop ceiling_int8_avx2, ceiling_float_avx2;
ceiling_loop ceiling_int8_avxvnni;
ceiling_loop ceiling_int8_avx512vnni, ceiling_float_avx512vnni;

/* The loop of a level for int8 or float weights; NULL: the reference has none.
 * Only run it where the level is available. */
ceiling_loop *ceiling_of(enum cpu_level level, bool floats);

#endif
