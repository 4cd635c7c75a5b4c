/* rows_ref.c: rows_body.h over lanes_ref.h. */
#include "lanes_ref.h"

#define ROWS_LEVEL ref
#include "rows_body.h"
