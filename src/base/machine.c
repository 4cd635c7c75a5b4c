/* machine.c: cores and memory, from Linux. */
#include "machine.h"

#include "cgroup.h"
#include "compiler.h"

#include <sched.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

/* More cores than any machine has: the kernel refuses sets that are smaller
 * than its own. */
enum { CORES_LIMIT = 1 << 14 };

static int affinity_cores(void)
{
    cpu_set_t *set = CPU_ALLOC(CORES_LIMIT);
    size_t bytes = CPU_ALLOC_SIZE(CORES_LIMIT);
    int cores = 0;

    if (set && sched_getaffinity(0, bytes, set) == 0)
        cores = CPU_COUNT_S(bytes, set);
    CPU_FREE(set);
    return cores;
}

int machine_usable_cores(void)
{
    const int limits[] = {(int)sysconf(_SC_NPROCESSORS_ONLN), affinity_cores(),
                          cgroup_quota_cores("")};
    int cores = CORES_LIMIT;

    for (size_t i = 0; i < ARRAY_COUNT(limits); i++)
        if (limits[i] > 0)
            cores = MIN(cores, limits[i]);
    return cores == CORES_LIMIT ? 1 : cores;
}

uint64_t machine_cache_bytes(void)
{
    static const int levels[] = {_SC_LEVEL4_CACHE_SIZE, _SC_LEVEL3_CACHE_SIZE,
                                 _SC_LEVEL2_CACHE_SIZE};
    long bytes = 0;

    for (size_t i = 0; i < ARRAY_COUNT(levels); i++)
        bytes = MAX(bytes, sysconf(levels[i]));
    return (uint64_t)bytes;
}

uint64_t machine_peak_rss_bytes(void)
{
    FILE *file = fopen("/proc/self/status", "re");
    char line[256];
    unsigned long long kilobytes = 0;
    struct rusage usage;

    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, "VmHWM: %llu kB", &kilobytes) == 1)
            break;
    if (file)
        fclose(file);
    /* Second best: it also counts the program that started this one. */
    if (kilobytes == 0 && getrusage(RUSAGE_SELF, &usage) == 0)
        kilobytes = (unsigned long long)usage.ru_maxrss;
    return kilobytes * 1024;
}
