/* test_machine.c: usable cores follow affinity and the quotas that control
 * groups set, read here from made-up trees of both versions. */
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "cgroup.h"
#include "compiler.h"
#include "machine.h"
#include "test_paths.h"

/* A file of a made-up machine; path NULL ends the list. */
struct tree_file {
    const char *path, *text;
};

enum { TREE_FILES = 8 };

static void write_tree(const char *root, const struct tree_file *files)
{
    char path[TEST_PATH_BYTES + 200];

    for (; files->path; files++) {
        FILE *file;

        snprintf(path, sizeof path, "%s%s", root, files->path);
        for (char *at = strchr(path + 1, '/'); at; at = strchr(at + 1, '/')) {
            *at = '\0';
            mkdir(path, 0700);
            *at = '/';
        }
        file = fopen(path, "w");
        assert_non_null(file);
        fputs(files->text, file);
        fclose(file);
    }
}

/* What one of the functions of cgroup.h finds in a tree. */
static uint64_t ask_tree(const struct tree_file *files, uint64_t (*ask)(const char *root))
{
    char root[TEST_PATH_BYTES], command[TEST_PATH_BYTES + 20];
    uint64_t found;

    unlink(test_temporary_path(root));
    mkdir(root, 0700);
    write_tree(root, files);
    found = ask(root);
    snprintf(command, sizeof command, "rm -r '%s'", root);
    assert_int_equal(system(command), 0);
    return found;
}

static uint64_t ask_cores(const char *root)
{
    return (uint64_t)cgroup_quota_cores(root);
}

static int quota_of(const struct tree_file *files)
{
    return (int)ask_tree(files, ask_cores);
}

#define V2_MOUNT "30 22 0:27 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw\n"
#define V1_MOUNT "31 30 0:28 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n"

/* Each row breaks when one rule of finding or reading a quota is wrong. */
static const struct {
    const char *rule;
    int cores;
    struct tree_file files[TREE_FILES];
} quota_rules[] = {
    {"nothing known", 0, {{"/proc/self/other", ""}}},
    {"version 2, rounded up",
     2,
     {{"/proc/self/cgroup", "0::/app\n"},
      {"/proc/self/mountinfo", V2_MOUNT},
      {"/sys/fs/cgroup/app/cpu.max", "150000 100000\n"}}},
    {"version 2 without a limit",
     0,
     {{"/proc/self/cgroup", "0::/app\n"},
      {"/proc/self/mountinfo", V2_MOUNT},
      {"/sys/fs/cgroup/app/cpu.max", "max 100000\n"}}},
    {"version 2, less than a core",
     1,
     {{"/proc/self/cgroup", "0::/app\n"},
      {"/proc/self/mountinfo", V2_MOUNT},
      {"/sys/fs/cgroup/app/cpu.max", "5000 100000\n"}}},
    {"a group above is tighter",
     3,
     {{"/proc/self/cgroup", "0::/a/b/c\n"},
      {"/proc/self/mountinfo", V2_MOUNT},
      {"/sys/fs/cgroup/a/b/c/cpu.max", "800000 100000\n"},
      {"/sys/fs/cgroup/a/cpu.max", "300000 100000\n"}}},
    {"a container sees its group as the top",
     4,
     {{"/proc/self/cgroup", "0::/\n"},
      {"/proc/self/mountinfo", V2_MOUNT},
      {"/sys/fs/cgroup/cpu.max", "400000 100000\n"}}},
    {"version 1",
     2,
     {{"/proc/self/cgroup", "5:memory:/m\n4:cpu,cpuacct:/jobs/x\n0::/\n"},
      {"/proc/self/mountinfo", V1_MOUNT},
      {"/sys/fs/cgroup/cpu,cpuacct/jobs/x/cpu.cfs_quota_us", "200000\n"},
      {"/sys/fs/cgroup/cpu,cpuacct/jobs/x/cpu.cfs_period_us", "100000\n"}}},
    {"version 1 without a limit",
     0,
     {{"/proc/self/cgroup", "4:cpu,cpuacct:/\n"},
      {"/proc/self/mountinfo", V1_MOUNT},
      {"/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "-1\n"},
      {"/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n"}}},
    {"cpuset is not cpu",
     0,
     {{"/proc/self/cgroup", "4:cpuset:/\n"},
      {"/proc/self/mountinfo", "31 30 0:28 / /c rw - cgroup cgroup rw,cpuset\n"},
      {"/c/cpu.cfs_quota_us", "100000\n"},
      {"/c/cpu.cfs_period_us", "100000\n"}}},
    {"version 1 mounted from the group itself",
     5,
     {{"/proc/self/cgroup", "4:cpu:/docker/f00\n"},
      {"/proc/self/mountinfo", "31 30 0:28 /docker/f00 /c rw - cgroup cgroup rw,cpu\n"},
      {"/c/cpu.cfs_quota_us", "500000\n"},
      {"/c/cpu.cfs_period_us", "100000\n"}}},
    {"a mount whose name is only a prefix",
     6,
     {{"/proc/self/cgroup", "4:cpu:/docker-2/x\n"},
      {"/proc/self/mountinfo", "31 30 0:28 /docker /c rw - cgroup cgroup rw,cpu\n"},
      {"/c/cpu.cfs_quota_us", "600000\n"},
      {"/c/cpu.cfs_period_us", "100000\n"},
      {"/c/-2/x/cpu.cfs_quota_us", "100000\n"},
      {"/c/-2/x/cpu.cfs_period_us", "100000\n"}}},
    {"both versions: the tighter one",
     1,
     {{"/proc/self/cgroup", "4:cpu:/\n0::/u\n"},
      {"/proc/self/mountinfo", V1_MOUNT V2_MOUNT},
      {"/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "700000\n"},
      {"/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n"},
      {"/sys/fs/cgroup/u/cpu.max", "100000 100000\n"}}},
    {"nonsense is no limit",
     0,
     {{"/proc/self/cgroup", "0::/app\n"},
      {"/proc/self/mountinfo", V2_MOUNT},
      {"/sys/fs/cgroup/app/cpu.max", "9223372036854775807 0\n"}}},
};

static void test_quotas(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(quota_rules); i++) {
        int cores = quota_of(quota_rules[i].files);

        if (cores != quota_rules[i].cores)
            fail_msg("%s: %d cores, expected %d", quota_rules[i].rule, cores, quota_rules[i].cores);
    }
}

/* Limits of memory and what is left of them; each row breaks when one rule is
 * wrong. */
static const struct {
    const char *rule;
    uint64_t limit, room;
    struct tree_file files[TREE_FILES];
} memory_rules[] = {
    {"nothing known", 0, UINT64_MAX, {{"/proc/self/other", ""}}},
    {"version 2, file contents can go",
     1000,
     1000 - 600 + 150 + 50,
     {{"/proc/self/cgroup", "0::/app\n"},
      {"/proc/self/mountinfo", V2_MOUNT},
      {"/sys/fs/cgroup/app/memory.max", "1000\n"},
      {"/sys/fs/cgroup/app/memory.current", "600\n"},
      {"/sys/fs/cgroup/app/memory.stat", "anon 400\nactive_file 50\ninactive_file 150\nslab 1\n"}}},
    {"version 2 without a limit",
     0,
     UINT64_MAX,
     {{"/proc/self/cgroup", "0::/app\n"},
      {"/proc/self/mountinfo", V2_MOUNT},
      {"/sys/fs/cgroup/app/memory.max", "max\n"},
      {"/sys/fs/cgroup/app/memory.current", "600\n"}}},
    {"a group above has less left",
     2000,
     100,
     {{"/proc/self/cgroup", "0::/a/b\n"},
      {"/proc/self/mountinfo", V2_MOUNT},
      {"/sys/fs/cgroup/a/b/memory.max", "2000\n"},
      {"/sys/fs/cgroup/a/b/memory.current", "10\n"},
      {"/sys/fs/cgroup/a/memory.max", "3000\n"},
      {"/sys/fs/cgroup/a/memory.current", "2900\n"}}},
    {"version 1",
     1000,
     300,
     {{"/proc/self/cgroup", "5:memory:/m\n4:cpu:/c\n"},
      {"/proc/self/mountinfo", "31 30 0:28 / /memory rw - cgroup cgroup rw,memory\n"},
      {"/memory/m/memory.limit_in_bytes", "1000\n"},
      {"/memory/m/memory.usage_in_bytes", "900\n"},
      {"/memory/m/memory.stat", "inactive_file 5\ntotal_inactive_file 200\n"}}},
    {"version 1 without a limit",
     0,
     UINT64_MAX,
     {{"/proc/self/cgroup", "5:memory:/\n"},
      {"/proc/self/mountinfo", "31 30 0:28 / /memory rw - cgroup cgroup rw,memory\n"},
      {"/memory/memory.limit_in_bytes", "9223372036854771712\n"},
      {"/memory/memory.usage_in_bytes", "900\n"}}},
};

static void test_memory_limits(void **state)
{
    struct machine_memory memory;

    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(memory_rules); i++) {
        uint64_t limit = ask_tree(memory_rules[i].files, cgroup_memory_limit);
        uint64_t room = ask_tree(memory_rules[i].files, cgroup_memory_room);

        if (limit != memory_rules[i].limit || room != memory_rules[i].room)
            fail_msg("%s: limit %llu, room %llu", memory_rules[i].rule, (unsigned long long)limit,
                     (unsigned long long)room);
    }
    machine_memory(&memory);
    assert_true(memory.total > 1 << 20 && memory.available > 0);
    assert_true(memory.available <= memory.total);
}

/* Breaks when the affinity mask is not read. */
static void test_affinity(void **state)
{
    cpu_set_t before, one;

    (void)state;
    assert_true(machine_usable_cores() >= 1);
    assert_int_equal(sched_getaffinity(0, sizeof before, &before), 0);
    CPU_ZERO(&one);
    for (int core = 0; core < CPU_SETSIZE; core++)
        if (CPU_ISSET(core, &before)) {
            CPU_SET(core, &one);
            break;
        }
    assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
    assert_int_equal(machine_usable_cores(), 1);
    sched_setaffinity(0, sizeof before, &before);
}

/* Breaks when the unit is wrong or the peak is not the peak: after touching
 * 64 MiB it must have grown by about as much, and must not fall again but for what the
 * kernel still counts per core. */
static void test_peak_memory(void **state)
{
    enum { BYTES = 64 << 20 };
    uint64_t before = machine_peak_rss_bytes(), after;
    volatile char *block = malloc(BYTES);

    (void)state;
    assert_true(before > 100 << 10 && before < 1ull << 32);
    assert_non_null(block);
    for (size_t i = 0; i < BYTES; i += 4096)
        block[i] = 1;
    after = machine_peak_rss_bytes();
    free((void *)block);
    assert_true(after >= before + BYTES / 2);
    assert_true(machine_peak_rss_bytes() + BYTES / 16 >= after);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_quotas),
        cmocka_unit_test(test_memory_limits),
        cmocka_unit_test(test_affinity),
        cmocka_unit_test(test_peak_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
