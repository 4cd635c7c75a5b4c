/*
 * grids.h: the codebooks of the IQ2 and IQ3 types: eight or four magnitudes an
 * entry, the first in the lowest byte. They are part of the format; blocks.h
 * says which index is where.
 */
#ifndef GRIDS_H
#define GRIDS_H

#include <stdint.h>

extern const uint64_t grid_iq2_xxs[256], grid_iq2_xs[512], grid_iq2_s[1024];
extern const uint32_t grid_iq3_xxs[256], grid_iq3_s[512];

#endif
