/*
 * gguf_split.c: finds the other parts of a split model by the name of one,
 * checks that they belong together, and joins their directories. Data stays in
 * the mapping of each part.
 */
#include "gguf_split.h"

#include "gguf_parse.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PARTS_MOST = 65535, SUFFIX_BYTES = 32 };

enum dllm_status gguf_split_read(const struct dllm_file *file, struct gguf_split *out,
                                 struct dllm_error *error)
{
    *out = (struct gguf_split){0, 1, -1};
    TRY(gguf_get_integer(file, "split.count", false, 0, PARTS_MOST, &out->count, error));
    out->count = MAX(out->count, 1);
    TRY(gguf_get_integer(file, "split.no", false, 0, PARTS_MOST, &out->number, error));
    return gguf_get_integer(file, "split.tensors.count", false, 0, INT32_MAX, &out->tensors, error);
}

/* How the name of a part ends. */
static void show_suffix(int64_t number, int64_t count, char out[SUFFIX_BYTES])
{
    snprintf(out, SUFFIX_BYTES, "-%05d-of-%05d.gguf", (int)number + 1, (int)count);
}

static enum dllm_status check_name(const char *path, const struct gguf_split *split,
                                   struct dllm_error *error)
{
    char suffix[SUFFIX_BYTES];
    size_t length = strlen(path);

    if (split->number >= split->count)
        return status_fail(error, DLLM_ERROR_FORMAT,
                           "%s: split.no is %d, but split.count says that there are %d parts, "
                           "counted from 0; the file is damaged, download it again",
                           path, (int)split->number, (int)split->count);
    show_suffix(split->number, split->count, suffix);
    if (length > strlen(suffix) && strcmp(path + length - strlen(suffix), suffix) == 0)
        return DLLM_OK;
    return status_fail(error, DLLM_ERROR_FORMAT,
                       "%s is part %d of a model split into %d files, which are found by their "
                       "names; expected one that ends in %s: give all parts their published names",
                       path, (int)split->number + 1, (int)split->count, suffix);
}

/* The path of another part, malloc'ed; path passed check_name. */
static char *part_path(const char *path, int64_t number, int64_t count)
{
    char suffix[SUFFIX_BYTES], *out = strdup(path);

    show_suffix(number, count, suffix);
    if (out)
        memcpy(out + strlen(path) - strlen(suffix), suffix, strlen(suffix));
    return out;
}

/* A part must say of itself what its name does, and count tensors as the
 * others. */
static enum dllm_status check_part(const struct dllm_file *part, int64_t number,
                                   const struct gguf_split *want, struct dllm_error *error)
{
    struct gguf_split found;

    TRY(gguf_split_read(part, &found, error));
    if (found.count != want->count || found.number != number)
        return status_fail(error, DLLM_ERROR_FORMAT,
                           "%s: by its keys it is part %d of %d, by its name part %d of %d; it "
                           "belongs to another model or was renamed: download the parts again",
                           gguf_path(part), (int)found.number + 1, (int)found.count,
                           (int)number + 1, (int)want->count);
    if (found.tensors == want->tensors)
        return DLLM_OK;
    return status_fail(error, DLLM_ERROR_FORMAT,
                       "%s: split.tensors.count is %" PRId64 ", %" PRId64
                       " in another part; equal numbers were expected: the parts are of different "
                       "models, download them again",
                       gguf_path(part), found.tensors, want->tensors);
}

static enum dllm_status open_part(const char *path, int64_t number, const struct gguf_split *split,
                                  struct dllm_file **out, struct dllm_error *error)
{
    if (access(path, F_OK) != 0)
        return status_fail(error, DLLM_ERROR_IO,
                           "%s, part %d of a model split into %d files, is missing; all parts were "
                           "expected in one folder: download it",
                           path, (int)number + 1, (int)split->count);
    TRY(gguf_open_file(path, out, error));
    return check_part(*out, number, split, error);
}

/* Opens parts [0, count) into parts, which holds NULLs. */
static enum dllm_status open_parts(const char *path, const struct gguf_split *split,
                                   struct dllm_file **parts, struct dllm_error *error)
{
    for (int64_t i = 0; i < split->count; i++) {
        char *name = part_path(path, i, split->count);
        enum dllm_status status = name ? open_part(name, i, split, &parts[i], error)
                                       : status_no_memory(error, strlen(path) + 1);

        free(name);
        TRY(status);
    }
    return DLLM_OK;
}

enum dllm_status gguf_split_open(const char *path, const struct gguf_split *split,
                                 struct dllm_file **out, struct dllm_error *error)
{
    size_t count = (size_t)split->count;
    struct dllm_file **parts;
    enum dllm_status status;

    *out = NULL;
    TRY(check_name(path, split, error));
    parts = calloc(count, sizeof *parts);
    if (!parts)
        return status_no_memory(error, count * sizeof *parts);
    status = open_parts(path, split, parts, error);
    if (status == DLLM_OK)
        status = gguf_split_join(parts, count, out, error);
    for (size_t i = 0; status != DLLM_OK && i < count; i++)
        dllm_file_close(parts[i]);
    free(parts);
    return status;
}

/* All directories one after the other. */
static enum dllm_status join_tensors(struct dllm_file *whole, struct dllm_error *error)
{
    size_t count = 0, bytes;

    for (size_t i = 0; i < whole->part_count; i++)
        count += whole->parts[i]->tensor_count;
    bytes = MAX(count, 1) * sizeof *whole->tensors;
    whole->tensors = malloc(bytes);
    if (!whole->tensors)
        return status_no_memory(error, bytes);
    for (size_t i = 0; i < whole->part_count; i++)
        for (size_t t = 0; t < whole->parts[i]->tensor_count; t++) {
            struct dllm_tensor *tensor = &whole->tensors[whole->tensor_count++];

            *tensor = whole->parts[i]->tensors[t];
            tensor->part = (uint32_t)i;
        }
    return names_build(whole->tensors, sizeof *whole->tensors, whole->tensor_count,
                       &whole->tensor_index, error);
}

static enum dllm_status check_whole(const struct dllm_file *whole, struct dllm_error *error)
{
    struct gguf_split split;
    char shown[GGUF_SHOWN_BYTES];
    size_t first, second;

    if (names_find_repeated(&whole->tensor_index, &first, &second))
        return status_fail(
            error, DLLM_ERROR_FORMAT,
            "%s: tensor '%s' is also in %s; expected every tensor in one part: download the parts "
            "again",
            gguf_path(whole->parts[whole->tensors[second].part]),
            gguf_show_name(whole->tensors[second].name, shown),
            gguf_path(whole->parts[whole->tensors[first].part]));
    TRY(gguf_split_read(whole, &split, error));
    if (split.tensors < 0 || (uint64_t)split.tensors == whole->tensor_count)
        return DLLM_OK;
    return status_fail(error, DLLM_ERROR_FORMAT,
                       "%s: split.tensors.count is %" PRId64
                       ", but the %zu parts hold %zu tensors; "
                       "equal numbers were expected: download the parts again",
                       whole->path, split.tensors, whole->part_count, whole->tensor_count);
}

/* Keys, version and path are those of the first part, whose keys stay with it. */
static enum dllm_status fill(struct dllm_file *whole, struct dllm_file *const *parts, size_t count,
                             struct dllm_error *error)
{
    whole->path = strdup(parts[0]->path);
    whole->parts = calloc(count, sizeof(struct dllm_file *));
    if (!whole->path || !whole->parts)
        return status_no_memory(error, count * sizeof(struct dllm_file *));
    whole->part_count = count;
    whole->version = parts[0]->version;
    whole->alignment = parts[0]->alignment;
    whole->keys = parts[0]->keys;
    whole->key_count = parts[0]->key_count;
    whole->key_index = parts[0]->key_index;
    for (size_t i = 0; i < count; i++) {
        whole->parts[i] = parts[i];
        whole->size += parts[i]->size;
    }
    TRY(join_tensors(whole, error));
    return check_whole(whole, error);
}

enum dllm_status gguf_split_join(struct dllm_file *const *parts, size_t count,
                                 struct dllm_file **out, struct dllm_error *error)
{
    struct dllm_file *whole = calloc(1, sizeof *whole);
    enum dllm_status status;

    *out = NULL;
    if (!whole)
        return status_no_memory(error, sizeof *whole);
    status = fill(whole, parts, count, error);
    if (status == DLLM_OK) {
        *out = whole;
        return DLLM_OK;
    }
    whole->part_count = 0; /* they are the caller's still */
    dllm_file_close(whole);
    return status;
}
