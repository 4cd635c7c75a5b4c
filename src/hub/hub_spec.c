/* hub_spec.c: the names of models, and the errors of this room. */
#include "hub_parts.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Conversions of the two model families that llama.cpp's tools made. */
static const struct {
    const char *name, *repo;
} short_names[] = {
    {"llada", "mradermacher/LLaDA-8B-Instruct-GGUF"},
    {"dream", "bartowski/Dream-org_Dream-v0-Instruct-7B-GGUF"},
};
enum { SHORT_NAMES = sizeof short_names / sizeof *short_names };

enum dllm_status hub_fail(struct dllm_error *error, enum dllm_status status, const char *format,
                          ...)
{
    va_list args;

    va_start(args, format);
    error->status = status;
    vsnprintf(error->message, sizeof error->message, format, args);
    va_end(args);
    return status;
}

enum dllm_status hub_fail_path(struct dllm_error *error, const char *what, const char *path)
{
    return hub_fail(error, DLLM_ERROR_IO, "\"%s\" could not be %s: %s", path, what,
                    strerror(errno));
}

enum dllm_status hub_path(char out[HUB_PATH_BYTES], struct dllm_error *error, const char *format,
                          ...)
{
    va_list args;
    int length;

    va_start(args, format);
    length = vsnprintf(out, HUB_PATH_BYTES, format, args);
    va_end(args);
    if (length >= 0 && length < HUB_PATH_BYTES)
        return DLLM_OK;
    return hub_fail(error, DLLM_ERROR_USAGE, "the path \"%.60s...\" is too long", out);
}

/* Letters, digits, '-', '_', '.'; the hub allows neither ".." nor "--" (which
 * the cache uses for '/'), and no dot or dash at an end. */
static bool is_repo_part(const char *text, size_t length)
{
    if (length == 0 || strchr("-.", text[0]) || strchr("-.", text[length - 1]))
        return false;
    for (size_t i = 0; i < length; i++) {
        if (!isalnum((unsigned char)text[i]) && !strchr("-_.", text[i]))
            return false;
        if (i && strchr("-.", text[i]) && text[i] == text[i - 1])
            return false;
    }
    return true;
}

static bool is_quant(const char *text)
{
    size_t length = strlen(text);

    for (size_t i = 0; i < length; i++)
        if (!isalnum((unsigned char)text[i]) && !strchr("-_.", text[i]))
            return false;
    return length > 0 && length < HUB_QUANT_BYTES;
}

/* Control characters, those above ASCII (U+0080 to U+009F) included: a terminal
 * would obey them. Bytes that continue a character are none. */
static bool has_control(const char *text)
{
    unsigned char before = 0;

    for (; *text; before = (unsigned char)*text++) {
        unsigned char byte = (unsigned char)*text;

        if (byte < 0x20 || byte == 0x7f ||
            (byte >= 0x80 && byte < 0xa0 && (before < 0x80 || before == 0xc2)))
            return true;
    }
    return false;
}

bool hub_is_file_path(const char *text)
{
    size_t length = strlen(text);
    int folders = -1;

    if (length < 6 || length >= HUB_FILE_BYTES || strcmp(text + length - 5, ".gguf") != 0 ||
        has_control(text) || strpbrk(text, "\\\""))
        return false;
    for (const char *part = text; part; part = strchr(part, '/')) {
        size_t size;

        part += *part == '/' && part != text;
        size = strcspn(part, "/");
        if (size == 0 || size > HUB_PART_MOST || part[0] == '.')
            return false;
        folders++;
    }
    return folders <= HUB_FOLDERS_MOST;
}

static bool copy(char *out, size_t size, const char *text, size_t length)
{
    if (length >= size)
        return false;
    memcpy(out, text, length);
    out[length] = 0;
    return true;
}

static bool parse_short(const char *text, struct hub_spec *out)
{
    size_t length = strcspn(text, ":");

    for (int i = 0; i < SHORT_NAMES; i++) {
        const char *name = short_names[i].name;

        if (strlen(name) != length || strncmp(text, name, length) != 0)
            continue;
        copy(out->repo, sizeof out->repo, short_names[i].repo, strlen(short_names[i].repo));
        return !text[length] ||
               (is_quant(text + length + 1) &&
                copy(out->quant, sizeof out->quant, text + length + 1, strlen(text + length + 1)));
    }
    return false;
}

static bool parse_long(const char *text, struct hub_spec *out)
{
    size_t owner = strcspn(text, "/"), name;
    const char *rest;

    if (text[owner] != '/')
        return false;
    name = strcspn(text + owner + 1, "/:");
    rest = text + owner + 1 + name;
    /* FOLDER/FILE.gguf is a path that leads nowhere, not a repository. */
    if (name > 5 && strncmp(rest - 5, ".gguf", 5) == 0)
        return false;
    if (!is_repo_part(text, owner) || !is_repo_part(text + owner + 1, name) ||
        !copy(out->repo, sizeof out->repo, text, (size_t)(rest - text)))
        return false;
    if (*rest == ':')
        return is_quant(rest + 1) &&
               copy(out->quant, sizeof out->quant, rest + 1, strlen(rest + 1));
    if (*rest == '/')
        return hub_is_file_path(rest + 1) &&
               copy(out->file, sizeof out->file, rest + 1, strlen(rest + 1));
    return true;
}

/* What a browser shows, or another program takes, in place of the name in it. */
static bool is_address(const char *text)
{
    return strstr(text, "://") || strncmp(text, "huggingface.co/", 15) == 0 ||
           strncmp(text, "hf.co/", 6) == 0;
}

enum dllm_status hub_parse(const char *text, struct hub_spec *out, struct dllm_error *error)
{
    *out = (struct hub_spec){0};
    if (parse_short(text, out))
        return DLLM_OK;
    *out = (struct hub_spec){0};
    if (parse_long(text, out))
        return DLLM_OK;
    if (is_address(text))
        return hub_fail(error, DLLM_ERROR_USAGE,
                        "\"%.200s\" is an address; give the model's name alone, OWNER/NAME as in "
                        "huggingface.co/OWNER/NAME",
                        text);
    return hub_fail(error, DLLM_ERROR_USAGE,
                    "\"%.200s\" names no model; expected OWNER/NAME, OWNER/NAME:QUANT, "
                    "OWNER/NAME/FILE.gguf, or one of the short names llada and dream",
                    text);
}
