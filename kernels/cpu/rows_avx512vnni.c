/* rows_avx512vnni.c: rows_body.h over lanes_avx512.h. */
#include "lanes_avx512.h"

#define ROWS_LEVEL avx512vnni
#include "rows_body.h"
