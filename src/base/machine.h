/* machine.h: what this process may use of the machine. */
#ifndef MACHINE_H
#define MACHINE_H

#include <stdint.h>

/* Cores this process may run on: the smallest of online cores, the affinity
 * mask and the cgroup CPU quota (v1 and v2), at least 1. */
int machine_usable_cores(void);

/* Bytes of the largest cache, 0 if unknown. */
uint64_t machine_cache_bytes(void);

/* Peak resident memory of this process, bytes; 0 if unknown. */
uint64_t machine_peak_rss_bytes(void);

#endif
