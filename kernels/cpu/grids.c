/* grids.c: see grids.h. */
#include "grids.h"

#define GRID
#include "grid_digits.h"
#include "grid_tables.h"
