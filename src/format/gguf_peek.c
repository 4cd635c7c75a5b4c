/* gguf_peek.c: looks for a key in the first bytes of a file. */
#include "gguf.h"
#include "gguf_parse.h"

#include <string.h>

/* What does not fit in the bytes cannot be told from what is damaged: the reader
 * of the whole file will. */
static void find_string(struct gguf_parser *parser, const char *key, struct dllm_string *out)
{
    struct dllm_key entry;

    if (!cursor_take(&parser->cursor, 8) || !cursor_u64(&parser->cursor, &parser->tensor_count) ||
        !cursor_u64(&parser->cursor, &parser->key_count))
        return;
    for (uint64_t i = 0; i < parser->key_count; i++) {
        if (gguf_read_key(parser, &entry) != DLLM_OK)
            return;
        if (entry.name.size != strlen(key) || memcmp(entry.name.data, key, entry.name.size) != 0)
            continue;
        if (entry.value.type == DLLM_VALUE_STRING)
            *out = entry.value.s;
        return;
    }
}

enum dllm_status gguf_peek_string(const char *name, const void *data, uint64_t size,
                                  const char *key, struct dllm_string *out,
                                  struct dllm_error *error)
{
    struct dllm_file file = {.path = (char *)name, .data = data, .size = size};
    struct dllm_error unused;
    struct gguf_parser parser = {
        .file = &file, .cursor = {data, size, 0}, .error = error, .entry_kind = "header"};

    *out = (struct dllm_string){NULL, 0};
    TRY(gguf_check_magic(&parser));
    parser.error = &unused;
    find_string(&parser, key, out);
    return DLLM_OK;
}
