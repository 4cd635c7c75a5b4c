/* hub_parts.h: what the files of this room share. */
#ifndef HUB_PARTS_H
#define HUB_PARTS_H

#include "hub.h"

enum { HUB_SHA256_BYTES = 65, HUB_COMMIT_BYTES = 65 };

/* Folders that a file may lie in, inside its repository, and bytes of one part of its
 * path: a file system's 255, less those of a temporary name. */
enum { HUB_FOLDERS_MOST = 8, HUB_PART_MOST = 240 };

/* Fills in the record and returns status. (hub_spec.c) */
enum dllm_status hub_fail(struct dllm_error *error, enum dllm_status status, const char *format,
                          ...) __attribute__((format(printf, 3, 4)));

/* The failed system call `errno` about a path. (hub_spec.c) */
enum dllm_status hub_fail_path(struct dllm_error *error, const char *what, const char *path);

/* Whether text is the path of a GGUF file that cannot leave the folder below which it
 * is put, nor say anything to a terminal: no part of it is empty or begins with a
 * dot, and there are no control characters, quotes or backslashes. (hub_spec.c) */
bool hub_is_file_path(const char *text);

/* A path from a format; a usage error when it is too long. (hub_spec.c) */
enum dllm_status hub_path(char out[HUB_PATH_BYTES], struct dllm_error *error, const char *format,
                          ...) __attribute__((format(printf, 3, 4)));

#define HUB_TRY(expr)                                                                              \
    do {                                                                                           \
        enum dllm_status try_status_ = (expr);                                                     \
        if (try_status_ != DLLM_OK)                                                                \
            return try_status_;                                                                    \
    } while (0)

/* A GGUF file of a repository. */
struct hub_file {
    char *name; /* path inside the repository, owned */
    uint64_t size;
    char sha256[HUB_SHA256_BYTES]; /* "" where it is not known */
};

/* The GGUF files of a repository at a commit; by name once sorted. */
struct hub_listing {
    char commit[HUB_COMMIT_BYTES];
    struct hub_file *files; /* [count], owned */
    size_t count;
};

/* Accepts a zeroed record, and zeroes it. (hub_choose.c) */
void hub_listing_free(struct hub_listing *listing);

/* Appends a file with a copy of its name. (hub_choose.c) */
enum dllm_status hub_listing_add(struct hub_listing *listing, const struct hub_file *file,
                                 struct dllm_error *error);

/* Puts the names in order, for hub_choose. (hub_choose.c) */
void hub_listing_sort(struct hub_listing *listing);

/* Which files the spec means: files [*first, *first + *count) of the listing,
 * more than one only for the parts of a split model; the listing is sorted. Without quant or file:
 * Q4_K_M, else Q8_0, else the first file. `where` names the place in messages.
 * (hub_choose.c) */
enum dllm_status hub_choose(const struct hub_spec *spec, const struct hub_listing *listing,
                            const char *where, size_t *first, size_t *count,
                            struct dllm_error *error);

/* The folder of a repository in the cache, and the one of its locks.
 * (hub_cache.c) */
enum dllm_status hub_repo_folder(const char *repo, char out[HUB_PATH_BYTES],
                                 struct dllm_error *error);
enum dllm_status hub_lock_folder(const char *repo, char out[HUB_PATH_BYTES],
                                 struct dllm_error *error);

/* Makes a folder and those above it. (hub_cache.c) */
enum dllm_status hub_make_folder(const char *path, struct dllm_error *error);

/* Puts links to the blobs of files [first, first + count) into the snapshot of
 * the listing's commit and makes it the newest one. (hub_cache.c) */
enum dllm_status hub_link(const char *repo, const struct hub_listing *listing, size_t first,
                          size_t count, struct dllm_error *error);

/* Path of a file in the snapshot of a commit. (hub_cache.c) */
enum dllm_status hub_snapshot_path(const char *repo, const char *commit, const char *file,
                                   char out[HUB_PATH_BYTES], struct dllm_error *error);

/* Asks the hub what the repository has. (hub_listing.c) */
enum dllm_status hub_list(const char *repo, const struct hub_watch *watch,
                          struct hub_listing *listing, struct dllm_error *error);

/* Fetches a file's blob unless it is there. check_start: look into its first
 * megabyte before the rest is fetched. (hub_fetch.c) */
enum dllm_status hub_fetch(const char *repo, const char *commit, const struct hub_file *file,
                           bool check_start, const struct hub_watch *watch,
                           struct dllm_error *error);

/* Bytes of a file that are still to be fetched. (hub_fetch.c) */
enum dllm_status hub_missing_bytes(const char *repo, const struct hub_file *file, uint64_t *out,
                                   struct dllm_error *error);

/* The hub's address, $HF_ENDPOINT or https://huggingface.co, without a slash
 * at its end. (hub_request.c) */
const char *hub_endpoint(char out[HUB_PATH_BYTES]);

/* Receives bytes of an answer; anything but 0 ends the request. */
typedef int hub_sink(void *context, const char *data, size_t size);

/* One GET request. */
struct hub_request {
    const char *url;
    uint64_t offset; /* first byte wanted */
    uint64_t limit;  /* how many from byte 0, when offset is 0; 0: all */
    hub_sink *sink;
    void *context;
};

enum hub_outcome {
    HUB_DONE,
    HUB_ENDED,    /* by the sink, or by watch->stop */
    HUB_REFUSED,  /* HTTP status in `http`, it makes no sense to try again */
    HUB_PASSING,  /* network or server trouble that may pass */
    HUB_NO_RANGE, /* the server cannot start at an offset */
    HUB_BROKEN    /* no request could be made: message in the error record */
};

/* What became of a request. */
struct hub_reply {
    enum hub_outcome outcome;
    int http;         /* 0: there was no answer */
    char reason[200]; /* curl's words; "" if it had none */
};

/* Runs the curl program for one request. The token ($HF_TOKEN, else the file
 * that the hub's own tools write) goes to it through a pipe, and to the hub's
 * host alone. (hub_request.c) */
void hub_request_run(const struct hub_request *request, const struct hub_watch *watch,
                     struct hub_reply *reply, struct dllm_error *error);

/* Whether there is a token. (hub_request.c) */
bool hub_has_token(void);

/* Encodes a path for a URL; '/' stays. out holds three times the bytes. (hub_request.c) */
void hub_encode_path(const char *path, char *out, size_t size);

/* A program with pipes. */
struct hub_process {
    int pid;
    int in;       /* -1: none, or closed */
    int out, err; /* to read */
};

/* Starts argv[0], found in $PATH, without a shell. in_file: what it reads, -1 for
 * a pipe. (hub_process.c) */
enum dllm_status hub_process_start(struct hub_process *process, const char *const *argv,
                                   int in_file, struct dllm_error *error);

/* Closes the pipes, ends the program if asked, waits, and returns its exit code
 * (-1: a signal, or it is not known). (hub_process.c) */
int hub_process_end(struct hub_process *process, bool kill_it);

#endif
