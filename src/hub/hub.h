/*
 * hub.h: models by name: finds them in the Hugging Face cache on this machine
 * and fetches them into it from the hub. The cache's layout is the one that
 * other tools use too:
 *
 *     models--OWNER--NAME/blobs/SHA256             contents
 *     models--OWNER--NAME/snapshots/COMMIT/FILE    link to a blob
 *     models--OWNER--NAME/refs/main                the newest COMMIT known
 *     .locks/models--OWNER--NAME/SHA256.lock       held (flock) while a blob is fetched
 *
 * Nothing here prints. Functions fill the caller's error record as those of
 * dllm.h do; here it must be given.
 */
#ifndef HUB_H
#define HUB_H

#include "dllm.h"

enum { HUB_REPO_BYTES = 200, HUB_QUANT_BYTES = 64, HUB_FILE_BYTES = 1024, HUB_PATH_BYTES = 4096 };

/* A model's name: a repository and what to take of it. */
struct hub_spec {
    char repo[HUB_REPO_BYTES];   /* OWNER/NAME */
    char quant[HUB_QUANT_BYTES]; /* such as Q4_K_M; "": not said */
    char file[HUB_FILE_BYTES];   /* path inside the repository; "": not said */
};

/* Reads OWNER/NAME[:QUANT], OWNER/NAME/FILE.gguf, or one of the short names
 * (llada, dream) with [:QUANT]. A usage error that says so for anything else. */
enum dllm_status hub_parse(const char *text, struct hub_spec *out, struct dllm_error *error);

/* The folder of the cache: $HF_HUB_CACHE, $HF_HOME/hub,
 * $XDG_CACHE_HOME/huggingface/hub or ~/.cache/huggingface/hub. It need not
 * exist. */
enum dllm_status hub_cache_folder(char out[HUB_PATH_BYTES], struct dllm_error *error);

/* Whether $HF_HUB_OFFLINE forbids asking the hub. */
bool hub_offline(void);

/* Path of the model's (first) file if all of it is in the cache; else *found is
 * false, which is no error. A quant that several files there have is one. */
enum dllm_status hub_find(const struct hub_spec *spec, bool *found, char path[HUB_PATH_BYTES],
                          struct dllm_error *error);

typedef void hub_visit(void *context, const char *path, uint64_t size);

/* Calls visit with the path of every whole GGUF file in the cache and its
 * size in bytes. A cache that is not there has none. */
enum dllm_status hub_each_cached(hub_visit *visit, void *context, struct dllm_error *error);

enum hub_event_kind {
    HUB_STARTING, /* a file of `size` bytes, `have` of them here already */
    HUB_PROGRESS, /* some times a second */
    HUB_WAITING,  /* another process is fetching this file */
    HUB_RETRYING, /* what failed is in `reason` */
    HUB_HASHING,  /* all bytes are here; their sha256 is computed */
    HUB_COMPLETE, /* in the cache under its final name */
    HUB_THERE_ALREADY
};

struct hub_event {
    enum hub_event_kind kind;
    const char *file;
    uint64_t have, size;
    const char *reason;
};

/* How a pull is watched. */
struct hub_watch {
    void (*on_event)(void *context, const struct hub_event *event);
    bool (*stop)(void); /* true: end with DLLM_INTERRUPTED */
    void *context;
};

/* Fetches what is missing of the model and returns the path of its (first)
 * file. What was fetched before an error or an interruption stays, and the
 * next pull goes on from there. Uses the programs curl and sha256sum. */
enum dllm_status hub_pull(const struct hub_spec *spec, const struct hub_watch *watch,
                          char path[HUB_PATH_BYTES], struct dllm_error *error);

#endif
