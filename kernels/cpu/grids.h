/*
 * grids.h: the codebooks of the IQ types: of IQ2 and IQ3 eight or four magnitudes an
 * entry, of IQ1 eight digits 0..2, the first in the lowest byte. They are part of the
 * format; blocks.h says which index is where.
 */
#ifndef GRIDS_H
#define GRIDS_H

#include <stdint.h>

extern const uint64_t grid_iq2_xxs[256], grid_iq2_xs[512], grid_iq2_s[1024];
extern const uint64_t grid_iq1[2048];
extern const uint32_t grid_iq3_xxs[256], grid_iq3_s[512];

#endif
