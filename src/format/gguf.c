/*
 * gguf.c: opens and closes a GGUF file. The walk over its bytes is in
 * gguf_magic.c, gguf_keys.c and gguf_tensors.c; what a caller may ask an open
 * file is in gguf_access.c and gguf_get.c.
 */
#include "gguf.h"

#include "demo_model.h"
#include "gguf_parse.h"
#include "gguf_split.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum dllm_status gguf_grow(void **records, size_t count, size_t record_bytes,
                           struct dllm_error *error)
{
    size_t room = count ? 2 * count : 16;
    void *grown;

    /* Doubled whenever the count reaches a power of two from 16 on. */
    if (count != 0 && (count < 16 || (count & (count - 1)) != 0))
        return DLLM_OK;
    grown = realloc(*records, room * record_bytes);
    if (!grown)
        return status_no_memory(error, room * record_bytes);
    *records = grown;
    return DLLM_OK;
}

static enum dllm_status read_counts(struct gguf_parser *parser)
{
    uint64_t at = parser->cursor.at, left;

    cursor_u64(&parser->cursor, &parser->tensor_count);
    cursor_u64(&parser->cursor, &parser->key_count);
    left = cursor_left(&parser->cursor);
    if (parser->tensor_count <= left / GGUF_TENSOR_BYTES &&
        parser->key_count <= (left - parser->tensor_count * GGUF_TENSOR_BYTES) / GGUF_KEY_BYTES)
        return DLLM_OK;
    return gguf_fail(parser, DLLM_ERROR_FORMAT, at,
                     "%" PRIu64 " tensors and %" PRIu64 " keys do not fit in the %" PRIu64
                     " bytes that follow: the file is cut or damaged; download or convert it "
                     "again",
                     parser->tensor_count, parser->key_count, left);
}

static enum dllm_status read_alignment(struct dllm_file *file, struct dllm_error *error)
{
    int64_t alignment = GGUF_ALIGNMENT_DEFAULT;

    TRY(gguf_get_integer(file, "general.alignment", false, 1, GGUF_ALIGNMENT_LIMIT, &alignment,
                         error));
    if ((alignment & (alignment - 1)) != 0)
        return status_fail(error, DLLM_ERROR_FORMAT,
                           "%s: general.alignment is %" PRId64
                           ", expected a power of two; convert the model again",
                           file->path, alignment);
    file->alignment = (uint64_t)alignment;
    return DLLM_OK;
}

static enum dllm_status parse(struct dllm_file *file, struct dllm_error *error)
{
    struct gguf_parser parser = {
        .file = file,
        .cursor = {file->data, file->size, 0},
        .error = error,
        .entry_kind = "header",
    };

    TRY(gguf_read_magic(&parser));
    TRY(read_counts(&parser));
    TRY(gguf_read_keys(&parser));
    TRY(read_alignment(file, error));
    return gguf_read_tensors(&parser);
}

enum dllm_status gguf_open_bytes(const char *name, const void *data, uint64_t size,
                                 struct dllm_file **out, struct dllm_error *error)
{
    struct dllm_file *file = calloc(1, sizeof *file);
    enum dllm_status status = DLLM_OK;

    *out = NULL;
    if (!file)
        return status_no_memory(error, sizeof *file);
    file->data = data;
    file->size = size;
    file->path = strdup(name);
    if (!file->path) {
        status = status_no_memory(error, strlen(name) + 1);
        goto fail;
    }
    TRY_GOTO(parse(file, error));
    *out = file;
    return DLLM_OK;
fail:
    dllm_file_close(file);
    return status;
}

static enum dllm_status open_demo(struct dllm_file **out, struct dllm_error *error)
{
    uint64_t size;
    const uint8_t *bytes = demo_model_bytes(&size);

    return gguf_open_bytes(DLLM_DEMO_MODEL, bytes, size, out, error);
}

enum dllm_status gguf_open_file(const char *path, struct dllm_file **out, struct dllm_error *error)
{
    struct mapfile map;
    enum dllm_status status;

    *out = NULL;
    TRY(mapfile_open(path, &map, error));
    status = gguf_open_bytes(path, map.data, map.size, out, error);
    if (status != DLLM_OK) {
        mapfile_close(&map);
        return status;
    }
    (*out)->map = map;
    return DLLM_OK;
}

enum dllm_status dllm_file_open(const char *path, struct dllm_file **out, struct dllm_error *error)
{
    struct gguf_split split;
    enum dllm_status status;

    *out = NULL;
    if (strcmp(path, DLLM_DEMO_MODEL) == 0)
        return open_demo(out, error);
    TRY(gguf_open_file(path, out, error));
    status = gguf_split_read(*out, &split, error);
    if (status == DLLM_OK && split.count == 1)
        return DLLM_OK;
    dllm_file_close(*out);
    *out = NULL;
    TRY(status);
    return gguf_split_open(path, &split, out, error);
}

void dllm_file_close(struct dllm_file *file)
{
    if (!file)
        return;
    /* A split model's keys are its first part's. */
    if (!file->parts) {
        names_free(&file->key_index);
        free(file->keys);
    }
    for (size_t i = 0; i < file->part_count; i++)
        dllm_file_close(file->parts[i]);
    free(file->parts);
    names_free(&file->tensor_index);
    free(file->tensors);
    free(file->path);
    mapfile_close(&file->map);
    free(file);
}

const char *gguf_path(const struct dllm_file *file)
{
    return file->path;
}
