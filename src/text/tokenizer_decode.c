/* tokenizer_decode.c: ids to text. */
#include "bytemap.h"
#include "tokenizer_parts.h"

#include <stdlib.h>
#include <string.h>

/* The byte of a token such as <0x41>, -1 if the string is not of that form. */
static int parse_byte(struct dllm_string text)
{
    static const char digits[] = "0123456789ABCDEF";
    const char *high, *low;

    if (text.size != 6 || memcmp(text.data, "<0x", 3) != 0 || text.data[5] != '>' ||
        !text.data[3] || !text.data[4])
        return -1;
    high = strchr(digits, text.data[3]);
    low = strchr(digits, text.data[4]);
    return high && low ? (int)((high - digits) * 16 + (low - digits)) : -1;
}

/* The bytes of a token, written to out unless that is NULL; returns their number. */
static size_t decode_token(const struct vocab *vocab, int32_t id, bool show_control, char *out)
{
    const struct dllm_string text = vocab->strings[id];
    int byte;

    switch ((enum token_type)vocab->types[id]) {
    case TOKEN_NORMAL:
        return bytemap_decode(text, out);
    case TOKEN_BYTE:
        byte = parse_byte(text);
        if (out && byte >= 0)
            *out = (char)byte;
        return byte >= 0;
    case TOKEN_UNUSED:
    case TOKEN_CONTROL:
    case TOKEN_UNKNOWN:
        if (!show_control)
            return 0;
        break;
    case TOKEN_USER_DEFINED:
        break;
    }
    if (out && text.size)
        memcpy(out, text.data, text.size);
    return text.size;
}

static enum dllm_status check_ids(const struct vocab *vocab, const int32_t *ids, size_t count,
                                  struct dllm_error *error)
{
    for (size_t i = 0; i < count; i++)
        if (ids[i] < 0 || (uint32_t)ids[i] >= vocab->token_count)
            return status_fail(error, DLLM_ERROR_USAGE,
                               "token id %d (number %zu in the list) is not in the vocabulary; "
                               "expected 0 to %u: check the ids",
                               ids[i], i, vocab->token_count - 1);
    return DLLM_OK;
}

enum dllm_status tokenizer_decode(const struct tokenizer *tokenizer, const int32_t *ids,
                                  size_t count, bool show_control, struct dllm_text *out,
                                  struct dllm_error *error)
{
    const struct vocab *vocab = &tokenizer->vocab;
    size_t size = 0;
    char *data;

    TRY(check_ids(vocab, ids, count, error));
    for (size_t i = 0; i < count; i++)
        size += decode_token(vocab, ids[i], show_control, NULL);
    data = malloc(size + 1);
    if (!data)
        return status_no_memory(error, size + 1);
    *out = (struct dllm_text){data, size};
    for (size_t i = 0; i < count; i++)
        data += decode_token(vocab, ids[i], show_control, data);
    *data = '\0';
    return DLLM_OK;
}

bool tokenizer_has_text(const struct tokenizer *tokenizer, int32_t id)
{
    return decode_token(&tokenizer->vocab, id, true, NULL) > 0;
}
