/* mapfile.h: a whole file as read-only memory, shared with other processes. */
#ifndef MAPFILE_H
#define MAPFILE_H

#include "status.h"

struct mapfile {
    const uint8_t *data; /* page aligned */
    uint64_t size;       /* at least 1 */
};

/* Maps the regular, non-empty file at path. Pages are read when they are first
 * touched. On success unmap with mapfile_close. The file must not shrink while
 * it is mapped: touching what is gone kills the process. */
enum dllm_status mapfile_open(const char *path, struct mapfile *out, struct dllm_error *error);

/* Accepts a zeroed or already closed record, and zeroes it. */
void mapfile_close(struct mapfile *file);

#endif
