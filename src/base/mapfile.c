/*
 * mapfile.c: mmap, and messages for everything that is not a readable file.
 *
 * All mappings are in one list, for mapfile_path_at. Its lock is held for a few
 * instructions that touch no mapping: a signal that touching one raised never
 * comes to a thread that holds it, so that a handler may wait for it.
 */
#include "mapfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct mapping {
    struct mapping *next;
    const uint8_t *data;
    uint64_t size;
    char path[];
};

static struct mapping *mappings;
static atomic_flag mappings_lock = ATOMIC_FLAG_INIT;

static void lock_mappings(void)
{
    while (atomic_flag_test_and_set_explicit(&mappings_lock, memory_order_acquire))
        continue;
}

static void unlock_mappings(void)
{
    atomic_flag_clear_explicit(&mappings_lock, memory_order_release);
}

static void add_mapping(struct mapping *mapping)
{
    lock_mappings();
    mapping->next = mappings;
    mappings = mapping;
    unlock_mappings();
}

static void remove_mapping(const uint8_t *data)
{
    struct mapping **link = &mappings, *found;

    lock_mappings();
    while (*link && (*link)->data != data)
        link = &(*link)->next;
    found = *link;
    if (found)
        *link = found->next;
    unlock_mappings();
    free(found);
}

const char *mapfile_path_at(const void *address)
{
    const char *path = NULL;

    lock_mappings();
    for (const struct mapping *at = mappings; at && !path; at = at->next)
        if ((uintptr_t)address - (uintptr_t)at->data < at->size)
            path = at->path;
    unlock_mappings();
    return path;
}

static enum dllm_status fail_open(const char *path, int code, struct dllm_error *error)
{
    const char *advice = code == ENOENT || code == ENOTDIR ? "check the path"
                         : code == EACCES || code == EPERM ? "ask for permission to read it"
                                                           : "check the disk and the path";

    return status_fail(error, DLLM_ERROR_IO, "cannot open '%s': %s; %s", path, strerror(code),
                       advice);
}

static enum dllm_status check_kind(const char *path, const struct stat *facts,
                                   struct dllm_error *error)
{
    if (S_ISDIR(facts->st_mode))
        return status_fail(error, DLLM_ERROR_IO,
                           "'%s' is a directory, expected a file; name a file inside it", path);
    if (!S_ISREG(facts->st_mode))
        return status_fail(error, DLLM_ERROR_IO,
                           "'%s' is a pipe, socket or device, expected a regular file; save its "
                           "contents to a file first",
                           path);
    if (facts->st_size == 0)
        return status_fail(error, DLLM_ERROR_IO,
                           "'%s' is empty (0 bytes); copy or download it again", path);
    return DLLM_OK;
}

static enum dllm_status map(const char *path, int descriptor, struct mapping *mapping,
                            struct dllm_error *error)
{
    struct stat facts;
    void *data;

    if (fstat(descriptor, &facts) != 0)
        return fail_open(path, errno, error);
    TRY(check_kind(path, &facts, error));
    data = mmap(NULL, (size_t)facts.st_size, PROT_READ, MAP_SHARED, descriptor, 0);
    if (data == MAP_FAILED)
        return status_fail(error, DLLM_ERROR_IO,
                           "cannot map the %lld bytes of '%s' into memory: %s; check the limit on "
                           "address space (ulimit -v)",
                           (long long)facts.st_size, path, strerror(errno));
    mapping->data = data;
    mapping->size = (uint64_t)facts.st_size;
    return DLLM_OK;
}

enum dllm_status mapfile_open(const char *path, struct mapfile *out, struct dllm_error *error)
{
    size_t bytes = sizeof(struct mapping) + strlen(path) + 1;
    struct mapping *mapping;
    enum dllm_status status;
    int descriptor;

    memset(out, 0, sizeof *out);
    /* Without O_NONBLOCK a named pipe would wait here for a writer. */
    descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor < 0)
        return fail_open(path, errno, error);
    mapping = malloc(bytes);
    status = mapping ? map(path, descriptor, mapping, error) : status_no_memory(error, bytes);
    close(descriptor); /* the mapping outlives it */
    if (status != DLLM_OK) {
        free(mapping);
        return status;
    }
    strcpy(mapping->path, path);
    add_mapping(mapping);
    *out = (struct mapfile){mapping->data, mapping->size};
    return DLLM_OK;
}

void mapfile_close(struct mapfile *file)
{
    if (file->data) {
        remove_mapping(file->data);
        munmap((void *)file->data, (size_t)file->size);
    }
    memset(file, 0, sizeof *file);
}

/* The whole pages that hold a range; false unless it lies in a mapping. */
static bool in_mapping(const void *data, uint64_t size, uintptr_t *start, size_t *bytes)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), from = (uintptr_t)data;
    bool found = false;

    lock_mappings();
    for (const struct mapping *at = mappings; at && !found; at = at->next) {
        uint64_t offset = from - (uintptr_t)at->data;

        found = offset < at->size && size <= at->size - offset;
    }
    unlock_mappings();
    *start = from / page * page;
    *bytes = (size_t)(from - *start + size);
    return found;
}

/* Advice that is refused changes nothing but speed. */
static void advise(const void *data, uint64_t size, int advice)
{
    uintptr_t start;
    size_t bytes;

    if (in_mapping(data, size, &start, &bytes))
        (void)madvise((void *)start, bytes, advice);
}

void mapfile_want(const void *data, uint64_t size)
{
    advise(data, size, MADV_WILLNEED);
}

/* Clean pages of a file: what another thread still wants of them comes back when touched. */
void mapfile_release(const void *data, uint64_t size)
{
    advise(data, size, MADV_DONTNEED);
}
