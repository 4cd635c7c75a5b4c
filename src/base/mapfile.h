/* mapfile.h: a whole file as read-only memory, shared with other processes. */
#ifndef MAPFILE_H
#define MAPFILE_H

#include "status.h"

struct mapfile {
    const uint8_t *data; /* page aligned */
    uint64_t size;       /* at least 1 */
};

/* Maps the regular, non-empty file at path. Pages are read when they are first
 * touched. On success unmap with mapfile_close. Touching bytes that a file lost
 * since, or that its disk fails to give, raises SIGBUS. */
enum dllm_status mapfile_open(const char *path, struct mapfile *out, struct dllm_error *error);

/* The path of the file that is mapped at the address, NULL if none is; it lives as
 * long as the mapping. For handlers of a SIGBUS that touching the address raised. */
const char *mapfile_path_at(const void *address);

/* Pages of a mapping that hold bytes of the range, which may lie anywhere: those that
 * are in no mapping stay as they are. want: they will be touched soon. release: they
 * will not be for long; the memory counts no longer as this process's, while the
 * system may keep what they hold for whoever opens the file next. */
void mapfile_want(const void *data, uint64_t size);
void mapfile_release(const void *data, uint64_t size);

/* Accepts a zeroed or already closed record, and zeroes it. */
void mapfile_close(struct mapfile *file);

#endif
