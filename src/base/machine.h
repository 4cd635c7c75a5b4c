/* machine.h: what this process may use of the machine. */
#ifndef MACHINE_H
#define MACHINE_H

#include <stdint.h>

/* Cores this process may run on: the smallest of online cores, the affinity
 * mask and the cgroup CPU quota (v1 and v2), at least 1. */
int machine_usable_cores(void);

/* What the smallest is of: 0 where it cannot be known, or is not set. */
struct machine_cores {
    int online, affinity, quota;
};
void machine_cores(struct machine_cores *out);

/* Bytes. total is of the machine, limit that of the control group (0: none),
 * available what can still be used under both, contents of files that can be
 * given back among it. */
struct machine_memory {
    uint64_t total, limit, available;
};
void machine_memory(struct machine_memory *out);

/* Bytes of the largest cache, 0 if unknown. */
uint64_t machine_cache_bytes(void);

/* Peak resident memory of this process, bytes; 0 if unknown. */
uint64_t machine_peak_rss_bytes(void);

#endif
