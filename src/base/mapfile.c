/* mapfile.c: mmap, and messages for everything that is not a readable file. */
#include "mapfile.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

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

static enum dllm_status map(const char *path, int descriptor, struct mapfile *out,
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
    out->data = data;
    out->size = (uint64_t)facts.st_size;
    return DLLM_OK;
}

enum dllm_status mapfile_open(const char *path, struct mapfile *out, struct dllm_error *error)
{
    /* Without O_NONBLOCK a named pipe would wait here for a writer. */
    int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    enum dllm_status status;

    memset(out, 0, sizeof *out);
    if (descriptor < 0)
        return fail_open(path, errno, error);
    status = map(path, descriptor, out, error);
    close(descriptor); /* the mapping outlives it */
    return status;
}

void mapfile_close(struct mapfile *file)
{
    if (file->data)
        munmap((void *)file->data, (size_t)file->size);
    memset(file, 0, sizeof *file);
}
