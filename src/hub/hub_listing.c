/*
 * hub_listing.c: what the hub says a repository has: GET
 * /api/models/OWNER/NAME/revision/main?blobs=true, an object with "sha" (the
 * commit) and "siblings", each with "rfilename", "size" and, for large files,
 * "lfs" with "sha256" and "size".
 */
#include "hub_parts.h"

#include <ctype.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ANSWER_MOST = 16 << 20, TRIES = 4 };

struct answer {
    char *data; /* [capacity], owned */
    size_t size, capacity;
    bool too_long, no_memory;
};

static int add_bytes(void *context, const char *data, size_t size)
{
    struct answer *answer = context;
    size_t capacity = 2 * answer->capacity + size;
    char *grown;

    answer->too_long = answer->size + size > ANSWER_MOST;
    if (answer->too_long)
        return 1;
    if (answer->capacity - answer->size < size) {
        grown = realloc(answer->data, capacity);
        answer->no_memory = !grown;
        if (!grown)
            return 1;
        answer->data = grown;
        answer->capacity = capacity;
    }
    memcpy(answer->data + answer->size, data, size);
    answer->size += size;
    return 0;
}

static bool is_hex(const char *text, size_t least, size_t most)
{
    size_t length = text ? strlen(text) : 0;

    return length >= least && length <= most && strspn(text, "0123456789abcdef") == length;
}

/* A file that is not ours to judge is left out. */
static enum dllm_status add_sibling(struct hub_listing *listing, json_t *sibling,
                                    struct dllm_error *error)
{
    const char *name = json_string_value(json_object_get(sibling, "rfilename"));
    json_t *lfs = json_object_get(sibling, "lfs");
    const char *sha256 = json_string_value(json_object_get(lfs, "sha256"));
    json_t *size = json_object_get(lfs, "size");
    struct hub_file file = {.name = (char *)name};

    if (!name || !hub_is_file_path(name))
        return DLLM_OK;
    if (!size)
        size = json_object_get(sibling, "size");
    if (json_is_integer(size) && json_integer_value(size) > 0)
        file.size = (uint64_t)json_integer_value(size);
    if (is_hex(sha256, 64, 64))
        strcpy(file.sha256, sha256);
    return hub_listing_add(listing, &file, error);
}

static enum dllm_status parse(const struct answer *answer, struct hub_listing *listing,
                              struct dllm_error *error)
{
    json_t *root = json_loadb(answer->data, answer->size, 0, NULL), *sibling;
    json_t *siblings = json_object_get(root, "siblings");
    const char *commit = json_string_value(json_object_get(root, "sha"));
    enum dllm_status status = DLLM_OK;
    size_t i;

    if (!is_hex(commit, 1, HUB_COMMIT_BYTES - 1) || !json_is_array(siblings)) {
        status = hub_fail(error, DLLM_ERROR_IO,
                          "the hub's answer is no list of files; check that HF_ENDPOINT, if set, "
                          "is the address of a Hugging Face hub");
        goto done;
    }
    strcpy(listing->commit, commit);
    json_array_foreach(siblings, i, sibling) if ((status = add_sibling(listing, sibling, error)) !=
                                                 DLLM_OK) break;
    hub_listing_sort(listing);
done:
    json_decref(root);
    return status;
}

/* What a refusal means, in the user's terms. */
static enum dllm_status fail_refused(const char *repo, const struct hub_reply *reply,
                                     struct dllm_error *error)
{
    char endpoint[HUB_PATH_BYTES];

    hub_endpoint(endpoint);
    if (reply->http == 401)
        return hub_fail(error, DLLM_ERROR_IO,
                        "the hub does not show %s (status 401): there is no such repository, or it "
                        "is private or gated%s",
                        repo,
                        hub_has_token() ? " and the token given does not open it"
                                        : "; check the name, or set HF_TOKEN to a token of yours");
    if (reply->http == 403)
        return hub_fail(error, DLLM_ERROR_IO,
                        "the hub does not give %s away (status 403); accept its conditions at "
                        "%.200s/%s, then set HF_TOKEN to a token of yours",
                        repo, endpoint, repo);
    if (reply->http == 404)
        return hub_fail(error, DLLM_ERROR_IO,
                        "there is no repository %s at %.200s (status 404); check the name", repo,
                        endpoint);
    return hub_fail(error, DLLM_ERROR_IO, "asking %.200s for %s failed: %s", endpoint, repo,
                    reply->reason[0] ? reply->reason : "curl gave no reason");
}

/* Why the answer was not read to its end. */
static enum dllm_status fail_ended(const char *repo, const struct answer *answer,
                                   struct dllm_error *error)
{
    if (answer->no_memory)
        return hub_fail(error, DLLM_ERROR_MEMORY, "out of memory");
    if (answer->too_long)
        return hub_fail(error, DLLM_ERROR_IO, "the hub's list of files for %s is too long", repo);
    return hub_fail(error, DLLM_INTERRUPTED, "interrupted");
}

/* Asks until there is an answer; waits longer from try to try. */
static enum dllm_status ask(const struct hub_request *request, const char *repo,
                            const struct hub_watch *watch, struct dllm_error *error)
{
    struct answer *answer = request->context;
    struct hub_reply reply;

    for (int i = 0;; i++) {
        struct hub_event event = {.kind = HUB_RETRYING, .file = repo, .reason = reply.reason};

        answer->size = 0;
        hub_request_run(request, watch, &reply, error);
        if (reply.outcome == HUB_DONE)
            return DLLM_OK;
        if (reply.outcome == HUB_BROKEN)
            return error->status;
        if (reply.outcome == HUB_ENDED)
            return fail_ended(repo, answer, error);
        if (reply.outcome != HUB_PASSING || i + 1 == TRIES)
            return fail_refused(repo, &reply, error);
        watch->on_event(watch->context, &event);
        sleep(1u << i);
    }
}

enum dllm_status hub_list(const char *repo, const struct hub_watch *watch,
                          struct hub_listing *listing, struct dllm_error *error)
{
    char endpoint[HUB_PATH_BYTES], url[HUB_PATH_BYTES];
    struct answer answer = {0};
    struct hub_request request = {.url = url, .sink = add_bytes, .context = &answer};
    enum dllm_status status;

    *listing = (struct hub_listing){0};
    hub_endpoint(endpoint);
    if (strpbrk(endpoint, "\"\\\n\r"))
        return hub_fail(error, DLLM_ERROR_USAGE, "HF_ENDPOINT is no address of a hub");
    HUB_TRY(hub_path(url, error, "%s/api/models/%s/revision/main?blobs=true", endpoint, repo));
    status = ask(&request, repo, watch, error);
    if (status == DLLM_OK)
        status = parse(&answer, listing, error);
    free(answer.data);
    return status;
}
