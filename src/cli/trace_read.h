/* trace_read.h: traces that run --trace wrote, read back and checked. */
#ifndef TRACE_READ_H
#define TRACE_READ_H

#include <jansson.h>
#include <stdbool.h>

/* {"header": ..., "steps": [...], "end": ... or null}, owned by the caller; NULL
 * after a message that names file and line. A last line that was cut off is left
 * out; *whole says whether the end is there. "-" is standard input. */
json_t *trace_read(const char *path, bool *whole);

#endif
