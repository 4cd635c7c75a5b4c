/*
 * cgroup.c: finds the quota files of this process.
 *
 * /proc/self/cgroup names the group ("0::/path" in version 2,
 * "4:cpu,cpuacct:/path" in version 1), /proc/self/mountinfo where that
 * hierarchy is mounted and which group its mount point is (in a container often
 * not the top one). The quota may be set on any group on the way up.
 */
#include "cgroup.h"

#include "compiler.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATH_BYTES = 4096, LINE_BYTES = 3 * PATH_BYTES };

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

/* The group of this process in the hierarchy of `version`. */
static bool find_group(const char *root, int version, char group[PATH_BYTES])
{
    char line[LINE_BYTES], controllers[PATH_BYTES];
    FILE *file = open_below(root, "/proc/self/cgroup");
    bool found = false;

    if (!file)
        return false;
    while (!found && fgets(line, sizeof line, file)) {
        if (version == 2)
            found = sscanf(line, "0::%4095[^\n]", group) == 1;
        else
            found = sscanf(line, "%*d:%4095[^:]:%4095[^\n]", controllers, group) == 2 &&
                    list_has(controllers, "cpu");
    }
    fclose(file);
    return found;
}

/* Where the hierarchy of `version` is mounted, and the group that is there. */
static bool find_mount(const char *root, int version, char mount_group[PATH_BYTES],
                       char mount_point[PATH_BYTES])
{
    char line[LINE_BYTES], kind[32], options[PATH_BYTES];
    FILE *file = open_below(root, "/proc/self/mountinfo");
    bool found = false;

    if (!file)
        return false;
    while (!found && fgets(line, sizeof line, file)) {
        const char *rest = strstr(line, " - ");

        if (!rest || sscanf(line, "%*s %*s %*s %4095s %4095s", mount_group, mount_point) != 2 ||
            sscanf(rest, " - %31s %*s %4095s", kind, options) != 2)
            continue;
        found = version == 2 ? strcmp(kind, "cgroup2") == 0
                             : strcmp(kind, "cgroup") == 0 && list_has(options, "cpu");
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

/* Cores that the quota of one group allows, 0 if it sets none. */
static int group_cores(const char *folder, int version)
{
    long long quota, period; /* microseconds */
    bool known = version == 2 ? read_numbers(folder, "cpu.max", &quota, &period)
                              : read_numbers(folder, "cpu.cfs_quota_us", &quota, NULL) &&
                                    read_numbers(folder, "cpu.cfs_period_us", &period, NULL);

    if (!known || quota <= 0 || period <= 0)
        return 0;
    return (int)MIN(quota / period + (quota % period != 0), 1 << 20);
}

/* The smallest quota from the group's folder up to the mount point, which is
 * the first `top` bytes of folder. */
static int smallest_above(char *folder, size_t top, int version)
{
    int smallest = 0;

    for (;;) {
        int cores = group_cores(folder, version);
        char *slash = strrchr(folder, '/');

        if (cores > 0 && (smallest == 0 || cores < smallest))
            smallest = cores;
        if (!slash || (size_t)(slash - folder) < top)
            return smallest;
        *slash = '\0';
    }
}

static int version_cores(const char *root, int version)
{
    char group[PATH_BYTES], mount_group[PATH_BYTES], mount_point[PATH_BYTES];
    char folder[LINE_BYTES];
    const char *below = group;
    size_t prefix;

    if (!find_group(root, version, group) || !find_mount(root, version, mount_group, mount_point))
        return 0;
    prefix = strcmp(mount_group, "/") == 0 ? 0 : strlen(mount_group);
    if (strncmp(group, mount_group, prefix) == 0 && strchr("/", group[prefix]))
        below += prefix;
    else
        below = ""; /* the mount shows another part of the tree: only its top is known */
    if (strcmp(below, "/") == 0)
        below++;
    snprintf(folder, sizeof folder, "%s%s%s", root, mount_point, below);
    return smallest_above(folder, strlen(root) + strlen(mount_point), version);
}

int cgroup_quota_cores(const char *root)
{
    int v1 = version_cores(root, 1), v2 = version_cores(root, 2);

    if (v1 == 0 || v2 == 0)
        return v1 + v2;
    return MIN(v1, v2);
}
