/*
 * hub_fetch.c: fetches one file's blob. Bytes go to SHA256.incomplete, which a
 * later try continues; the final name appears when all of them are there and
 * their sha256 is the hub's.
 */
#include "hub_parts.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* The first bytes of a file, enough to know its architecture. */
enum { START_BYTES = 1 << 20 };
/* Tries in a row that bring nothing. */
enum { TRIES = 5 };

struct fetch {
    const struct hub_file *file;
    const struct hub_watch *watch;
    struct dllm_error *error;
    char url[HUB_PATH_BYTES];
    char blob[HUB_PATH_BYTES], incomplete[HUB_PATH_BYTES], lock[HUB_PATH_BYTES];
    int out, locked;    /* descriptors, -1: not open */
    uint64_t have, end; /* bytes here; where the current request is to end */
    int failure;        /* errno of a failed write */
};

static bool stopped(const struct fetch *fetch)
{
    return fetch->watch->stop && fetch->watch->stop();
}

static void tell(const struct fetch *fetch, enum hub_event_kind kind, const char *reason)
{
    struct hub_event event = {kind, fetch->file->name, fetch->have, fetch->file->size, reason};

    fetch->watch->on_event(fetch->watch->context, &event);
}

/* Waits, but not after ctrl-c. */
static void pause_for(const struct fetch *fetch, double seconds)
{
    const struct timespec tick = {.tv_nsec = 100 * 1000 * 1000};

    for (; seconds > 0 && !stopped(fetch); seconds -= 0.1)
        nanosleep(&tick, NULL);
}

static int add_bytes(void *context, const char *data, size_t size)
{
    struct fetch *fetch = context;
    uint64_t room = fetch->end - fetch->have;

    if (size > room)
        size = room;
    while (size > 0) {
        ssize_t written = pwrite(fetch->out, data, size, (off_t)fetch->have);

        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0) {
            fetch->failure = written ? errno : EIO;
            return 1;
        }
        data += written;
        size -= (size_t)written;
        fetch->have += (uint64_t)written;
    }
    tell(fetch, HUB_PROGRESS, NULL);
    return fetch->have == fetch->end;
}

static enum dllm_status fail_request(const struct fetch *fetch, const struct hub_reply *reply)
{
    if (reply->outcome == HUB_BROKEN)
        return fetch->error->status;
    if (fetch->failure)
        return hub_fail(fetch->error, DLLM_ERROR_IO, "\"%s\" could not be written: %s",
                        fetch->incomplete, strerror(fetch->failure));
    if (stopped(fetch))
        return hub_fail(fetch->error, DLLM_INTERRUPTED, "interrupted");
    if (reply->http == 401 || reply->http == 403)
        return hub_fail(fetch->error, DLLM_ERROR_IO,
                        "the hub does not give \"%s\" away (status %d); accept the conditions of "
                        "its repository there and set HF_TOKEN to a token of yours",
                        fetch->file->name, reply->http);
    return hub_fail(fetch->error, DLLM_ERROR_IO,
                    "fetching \"%s\" failed: %s; %llu of %llu bytes are here, the next pull goes "
                    "on from there",
                    fetch->file->name, reply->reason[0] ? reply->reason : "no reason was given",
                    (unsigned long long)fetch->have, (unsigned long long)fetch->file->size);
}

/* Empties the file where it is so far. */
static enum dllm_status start_again(struct fetch *fetch)
{
    fetch->have = 0;
    if (ftruncate(fetch->out, 0) == 0)
        return DLLM_OK;
    return hub_fail_path(fetch->error, "emptied", fetch->incomplete);
}

/* Bytes up to `end`, with as many requests as that takes. */
static enum dllm_status fetch_to(struct fetch *fetch, uint64_t end)
{
    int fruitless = 0;

    fetch->end = end;
    while (fetch->have < end) {
        struct hub_request request = {.url = fetch->url,
                                      .offset = fetch->have,
                                      .limit = end,
                                      .sink = add_bytes,
                                      .context = fetch};
        struct hub_reply reply;
        uint64_t before = fetch->have;

        hub_request_run(&request, fetch->watch, &reply, fetch->error);
        if (fetch->have == end)
            break;
        if (reply.outcome == HUB_NO_RANGE && before) {
            HUB_TRY(start_again(fetch));
            continue;
        }
        fruitless = fetch->have > before ? 0 : fruitless + 1;
        if (reply.outcome == HUB_DONE)
            snprintf(reply.reason, sizeof reply.reason, "the answer was shorter than the file");
        else if (reply.outcome != HUB_PASSING)
            return fail_request(fetch, &reply);
        if (fruitless == TRIES)
            return fail_request(fetch, &reply);
        tell(fetch, HUB_RETRYING, reply.reason);
        pause_for(fetch, fruitless ? 1 << (fruitless - 1) : 0.5);
    }
    return DLLM_OK;
}

/* A wrong model is refused here, when a megabyte of it has been fetched. */
static enum dllm_status check_first_bytes(struct fetch *fetch)
{
    size_t size = fetch->file->size < START_BYTES ? fetch->file->size : START_BYTES;
    char *bytes = malloc(size);
    enum dllm_status status;

    if (!bytes)
        return hub_fail(fetch->error, DLLM_ERROR_MEMORY, "out of memory");
    if (pread(fetch->out, bytes, size, 0) != (ssize_t)size)
        status = hub_fail_path(fetch->error, "read", fetch->incomplete);
    else
        status = dllm_check_start(fetch->file->name, bytes, size, fetch->error);
    free(bytes);
    if (status == DLLM_ERROR_UNSUPPORTED || status == DLLM_ERROR_FORMAT)
        unlink(fetch->incomplete);
    return status;
}

/* The sha256 of what was fetched, by the sha256sum program. */
static enum dllm_status compute_sha256(struct fetch *fetch, char sha256[HUB_SHA256_BYTES])
{
    static const char *const argv[] = {"sha256sum", NULL};
    struct hub_process process;
    FILE *stream;
    int code;

    if (lseek(fetch->out, 0, SEEK_SET) != 0)
        return hub_fail_path(fetch->error, "read", fetch->incomplete);
    HUB_TRY(hub_process_start(&process, argv, fetch->out, fetch->error));
    stream = fdopen(process.out, "r");
    if (!stream || fscanf(stream, "%64[0-9a-f]", sha256) != 1)
        sha256[0] = 0;
    if (stream) {
        fclose(stream);
        process.out = -1;
    }
    code = hub_process_end(&process, false);
    if (stopped(fetch))
        return hub_fail(fetch->error, DLLM_INTERRUPTED, "interrupted");
    if (code == 0 && sha256[0])
        return DLLM_OK;
    return hub_fail(fetch->error, DLLM_ERROR_IO, "the program sha256sum failed for \"%s\"",
                    fetch->incomplete);
}

static enum dllm_status check_sha256(struct fetch *fetch)
{
    char sha256[HUB_SHA256_BYTES];

    tell(fetch, HUB_HASHING, NULL);
    HUB_TRY(compute_sha256(fetch, sha256));
    if (strcmp(sha256, fetch->file->sha256) == 0)
        return DLLM_OK;
    unlink(fetch->incomplete);
    return hub_fail(fetch->error, DLLM_ERROR_IO,
                    "\"%s\" arrived damaged: its sha256 is %s, the hub's is %s; what was fetched "
                    "is removed, pull it again",
                    fetch->file->name, sha256, fetch->file->sha256);
}

static enum dllm_status name_paths(struct fetch *fetch, const char *repo, const char *commit)
{
    char folder[HUB_PATH_BYTES], endpoint[HUB_PATH_BYTES], name[3 * HUB_FILE_BYTES];
    struct dllm_error *error = fetch->error;

    hub_encode_path(fetch->file->name, name, sizeof name);
    HUB_TRY(hub_path(fetch->url, error, "%s/%s/resolve/%s/%s", hub_endpoint(endpoint), repo, commit,
                     name));
    HUB_TRY(hub_lock_folder(repo, folder, error));
    HUB_TRY(hub_make_folder(folder, error));
    HUB_TRY(hub_path(fetch->lock, error, "%s/%s.lock", folder, fetch->file->sha256));
    HUB_TRY(hub_repo_folder(repo, folder, error));
    HUB_TRY(hub_path(fetch->blob, error, "%s/blobs/%s", folder, fetch->file->sha256));
    HUB_TRY(hub_path(fetch->incomplete, error, "%s.incomplete", fetch->blob));
    strcat(folder, "/blobs");
    return hub_make_folder(folder, error);
}

static enum dllm_status take_lock(struct fetch *fetch)
{
    bool told = false;

    fetch->locked = open(fetch->lock, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (fetch->locked < 0)
        return hub_fail_path(fetch->error, "opened", fetch->lock);
    while (flock(fetch->locked, LOCK_EX | LOCK_NB) != 0) {
        if (errno != EWOULDBLOCK && errno != EINTR)
            return hub_fail_path(fetch->error, "locked", fetch->lock);
        if (stopped(fetch))
            return hub_fail(fetch->error, DLLM_INTERRUPTED, "interrupted");
        if (!told)
            tell(fetch, HUB_WAITING, NULL);
        told = true;
        pause_for(fetch, 0.2);
    }
    return DLLM_OK;
}

static bool blob_is_there(const struct fetch *fetch)
{
    struct stat info;

    return stat(fetch->blob, &info) == 0 && (uint64_t)info.st_size == fetch->file->size;
}

static enum dllm_status open_incomplete(struct fetch *fetch)
{
    struct stat info;

    fetch->out = open(fetch->incomplete, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (fetch->out < 0 || fstat(fetch->out, &info) != 0)
        return hub_fail_path(fetch->error, "opened", fetch->incomplete);
    fetch->have = (uint64_t)info.st_size;
    return fetch->have > fetch->file->size ? start_again(fetch) : DLLM_OK;
}

static enum dllm_status fetch_blob(struct fetch *fetch, bool check_start)
{
    uint64_t size = fetch->file->size, start = size < START_BYTES ? size : START_BYTES;

    HUB_TRY(open_incomplete(fetch));
    tell(fetch, HUB_STARTING, NULL);
    if (fetch->have < start)
        HUB_TRY(start_again(fetch));
    HUB_TRY(fetch_to(fetch, start));
    if (check_start)
        HUB_TRY(check_first_bytes(fetch));
    HUB_TRY(fetch_to(fetch, size));
    HUB_TRY(check_sha256(fetch));
    if (fsync(fetch->out) != 0 || rename(fetch->incomplete, fetch->blob) != 0)
        return hub_fail_path(fetch->error, "put in place", fetch->blob);
    tell(fetch, HUB_COMPLETE, NULL);
    return DLLM_OK;
}

enum dllm_status hub_fetch(const char *repo, const char *commit, const struct hub_file *file,
                           bool check_start, const struct hub_watch *watch,
                           struct dllm_error *error)
{
    struct fetch fetch = {.file = file, .watch = watch, .error = error, .out = -1, .locked = -1};
    enum dllm_status status = name_paths(&fetch, repo, commit);

    if (status == DLLM_OK && !blob_is_there(&fetch))
        status = take_lock(&fetch);
    if (status == DLLM_OK && blob_is_there(&fetch))
        tell(&fetch, HUB_THERE_ALREADY, NULL);
    else if (status == DLLM_OK)
        status = fetch_blob(&fetch, check_start);
    if (fetch.out >= 0)
        close(fetch.out);
    if (fetch.locked >= 0)
        close(fetch.locked);
    return status;
}

enum dllm_status hub_missing_bytes(const char *repo, const struct hub_file *file, uint64_t *out,
                                   struct dllm_error *error)
{
    char folder[HUB_PATH_BYTES], path[HUB_PATH_BYTES];
    struct stat info;

    HUB_TRY(hub_repo_folder(repo, folder, error));
    HUB_TRY(hub_path(path, error, "%s/blobs/%s", folder, file->sha256));
    *out = 0;
    if (stat(path, &info) == 0 && (uint64_t)info.st_size == file->size)
        return DLLM_OK;
    *out = file->size;
    HUB_TRY(hub_path(path, error, "%s/blobs/%s.incomplete", folder, file->sha256));
    if (stat(path, &info) == 0 && (uint64_t)info.st_size <= file->size)
        *out -= (uint64_t)info.st_size;
    return DLLM_OK;
}
