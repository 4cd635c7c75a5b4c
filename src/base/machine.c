/* machine.c: cores and memory, from Linux. */
#include "machine.h"

#include "cgroup.h"
#include "compiler.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>
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

void machine_cores(struct machine_cores *out)
{
    *out = (struct machine_cores){(int)sysconf(_SC_NPROCESSORS_ONLN), affinity_cores(),
                                  cgroup_quota_cores("")};
}

int machine_usable_cores(void)
{
    struct machine_cores found;
    int cores = CORES_LIMIT;

    machine_cores(&found);
    int limits[] = {found.online, found.affinity, found.quota};

    for (size_t i = 0; i < ARRAY_COUNT(limits); i++)
        if (limits[i] > 0)
            cores = MIN(cores, limits[i]);
    return cores == CORES_LIMIT ? 1 : cores;
}

/* The number behind a name in a file of "Name: 123 kB" lines, as bytes; 0 if it is
 * not there. */
static uint64_t read_kilobytes(const char *path, const char *name)
{
    FILE *file = fopen(path, "re");
    size_t length = strlen(name);
    unsigned long long kilobytes = 0;
    char line[256];

    while (file && fgets(line, sizeof line, file))
        if (strncmp(line, name, length) == 0 && sscanf(line + length, ": %llu kB", &kilobytes) == 1)
            break;
    if (file)
        fclose(file);
    return kilobytes * 1024;
}

void machine_memory(struct machine_memory *out)
{
    *out = (struct machine_memory){
        .total = read_kilobytes("/proc/meminfo", "MemTotal"),
        .limit = cgroup_memory_limit(""),
        .available = MIN(read_kilobytes("/proc/meminfo", "MemAvailable"), cgroup_memory_room("")),
    };
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
    uint64_t bytes = read_kilobytes("/proc/self/status", "VmHWM");
    struct rusage usage;

    /* Second best: it also counts the program that started this one. */
    if (bytes == 0 && getrusage(RUSAGE_SELF, &usage) == 0)
        bytes = (uint64_t)usage.ru_maxrss * 1024;
    return bytes;
}
