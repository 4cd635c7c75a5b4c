/* cgroup.h: what control groups (version 1 and 2) allow this process. */
#ifndef CGROUP_H
#define CGROUP_H

#include <stdint.h>

/* Cores that the quota of this process's group and of every group above it
 * allows, rounded up; 0 where there is no quota. root is put before /proc/...
 * and the paths found there: "" for the machine, a folder for tests. */
int cgroup_quota_cores(const char *root);

/* Bytes of memory that they allow; 0 where there is no limit. */
uint64_t cgroup_memory_limit(const char *root);

/* Bytes that are left of that, contents of files that can be given back among
 * them; UINT64_MAX where there is no limit. */
uint64_t cgroup_memory_room(const char *root);

#endif
