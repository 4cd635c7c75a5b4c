/* hub_pull.c: fetches a model: what the hub has, which files are meant, room on
 * the disk, the files, their names in the cache. */
#include "hub_parts.h"

#include <stdio.h>
#include <string.h>
#include <sys/statvfs.h>

/* Every file must have a size and a sha256 to be checked against. */
static enum dllm_status check_known(const struct hub_listing *listing, size_t first, size_t count,
                                    struct dllm_error *error)
{
    for (size_t i = first; i < first + count; i++)
        if (!listing->files[i].sha256[0] || !listing->files[i].size)
            return hub_fail(error, DLLM_ERROR_UNSUPPORTED,
                            "the hub gives no sha256 for \"%s\", so that it could not be checked; "
                            "fetch it by hand and give its path instead",
                            listing->files[i].name);
    return DLLM_OK;
}

/* All that is missing must fit, before the first byte is fetched. */
static enum dllm_status check_space(const char *repo, const struct hub_listing *listing,
                                    size_t first, size_t count, struct dllm_error *error)
{
    const double mib = 1 << 20;
    char folder[HUB_PATH_BYTES];
    uint64_t needed = 0, missing;
    struct statvfs disk;
    double room;

    for (size_t i = first; i < first + count; i++) {
        HUB_TRY(hub_missing_bytes(repo, &listing->files[i], &missing, error));
        needed += missing;
    }
    HUB_TRY(hub_cache_folder(folder, error));
    HUB_TRY(hub_make_folder(folder, error));
    if (statvfs(folder, &disk) != 0)
        return hub_fail_path(error, "measured", folder);
    room = (double)disk.f_bavail * (double)disk.f_frsize;
    if ((double)needed <= room)
        return DLLM_OK;
    return hub_fail(error, DLLM_ERROR_IO,
                    "%.0f MiB are still to be fetched, but \"%s\" has room for %.0f MiB; make "
                    "room, or set HF_HUB_CACHE to a folder on a larger disk",
                    (double)needed / mib, folder, room / mib);
}

static enum dllm_status fetch_all(const struct hub_spec *spec, const struct hub_listing *listing,
                                  const struct hub_watch *watch, char path[HUB_PATH_BYTES],
                                  struct dllm_error *error)
{
    char where[HUB_REPO_BYTES + 20];
    size_t first, count;

    snprintf(where, sizeof where, "repository %s", spec->repo);
    HUB_TRY(hub_choose(spec, listing, where, &first, &count, error));
    HUB_TRY(check_known(listing, first, count, error));
    HUB_TRY(check_space(spec->repo, listing, first, count, error));
    for (size_t i = first; i < first + count; i++)
        HUB_TRY(
            hub_fetch(spec->repo, listing->commit, &listing->files[i], i == first, watch, error));
    HUB_TRY(hub_link(spec->repo, listing, first, count, error));
    return hub_snapshot_path(spec->repo, listing->commit, listing->files[first].name, path, error);
}

enum dllm_status hub_pull(const struct hub_spec *spec, const struct hub_watch *watch,
                          char path[HUB_PATH_BYTES], struct dllm_error *error)
{
    struct hub_listing listing;
    enum dllm_status status;

    if (hub_offline())
        return hub_fail(error, DLLM_ERROR_USAGE,
                        "HF_HUB_OFFLINE forbids asking the hub for %s; unset it to fetch the model",
                        spec->repo);
    status = hub_list(spec->repo, watch, &listing, error);
    if (status == DLLM_OK)
        status = fetch_all(spec, &listing, watch, path, error);
    hub_listing_free(&listing);
    return status;
}
