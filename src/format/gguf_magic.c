/* gguf_magic.c: the first eight bytes, and what else a file may be. */
#include "gguf_parse.h"

#include <inttypes.h>
#include <string.h>
#include <strings.h>

static const char magic[] = "GGUF";

enum { BLANKS_MOST = 1000 };

/* What people hand over by mistake: how such a file starts, and what to do. */
static const struct lookalike {
    const char *start;
    const char *is, *advice;
} lookalikes[] = {
    {"GGML", "a GGML file, the format before GGUF", "convert the model to GGUF"},
    {"lmgg", "a GGML file, the format before GGUF", "convert the model to GGUF"},
    {"fmgg", "a GGMF file, a format before GGUF", "convert the model to GGUF"},
    {"tjgg", "a GGJT file, a format before GGUF", "convert the model to GGUF"},
    {"FUGG", "a big-endian GGUF file", "get the little-endian one"},
    {"PK\x03\x04", "a zip archive or PyTorch checkpoint", "unpack it or convert it to GGUF"},
    {"\x1f\x8b", "a gzip archive", "unpack it"},
    {"version https://git-lfs", "a Git LFS pointer, not the file it stands for",
     "run `git lfs pull` or download the file itself"},
    {"<!doctype html", "an HTML page, perhaps an error page of a download",
     "download the file itself"},
    {"<html", "an HTML page, perhaps an error page of a download", "download the file itself"},
    {"<?xml", "an XML text, perhaps an error message of a download", "download the file itself"},
    {"{", "a JSON text", "give the model file itself"},
};

/* safetensors: the length of a JSON header, then that header. */
static bool is_safetensors(const struct dllm_file *file)
{
    return file->size > 9 && load_u64(file->data) < file->size && file->data[8] == '{';
}

static const struct lookalike *find_lookalike(const struct dllm_file *file)
{
    static const struct lookalike safetensors = {NULL, "a safetensors file",
                                                 "convert the model to GGUF"};
    const char *data = (const char *)file->data;
    uint64_t size = file->size;

    if (is_safetensors(file))
        return &safetensors;
    /* A few blanks: the file may be a terabyte of them. */
    for (int i = 0; i < BLANKS_MOST && size > 0 && *data && strchr(" \t\r\n", *data); i++) {
        data++;
        size--;
    }
    for (size_t i = 0; i < ARRAY_COUNT(lookalikes); i++) {
        size_t length = strlen(lookalikes[i].start);

        if (size >= length && strncasecmp(data, lookalikes[i].start, length) == 0)
            return &lookalikes[i];
    }
    return NULL;
}

static enum dllm_status fail_magic(struct gguf_parser *parser)
{
    const struct dllm_file *file = parser->file;
    const struct lookalike *found = find_lookalike(file);
    const uint8_t *data = file->data;

    if (found)
        return gguf_fail(parser, DLLM_ERROR_FORMAT, 0, "this is %s, expected a GGUF file; %s",
                         found->is, found->advice);
    if (file->size < 4)
        return gguf_fail(parser, DLLM_ERROR_FORMAT, 0,
                         "not a GGUF file: it has %" PRIu64
                         " bytes, expected at least %d; give a GGUF model",
                         file->size, GGUF_HEADER_BYTES);
    return gguf_fail(parser, DLLM_ERROR_FORMAT, 0,
                     "not a GGUF file: it starts with bytes %02x %02x %02x %02x, expected 47 47 "
                     "55 46 (\"GGUF\"); give a GGUF model",
                     data[0], data[1], data[2], data[3]);
}

static enum dllm_status fail_version(struct gguf_parser *parser, uint32_t version)
{
    if (version == 1)
        return gguf_fail(parser, DLLM_ERROR_UNSUPPORTED, 4,
                         "GGUF version 1, expected 2 or 3; convert the model again with a newer "
                         "converter");
    if (version != 0 && (version & 0xffff) == 0)
        return gguf_fail(parser, DLLM_ERROR_UNSUPPORTED, 4,
                         "a big-endian GGUF file (version bytes %08" PRIx32
                         "), expected a little-endian one; convert the model again",
                         version);
    return gguf_fail(parser, DLLM_ERROR_UNSUPPORTED, 4,
                     "GGUF version %" PRIu32 ", expected 2 or 3; get the model in version 3%s",
                     version, version > 3 ? " or a newer dllm" : "");
}

enum dllm_status gguf_check_magic(struct gguf_parser *parser)
{
    struct dllm_file *file = parser->file;

    if (file->size == 0)
        return DLLM_OK;
    if (memcmp(file->data, magic, (size_t)MIN(file->size, 4)) != 0)
        return fail_magic(parser);
    if (file->size < 8)
        return DLLM_OK;
    file->version = load_u32(file->data + 4);
    if (file->version != 2 && file->version != 3)
        return fail_version(parser, file->version);
    return DLLM_OK;
}

enum dllm_status gguf_read_magic(struct gguf_parser *parser)
{
    TRY(gguf_check_magic(parser));
    if (parser->file->size < GGUF_HEADER_BYTES)
        return gguf_fail_cut(parser, "the header", GGUF_HEADER_BYTES);
    cursor_take(&parser->cursor, 8);
    return DLLM_OK;
}
