/* gguf_error.c: messages that say where in which file something is wrong. */
#include "gguf.h"
#include "gguf_parse.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { SHOWN_PATH_BYTES = 300, DETAIL_BYTES = 600, SHOWN_NAME_BYTES = 64 };

const char *gguf_show_name(struct dllm_string name, char *out)
{
    size_t used = 0;

    for (size_t i = 0; i < name.size; i++) {
        unsigned char byte = (unsigned char)name.data[i];

        if (used + 4 > SHOWN_NAME_BYTES) {
            used += (size_t)snprintf(out + used, GGUF_SHOWN_BYTES - used, "...");
            break;
        }
        if (byte >= ' ' && byte <= '~')
            out[used++] = (char)byte;
        else
            used += (size_t)snprintf(out + used, GGUF_SHOWN_BYTES - used, "\\x%02x", byte);
    }
    out[used] = '\0';
    return out;
}

/* "key 3 'general.name'", "key 3" while it has no name, "header". */
static void show_entry(const struct gguf_parser *parser, char *out, size_t size)
{
    char name[GGUF_SHOWN_BYTES];

    if (strcmp(parser->entry_kind, "header") == 0)
        snprintf(out, size, "header");
    else if (parser->entry_name.size == 0)
        snprintf(out, size, "%s %" PRIu64, parser->entry_kind, parser->entry_index);
    else
        snprintf(out, size, "%s %" PRIu64 " '%s'", parser->entry_kind, parser->entry_index,
                 gguf_show_name(parser->entry_name, name));
}

enum dllm_status gguf_fail(struct gguf_parser *parser, enum dllm_status status, uint64_t at,
                           const char *format, ...)
{
    const char *path = gguf_path(parser->file);
    size_t length = strlen(path);
    char entry[GGUF_SHOWN_BYTES + 50], detail[DETAIL_BYTES];
    va_list args;

    va_start(args, format);
    vsnprintf(detail, sizeof detail, format, args);
    va_end(args);
    show_entry(parser, entry, sizeof entry);
    /* Of a very long path the end tells most, and the advice must fit. */
    return status_fail(parser->error, status, "%s%s: %s at byte %" PRIu64 ": %s",
                       length > SHOWN_PATH_BYTES ? "..." : "",
                       length > SHOWN_PATH_BYTES ? path + length - SHOWN_PATH_BYTES : path, entry,
                       at, detail);
}

const char *gguf_show_missing(uint64_t missing, char *out)
{
    static const uint64_t plausible = 1ull << 40;

    if (missing > plausible)
        snprintf(out, GGUF_SHOWN_BYTES, "the file is damaged; download or convert it again");
    else
        snprintf(out, GGUF_SHOWN_BYTES,
                 "the file is cut (%" PRIu64
                 " bytes are missing) or damaged; download or convert it again",
                 missing);
    return out;
}

enum dllm_status gguf_fail_cut(struct gguf_parser *parser, const char *what, uint64_t bytes)
{
    uint64_t left = cursor_left(&parser->cursor);
    char advice[GGUF_SHOWN_BYTES];

    return gguf_fail(parser, DLLM_ERROR_FORMAT, parser->cursor.at,
                     "%s needs %" PRIu64 " bytes where only %" PRIu64 " are left: %s", what, bytes,
                     left, gguf_show_missing(bytes - left, advice));
}
