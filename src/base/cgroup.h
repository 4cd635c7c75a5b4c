/* cgroup.h: the CPU quota that control groups (version 1 and 2) set. */
#ifndef CGROUP_H
#define CGROUP_H

/* Cores that the quota of this process's group and of every group above it
 * allows, rounded up; 0 where there is no quota. root is put before /proc/...
 * and the paths found there: "" for the machine, a folder for tests. */
int cgroup_quota_cores(const char *root);

#endif
