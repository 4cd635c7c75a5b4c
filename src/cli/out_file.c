/* out_file.c: files that appear whole or not at all. */
#include "cli.h"
#include "out.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

/* Temporary names of the open files, for the ends of the process that no code
 * waits for. */
enum { OPEN_FILES = 8 };
static char *volatile open_names[OPEN_FILES];

void out_file_remove_all(void)
{
    for (int i = 0; i < OPEN_FILES; i++)
        if (open_names[i])
            unlink(open_names[i]);
}

static void on_end(int number)
{
    out_file_remove_all();
    signal(number, SIG_DFL);
    raise(number); /* takes effect when this returns */
}

/* Signals that nobody has a handler for, and that are not ignored. */
static void catch_end(int number)
{
    struct sigaction before;

    if (sigaction(number, NULL, &before) == 0 && before.sa_handler == SIG_DFL)
        signal(number, on_end);
}

static void remember(char *name)
{
    catch_end(SIGTERM);
    catch_end(SIGHUP);
    for (int i = 0; i < OPEN_FILES; i++)
        if (!open_names[i]) {
            open_names[i] = name;
            return;
        }
}

static void forget(const char *name)
{
    for (int i = 0; i < OPEN_FILES; i++)
        if (open_names[i] == name)
            open_names[i] = NULL;
}

/* Files that are not to be replaced. */
static struct kept {
    dev_t device;
    ino_t file;
} * kept_files; /* [kept_count], until the process ends */
static int kept_count;

void out_file_keep(const char *path)
{
    struct kept *grown;
    struct stat info;

    if (stat(path, &info) != 0)
        return;
    grown = realloc(kept_files, ((size_t)kept_count + 1) * sizeof *grown);
    if (!grown)
        cli_end_without_memory();
    kept_files = grown;
    kept_files[kept_count++] = (struct kept){info.st_dev, info.st_ino};
}

static bool is_kept(const char *path)
{
    struct stat info;

    if (stat(path, &info) != 0)
        return false;
    for (int i = 0; i < kept_count; i++)
        if (kept_files[i].device == info.st_dev && kept_files[i].file == info.st_ino)
            return true;
    return false;
}

/* Where the file will lie: path, or what it links to; NULL with errno set. */
static char *resolve_target(const char *path)
{
    struct stat info;

    if (stat(path, &info) != 0)
        return errno == ENOENT && *path ? strdup(path) : NULL;
    if (S_ISREG(info.st_mode))
        return realpath(path, NULL);
    errno = EEXIST;
    return NULL;
}

/* mkstemp with the access rights that a plain open would give. */
static FILE *open_temporary(char *name)
{
    mode_t mask = umask(0);
    int descriptor;
    FILE *stream;

    umask(mask);
    descriptor = mkstemp(name);
    if (descriptor < 0)
        return NULL;
    fchmod(descriptor, 0666 & ~mask);
    stream = fdopen(descriptor, "wb");
    if (!stream)
        close(descriptor);
    return stream;
}

int out_file_lock(int descriptor, const char *path)
{
    if (flock(descriptor, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK)
        return CLI_OK;
    return cli_fail(CLI_FAILURE,
                    "another dllm is writing \"%s\"; wait for it, or name another file", path);
}

int out_file_refuse_dash(const char *path)
{
    if (strcmp(path, "-") != 0)
        return CLI_OK;
    return cli_fail(CLI_USAGE, "\"-\" stands for no stream here, a file is needed; give its name, "
                               "./- for one that is called so");
}

int out_file_open(struct out_file *file, const char *path)
{
    *file = (struct out_file){0};
    if (out_file_refuse_dash(path))
        return CLI_USAGE;
    if (is_kept(path))
        return cli_fail(
            CLI_USAGE,
            "\"%s\" is a file that this command reads; writing would replace it: choose "
            "another name",
            path);
    file->target = resolve_target(path);
    if (!file->target && errno == EEXIST)
        return cli_fail(CLI_FAILURE, "\"%s\" exists and is not a regular file; choose another name",
                        path);
    if (!file->target || asprintf(&file->temporary, "%s.XXXXXX", file->target) < 0) {
        file->temporary = NULL;
        goto fail;
    }
    file->stream = open_temporary(file->temporary);
    if (file->stream) {
        remember(file->temporary);
        return CLI_OK;
    }
fail:
    cli_fail(CLI_FAILURE, "\"%s\" could not be opened for writing: %s", path, strerror(errno));
    out_file_discard(file);
    return CLI_FAILURE;
}

int out_file_check_room(const struct out_file *file, uint64_t bytes)
{
    struct statvfs disk;
    char needed[32], room[32];
    uint64_t there;

    if (fstatvfs(fileno(file->stream), &disk) != 0 ||
        __builtin_mul_overflow(disk.f_bavail, disk.f_frsize, &there) || bytes <= there)
        return CLI_OK;
    return cli_fail(CLI_FAILURE,
                    "\"%s\" would take %s, but its disk has room for %s; make room, or choose "
                    "another disk",
                    file->target, out_size_text(bytes, needed), out_size_text(there, room));
}

/* Keeps the first errno. */
static void note_failure(struct out_file *file, bool done)
{
    if (!done && !file->failure)
        file->failure = errno ? errno : EIO;
}

void out_file_write(struct out_file *file, const void *data, size_t size)
{
    note_failure(file, fwrite(data, 1, size, file->stream) == size);
}

bool out_is_npy(const char *path)
{
    size_t length = strlen(path);

    return length >= 4 && strcmp(path + length - 4, ".npy") == 0;
}

/* NumPy's format 1.0: magic, version, header length, a Python literal padded
 * with blanks so that the data starts at a multiple of 64. */
void out_file_write_npy_header(struct out_file *file, size_t rows, size_t columns)
{
    char text[128], header[256];
    int length =
        snprintf(text, sizeof text,
                 "{'descr': '<f4', 'fortran_order': False, 'shape': (%zu, %zu), }", rows, columns);
    int padded = (10 + length + 1 + 63) / 64 * 64 - 10;

    memcpy(header, "\x93NUMPY\x01\x00", 8);
    header[8] = (char)(padded & 255);
    header[9] = (char)(padded >> 8);
    snprintf(header + 10, sizeof header - 10, "%s%*s\n", text, padded - length - 1, "");
    out_file_write(file, header, 10 + (size_t)padded);
}

int out_file_commit(struct out_file *file)
{
    int code = CLI_OK;

    note_failure(file, fclose(file->stream) == 0);
    file->stream = NULL;
    if (!file->failure)
        note_failure(file, rename(file->temporary, file->target) == 0);
    if (file->failure)
        code = cli_fail(CLI_FAILURE, "\"%s\" could not be written: %s", file->target,
                        strerror(file->failure));
    else
        file->temporary[0] = 0;
    out_file_discard(file);
    return code;
}

void out_file_discard(struct out_file *file)
{
    if (file->stream)
        fclose(file->stream);
    if (file->temporary && file->temporary[0])
        unlink(file->temporary);
    forget(file->temporary);
    free(file->temporary);
    free(file->target);
    *file = (struct out_file){0};
}
