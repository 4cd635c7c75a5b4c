/* hub_cache.c: the Hugging Face cache on this machine. */
#include "hub_parts.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *setting(const char *name)
{
    const char *value = getenv(name);

    return value && *value ? value : NULL;
}

bool hub_offline(void)
{
    const char *value = setting("HF_HUB_OFFLINE");

    return value && strcmp(value, "0") != 0 && strcasecmp(value, "false") != 0 &&
           strcasecmp(value, "no") != 0 && strcasecmp(value, "off") != 0;
}

enum dllm_status hub_cache_folder(char out[HUB_PATH_BYTES], struct dllm_error *error)
{
    const char *value;

    if ((value = setting("HF_HUB_CACHE")))
        return hub_path(out, error, "%s", value);
    if ((value = setting("HF_HOME")))
        return hub_path(out, error, "%s/hub", value);
    if ((value = setting("XDG_CACHE_HOME")))
        return hub_path(out, error, "%s/huggingface/hub", value);
    if ((value = setting("HOME")))
        return hub_path(out, error, "%s/.cache/huggingface/hub", value);
    return hub_fail(error, DLLM_ERROR_USAGE,
                    "there is no place for models: neither HF_HUB_CACHE, HF_HOME, XDG_CACHE_HOME "
                    "nor HOME is set; set one of them to a folder");
}

/* OWNER--NAME of OWNER/NAME, behind a prefix. */
static enum dllm_status cached_name(const char *prefix, const char *repo, char out[HUB_PATH_BYTES],
                                    struct dllm_error *error)
{
    char cache[HUB_PATH_BYTES];
    int owner = (int)strcspn(repo, "/");

    HUB_TRY(hub_cache_folder(cache, error));
    return hub_path(out, error, "%s%s/models--%.*s--%s", cache, prefix, owner, repo,
                    repo + owner + 1);
}

enum dllm_status hub_repo_folder(const char *repo, char out[HUB_PATH_BYTES],
                                 struct dllm_error *error)
{
    return cached_name("", repo, out, error);
}

enum dllm_status hub_lock_folder(const char *repo, char out[HUB_PATH_BYTES],
                                 struct dllm_error *error)
{
    return cached_name("/.locks", repo, out, error);
}

enum dllm_status hub_snapshot_path(const char *repo, const char *commit, const char *file,
                                   char out[HUB_PATH_BYTES], struct dllm_error *error)
{
    char folder[HUB_PATH_BYTES];

    HUB_TRY(hub_repo_folder(repo, folder, error));
    return hub_path(out, error, "%s/snapshots/%s/%s", folder, commit, file);
}

enum dllm_status hub_make_folder(const char *path, struct dllm_error *error)
{
    char part[HUB_PATH_BYTES];
    struct stat info;

    HUB_TRY(hub_path(part, error, "%s", path));
    for (char *slash = part; slash;) {
        slash = strchr(slash + 1, '/');
        if (slash)
            *slash = 0;
        if (mkdir(part, 0777) != 0 && (stat(part, &info) != 0 || !S_ISDIR(info.st_mode)))
            return hub_fail_path(error, "made as a folder", part);
        if (slash)
            *slash = '/';
    }
    return DLLM_OK;
}

/* The folder that a path lies in. */
static enum dllm_status make_folder_of(const char *path, struct dllm_error *error)
{
    char folder[HUB_PATH_BYTES];

    HUB_TRY(hub_path(folder, error, "%s", path));
    *strrchr(folder, '/') = 0;
    return hub_make_folder(folder, error);
}

/* "../../blobs/SHA256", with a "../" more for every folder in the file's
 * name. */
static enum dllm_status link_one(const char *repo, const char *commit, const struct hub_file *file,
                                 struct dllm_error *error)
{
    char path[HUB_PATH_BYTES], temporary[HUB_PATH_BYTES], target[HUB_PATH_BYTES], up[128] = "";

    for (const char *at = strchr(file->name, '/'); at && strlen(up) + 4 < sizeof up;
         at = strchr(at + 1, '/'))
        strcat(up, "../");
    HUB_TRY(hub_snapshot_path(repo, commit, file->name, path, error));
    HUB_TRY(hub_path(temporary, error, "%s.%d", path, (int)getpid()));
    HUB_TRY(hub_path(target, error, "../../%sblobs/%s", up, file->sha256));
    HUB_TRY(make_folder_of(path, error));
    unlink(temporary);
    if (symlink(target, temporary) != 0)
        return hub_fail_path(error, "made as a link", temporary);
    if (rename(temporary, path) == 0)
        return DLLM_OK;
    hub_fail_path(error, "made as a link", path);
    unlink(temporary);
    return error->status;
}

/* Puts the commit into refs/main, whole or not at all. */
static enum dllm_status write_ref(const char *repo, const char *commit, struct dllm_error *error)
{
    char folder[HUB_PATH_BYTES], path[HUB_PATH_BYTES], temporary[HUB_PATH_BYTES];
    FILE *stream;
    bool done;

    HUB_TRY(hub_repo_folder(repo, folder, error));
    HUB_TRY(hub_path(path, error, "%s/refs/main", folder));
    HUB_TRY(hub_path(temporary, error, "%s.%d", path, (int)getpid()));
    HUB_TRY(make_folder_of(path, error));
    stream = fopen(temporary, "we");
    if (!stream)
        return hub_fail_path(error, "written", temporary);
    done = fputs(commit, stream) >= 0;
    done = fclose(stream) == 0 && done;
    if (done && rename(temporary, path) == 0)
        return DLLM_OK;
    hub_fail_path(error, "written", path);
    unlink(temporary);
    return error->status;
}

enum dllm_status hub_link(const char *repo, const struct hub_listing *listing, size_t first,
                          size_t count, struct dllm_error *error)
{
    for (size_t i = first; i < first + count; i++)
        HUB_TRY(link_one(repo, listing->commit, &listing->files[i], error));
    return write_ref(repo, listing->commit, error);
}

/* Adds the GGUF files below the folder `path`, which has room for the names that are put behind it
 * and taken off again. The first `root` bytes of it are the snapshot's folder and a slash. */
static enum dllm_status add_files(char path[HUB_PATH_BYTES], size_t root, int depth,
                                  struct hub_listing *listing, struct dllm_error *error)
{
    DIR *stream = opendir(path);
    enum dllm_status status = DLLM_OK;
    const struct dirent *entry;
    size_t length = strlen(path);

    while (stream && status == DLLM_OK && (entry = readdir(stream))) {
        struct stat info;

        path[length] = 0;
        if (entry->d_name[0] == '.' || length + 1 + strlen(entry->d_name) >= HUB_PATH_BYTES)
            continue;
        sprintf(path + length, "/%s", entry->d_name);
        if (stat(path, &info) != 0)
            continue;
        if (S_ISREG(info.st_mode) && hub_is_file_path(path + root)) {
            struct hub_file file = {.name = path + root, .size = (uint64_t)info.st_size};

            status = hub_listing_add(listing, &file, error);
        } else if (S_ISDIR(info.st_mode) && depth < HUB_FOLDERS_MOST) {
            status = add_files(path, root, depth + 1, listing, error);
        }
    }
    if (stream)
        closedir(stream);
    path[length] = 0;
    return status;
}

/* The GGUF files of the newest snapshot in a repository's folder; none where
 * there is no snapshot. */
static enum dllm_status list_folder(const char *folder, struct hub_listing *listing,
                                    struct dllm_error *error)
{
    char path[HUB_PATH_BYTES];
    FILE *stream;

    *listing = (struct hub_listing){0};
    HUB_TRY(hub_path(path, error, "%s/refs/main", folder));
    stream = fopen(path, "re");
    if (!stream)
        return DLLM_OK;
    if (fscanf(stream, "%64[0-9a-zA-Z]", listing->commit) != 1)
        listing->commit[0] = 0;
    fclose(stream);
    if (!listing->commit[0])
        return DLLM_OK;
    HUB_TRY(hub_path(path, error, "%s/snapshots/%s", folder, listing->commit));
    HUB_TRY(add_files(path, strlen(path) + 1, 0, listing, error));
    hub_listing_sort(listing);
    return DLLM_OK;
}

enum dllm_status hub_find(const struct hub_spec *spec, bool *found, char path[HUB_PATH_BYTES],
                          struct dllm_error *error)
{
    struct hub_listing listing;
    char folder[HUB_PATH_BYTES];
    enum dllm_status status;
    size_t first, count;

    *found = false;
    HUB_TRY(hub_repo_folder(spec->repo, folder, error));
    status = list_folder(folder, &listing, error);
    if (status == DLLM_OK)
        status = hub_choose(spec, &listing, "the cache", &first, &count, error);
    if (status == DLLM_OK) {
        *found = true;
        status =
            hub_snapshot_path(spec->repo, listing.commit, listing.files[first].name, path, error);
    }
    hub_listing_free(&listing);
    return status == DLLM_ERROR_IO ? DLLM_OK : status;
}

static enum dllm_status visit_folder(const char *folder, hub_visit *visit, void *context,
                                     struct dllm_error *error)
{
    struct hub_listing listing;
    enum dllm_status status = list_folder(folder, &listing, error);
    char path[HUB_PATH_BYTES];

    for (size_t i = 0; status == DLLM_OK && i < listing.count; i++) {
        status = hub_path(path, error, "%s/snapshots/%s/%s", folder, listing.commit,
                          listing.files[i].name);
        if (status == DLLM_OK)
            visit(context, path, listing.files[i].size);
    }
    hub_listing_free(&listing);
    return status;
}

enum dllm_status hub_each_cached(hub_visit *visit, void *context, struct dllm_error *error)
{
    char cache[HUB_PATH_BYTES], folder[HUB_PATH_BYTES];
    enum dllm_status status = DLLM_OK;
    const struct dirent *entry;
    DIR *stream;

    HUB_TRY(hub_cache_folder(cache, error));
    stream = opendir(cache);
    while (stream && status == DLLM_OK && (entry = readdir(stream)))
        if (strncmp(entry->d_name, "models--", 8) == 0 &&
            hub_path(folder, error, "%s/%s", cache, entry->d_name) == DLLM_OK)
            status = visit_folder(folder, visit, context, error);
    if (stream)
        closedir(stream);
    return status;
}
