/* rows_avx2.c: rows_body.h over lanes_avx2.h. */
#include "lanes_avx2.h"

#define ROWS_LEVEL avx2
#include "rows_body.h"
