/*
 * cgroup.c: finds the files with the limits of this process.
 *
 * /proc/self/cgroup names the group ("0::/path" in version 2,
 * "4:cpu,cpuacct:/path" in version 1), /proc/self/mountinfo where that
 * hierarchy is mounted and which group its mount point is (in a container often
 * not the top one). A limit may be set on any group on the way up.
 */
#include "cgroup.h"

#include "compiler.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATH_BYTES = 4096, LINE_BYTES = 3 * PATH_BYTES };
#define NO_LIMIT UINT64_MAX

/* Whether word is one of the comma-separated words of list. */
static bool list_has(const char *list, const char *word)
{
    size_t length = strlen(word);

    for (const char *at = list; at; at = strchr(at, ',')) {
        at += *at == ',';
        if (strncmp(at, word, length) == 0 && (at[length] == ',' || at[length] == '\0'))
            return true;
    }
    return false;
}

static FILE *open_below(const char *root, const char *path)
{
    char full[PATH_BYTES];

    if (snprintf(full, sizeof full, "%s%s", root, path) >= (int)sizeof full)
        return NULL;
    return fopen(full, "re");
}

/* The limit that one group sets in the hierarchy of `version`, NO_LIMIT if none;
 * folder is the group's. */
typedef uint64_t group_limit(const char *folder, int version);

/* Which files are looked for. */
struct question {
    const char *root;
    const char *controller; /* in version 1; version 2 has one hierarchy for all */
    group_limit *limit;
};

/* The group of this process in the hierarchy of `version`. */
static bool find_group(const struct question *question, int version, char group[PATH_BYTES])
{
    char line[LINE_BYTES], controllers[PATH_BYTES];
    FILE *file = open_below(question->root, "/proc/self/cgroup");
    bool found = false;

    if (!file)
        return false;
    while (!found && fgets(line, sizeof line, file)) {
        if (version == 2)
            found = sscanf(line, "0::%4095[^\n]", group) == 1;
        else
            found = sscanf(line, "%*d:%4095[^:]:%4095[^\n]", controllers, group) == 2 &&
                    list_has(controllers, question->controller);
    }
    fclose(file);
    return found;
}

/* Where the hierarchy of `version` is mounted, and the group that is there. */
static bool find_mount(const struct question *question, int version, char mount_group[PATH_BYTES],
                       char mount_point[PATH_BYTES])
{
    char line[LINE_BYTES], kind[32], options[PATH_BYTES];
    FILE *file = open_below(question->root, "/proc/self/mountinfo");
    bool found = false;

    if (!file)
        return false;
    while (!found && fgets(line, sizeof line, file)) {
        const char *rest = strstr(line, " - ");

        if (!rest || sscanf(line, "%*s %*s %*s %4095s %4095s", mount_group, mount_point) != 2 ||
            sscanf(rest, " - %31s %*s %4095s", kind, options) != 2)
            continue;
        found = version == 2
                    ? strcmp(kind, "cgroup2") == 0
                    : strcmp(kind, "cgroup") == 0 && list_has(options, question->controller);
    }
    fclose(file);
    return found;
}

/* Reads numbers from the file `name` in a group's folder into *first and, if it
 * is given, *second; the word "max" is none. Returns whether all were there. */
static bool read_numbers(const char *folder, const char *name, long long *first, long long *second)
{
    char path[PATH_BYTES];
    FILE *file;
    bool known;

    if (snprintf(path, sizeof path, "%s/%s", folder, name) >= (int)sizeof path)
        return false;
    file = fopen(path, "re");
    if (!file)
        return false;
    known = fscanf(file, "%lld", first) == 1 && (!second || fscanf(file, "%lld", second) == 1);
    fclose(file);
    return known;
}

/* Cores of one group's quota. */
static uint64_t group_cores(const char *folder, int version)
{
    long long quota, period; /* microseconds */
    bool known = version == 2 ? read_numbers(folder, "cpu.max", &quota, &period)
                              : read_numbers(folder, "cpu.cfs_quota_us", &quota, NULL) &&
                                    read_numbers(folder, "cpu.cfs_period_us", &period, NULL);

    if (!known || quota <= 0 || period <= 0)
        return NO_LIMIT;
    return (uint64_t)MIN(quota / period + (quota % period != 0), 1 << 20);
}

/* Bytes that one group may use. Version 1 writes a huge number for no limit. */
static uint64_t group_memory(const char *folder, int version)
{
    long long bytes;

    if (!read_numbers(folder, version == 2 ? "memory.max" : "memory.limit_in_bytes", &bytes,
                      NULL) ||
        bytes <= 0 || bytes >= 1LL << 60)
        return NO_LIMIT;
    return (uint64_t)bytes;
}

/* The number behind a name in a group's memory.stat, 0 if it is not there. */
static uint64_t read_statistic(const char *folder, const char *name)
{
    char path[PATH_BYTES], word[64];
    unsigned long long value, found = 0;
    FILE *file;

    if (snprintf(path, sizeof path, "%s/memory.stat", folder) >= (int)sizeof path)
        return 0;
    file = fopen(path, "re");
    while (file && fscanf(file, "%63s %llu", word, &value) == 2)
        if (strcmp(word, name) == 0)
            found = value;
    if (file)
        fclose(file);
    return found;
}

/* Bytes that one group may still use: contents of files are given back when
 * memory is short. */
static uint64_t group_room(const char *folder, int version)
{
    uint64_t limit = group_memory(folder, version), used, cached;
    long long usage;

    if (limit == NO_LIMIT ||
        !read_numbers(folder, version == 2 ? "memory.current" : "memory.usage_in_bytes", &usage,
                      NULL) ||
        usage < 0)
        return limit;
    cached = version == 2
                 ? read_statistic(folder, "inactive_file") + read_statistic(folder, "active_file")
                 : read_statistic(folder, "total_inactive_file") +
                       read_statistic(folder, "total_active_file");
    used = (uint64_t)usage - MIN((uint64_t)usage, cached);
    return limit - MIN(limit, used);
}

/* The smallest limit from the group's folder up to the mount point, which is
 * the first `top` bytes of folder. */
static uint64_t smallest_above(const struct question *question, char *folder, size_t top,
                               int version)
{
    uint64_t smallest = NO_LIMIT;

    for (;;) {
        char *slash = strrchr(folder, '/');

        smallest = MIN(smallest, question->limit(folder, version));
        if (!slash || (size_t)(slash - folder) < top)
            return smallest;
        *slash = '\0';
    }
}

static uint64_t version_limit(const struct question *question, int version)
{
    char group[PATH_BYTES], mount_group[PATH_BYTES], mount_point[PATH_BYTES];
    char folder[LINE_BYTES];
    const char *below = group;
    size_t prefix;

    if (!find_group(question, version, group) ||
        !find_mount(question, version, mount_group, mount_point))
        return NO_LIMIT;
    prefix = strcmp(mount_group, "/") == 0 ? 0 : strlen(mount_group);
    if (strncmp(group, mount_group, prefix) == 0 && strchr("/", group[prefix]))
        below += prefix;
    else
        below = ""; /* the mount shows another part of the tree: only its top is known */
    if (strcmp(below, "/") == 0)
        below++;
    snprintf(folder, sizeof folder, "%s%s%s", question->root, mount_point, below);
    return smallest_above(question, folder, strlen(question->root) + strlen(mount_point), version);
}

static uint64_t smallest_limit(const struct question *question)
{
    return MIN(version_limit(question, 1), version_limit(question, 2));
}

int cgroup_quota_cores(const char *root)
{
    struct question question = {root, "cpu", group_cores};
    uint64_t cores = smallest_limit(&question);

    return cores == NO_LIMIT ? 0 : (int)cores;
}

uint64_t cgroup_memory_limit(const char *root)
{
    struct question question = {root, "memory", group_memory};
    uint64_t bytes = smallest_limit(&question);

    return bytes == NO_LIMIT ? 0 : bytes;
}

uint64_t cgroup_memory_room(const char *root)
{
    struct question question = {root, "memory", group_room};

    return smallest_limit(&question);
}
