/*
 * preload.c: stands before libc (LD_PRELOAD) and makes one call of a program fail.
 *
 *     FAULT_KIND    allocation, call (of the list below), room, cold, or count (nothing fails)
 *     FAULT_AT      which one, counted from 1; with a + behind it all from there on; with
 *                   room: how many bytes every disk has room for; with cold: how many
 *                   milliseconds a portion of a mapped file takes, none of it in memory yet
 *     FAULT_REPORT  file that gets "ALLOCATIONS CALLS HIT ALIVE NAME" at the end:
 *                   how many there were, whether the fault was met, blocks that were
 *                   not freed, and the call that failed
 *
 * Reads and writes fail as they do with a disk that is full or broken: the
 * descriptor becomes one of /dev/full, or of a folder, for good.
 */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *block, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);
extern void __libc_free(void *block);

enum kind { NONE, ALLOCATION, CALL, ROOM, COLD };

static enum kind kind;
static long fault_at;
static bool from_there_on, ready;
static atomic_long allocations, calls, alive;
static atomic_bool hit;
static const char *hit_name = "-";
static _Thread_local bool inside; /* a wrapper's own calls count for nothing */

__attribute__((constructor)) static void begin(void)
{
    const char *text = getenv("FAULT_KIND"), *at = getenv("FAULT_AT");

    kind = !text                             ? NONE
           : strcmp(text, "allocation") == 0 ? ALLOCATION
           : strcmp(text, "call") == 0       ? CALL
           : strcmp(text, "room") == 0       ? ROOM
           : strcmp(text, "cold") == 0       ? COLD
                                             : NONE;
    fault_at = at ? atol(at) : 0;
    from_there_on = at && strchr(at, '+');
    unsetenv("LD_PRELOAD"); /* programs that this one starts stay sound */
    ready = true;
}

__attribute__((destructor)) static void end(void)
{
    const char *path = getenv("FAULT_REPORT");
    long blocks = atomic_load(&alive);
    int descriptor;

    ready = false;
    inside = true;
    descriptor = path ? open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666) : -1;
    if (descriptor >= 0)
        dprintf(descriptor, "%ld %ld %d %ld %s\n", atomic_load(&allocations), atomic_load(&calls),
                (int)atomic_load(&hit), blocks, hit_name);
}

static bool is_due(atomic_long *counter, enum kind of, const char *name)
{
    long number;

    if (!ready || inside)
        return false;
    number = atomic_fetch_add(counter, 1) + 1;
    if (kind != of || (from_there_on ? number < fault_at : number != fault_at))
        return false;
    if (!atomic_exchange(&hit, true))
        hit_name = name;
    return true;
}

/* --- allocations --- */

static void *counted(void *block)
{
    if (block && ready)
        atomic_fetch_add(&alive, 1);
    return block;
}

static bool no_memory(const char *name)
{
    if (!is_due(&allocations, ALLOCATION, name))
        return false;
    errno = ENOMEM;
    return true;
}

void *malloc(size_t size)
{
    return no_memory("malloc") ? NULL : counted(__libc_malloc(size));
}

void *calloc(size_t count, size_t size)
{
    return no_memory("calloc") ? NULL : counted(__libc_calloc(count, size));
}

void *realloc(void *block, size_t size)
{
    void *moved = no_memory("realloc") ? NULL : __libc_realloc(block, size);

    return block ? moved : counted(moved);
}

void *aligned_alloc(size_t alignment, size_t size)
{
    return no_memory("aligned_alloc") ? NULL : counted(__libc_memalign(alignment, size));
}

void free(void *block)
{
    if (block && ready)
        atomic_fetch_sub(&alive, 1);
    __libc_free(block);
}

/* --- calls --- */

static void *next(const char *name)
{
    bool before = inside;
    void *found;

    inside = true;
    found = dlsym(RTLD_NEXT, name);
    inside = before;
    return found;
}

static bool fails(const char *name)
{
    if (!is_due(&calls, CALL, name))
        return false;
    errno = EIO;
    return true;
}

/* From now on reads of the descriptor fail, or writes to it. */
static void break_descriptor(const char *name, int descriptor, bool writes)
{
    int other;

    if (descriptor < 0 || descriptor == STDERR_FILENO || !fails(name))
        return;
    inside = true;
    other = open(writes ? "/dev/full" : "/", writes ? O_WRONLY : O_RDONLY);
    dup3(other, descriptor, O_CLOEXEC);
    close(other);
    inside = false;
}

#define REAL(name) ((__typeof__(&name))next(#name))
/* A call that returns `failure` instead. */
#define FAILING(type, name, parameters, arguments, failure)                                        \
    type name parameters                                                                           \
    {                                                                                              \
        return fails(#name) ? failure : REAL(name) arguments;                                      \
    }
/* A call on a descriptor or stream that breaks for reading or writing. */
#define BREAKING(type, name, parameters, arguments, descriptor, writes)                            \
    type name parameters                                                                           \
    {                                                                                              \
        break_descriptor(#name, descriptor, writes);                                               \
        return REAL(name) arguments;                                                               \
    }

FAILING(FILE *, fopen, (const char *path, const char *mode), (path, mode), NULL)
FAILING(FILE *, fdopen, (int descriptor, const char *mode), (descriptor, mode), NULL)
FAILING(int, mkstemp, (char *name), (name), -1)
FAILING(int, rename, (const char *from, const char *to), (from, to), -1)
FAILING(int, ftruncate, (int descriptor, off_t size), (descriptor, size), -1)
FAILING(int, fsync, (int descriptor), (descriptor), -1)
FAILING(int, flock, (int descriptor, int operation), (descriptor, operation), -1)
FAILING(off_t, lseek, (int descriptor, off_t at, int from), (descriptor, at, from), -1)
FAILING(int, mkdir, (const char *path, mode_t mode), (path, mode), -1)
FAILING(int, symlink, (const char *to, const char *path), (to, path), -1)
FAILING(char *, realpath, (const char *path, char *out), (path, out), NULL)
FAILING(DIR *, opendir, (const char *path), (path), NULL)
FAILING(int, poll, (struct pollfd * list, nfds_t count, int limit_ms), (list, count, limit_ms), -1)
FAILING(pid_t, waitpid, (pid_t pid, int *status, int flags), (pid, status, flags), -1)
FAILING(int, pipe2, (int ends[2], int flags), (ends, flags), -1)
FAILING(int, stat, (const char *path, struct stat *out), (path, out), -1)
FAILING(int, fstat, (int descriptor, struct stat *out), (descriptor, out), -1)
FAILING(void *, mmap,
        (void *address, size_t size, int protection, int flags, int descriptor, off_t offset),
        (address, size, protection, flags, descriptor, offset), MAP_FAILED)
FAILING(int, pthread_create,
        (pthread_t * thread, const pthread_attr_t *attributes, void *(*start)(void *),
         void *argument),
        (thread, attributes, start, argument), EAGAIN)
FAILING(int, posix_spawnp,
        (pid_t * pid, const char *file, const posix_spawn_file_actions_t *actions,
         const posix_spawnattr_t *attributes, char *const argv[], char *const environment[]),
        (pid, file, actions, attributes, argv, environment), EAGAIN)

BREAKING(ssize_t, read, (int descriptor, void *out, size_t size), (descriptor, out, size),
         descriptor, false)
BREAKING(ssize_t, pread, (int descriptor, void *out, size_t size, off_t at),
         (descriptor, out, size, at), descriptor, false)
BREAKING(size_t, fread, (void *out, size_t size, size_t count, FILE *stream),
         (out, size, count, stream), fileno(stream), false)
BREAKING(char *, fgets, (char *out, int size, FILE *stream), (out, size, stream), fileno(stream),
         false)
BREAKING(ssize_t, __getdelim, (char **line, size_t *size, int end, FILE *stream),
         (line, size, end, stream), fileno(stream), false)
BREAKING(ssize_t, write, (int descriptor, const void *data, size_t size), (descriptor, data, size),
         descriptor, true)
BREAKING(ssize_t, pwrite, (int descriptor, const void *data, size_t size, off_t at),
         (descriptor, data, size, at), descriptor, true)
BREAKING(size_t, fwrite, (const void *data, size_t size, size_t count, FILE *stream),
         (data, size, count, stream), fileno(stream), true)
BREAKING(int, fflush, (FILE * stream), (stream), stream ? fileno(stream) : -1, true)
BREAKING(int, fclose, (FILE * stream), (stream), fileno(stream), true)

/* Says how small the disk is. */
static int limit_room(struct statvfs *out, int code)
{
    if (kind == ROOM) {
        out->f_frsize = 1;
        out->f_bavail = (fsblkcnt_t)fault_at;
    }
    return code;
}

int statvfs(const char *path, struct statvfs *out)
{
    return fails("statvfs") ? -1 : limit_room(out, REAL(statvfs)(path, out));
}

int fstatvfs(int descriptor, struct statvfs *out)
{
    return fails("fstatvfs") ? -1 : limit_room(out, REAL(fstatvfs)(descriptor, out));
}

int mincore(void *address, size_t size, unsigned char *resident)
{
    const struct timespec wait = {fault_at / 1000, fault_at % 1000 * 1000000};

    if (kind != COLD)
        return REAL(mincore)(address, size, resident);
    nanosleep(&wait, NULL);
    memset(resident, 0, (size + 4095) / 4096);
    return 0;
}

int open(const char *path, int flags, ...)
{
    mode_t mode = 0;
    va_list arguments;

    va_start(arguments, flags);
    if (flags & O_CREAT)
        mode = va_arg(arguments, mode_t);
    va_end(arguments);
    return fails("open") ? -1 : REAL(open)(path, flags, mode);
}
