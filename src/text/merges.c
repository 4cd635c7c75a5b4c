/* merges.c: reads the rules into a hash table of pairs. */
#include "merges.h"

#include "bytemap.h"
#include "utf8.h"

#include <stdlib.h>
#include <string.h>

static enum dllm_status create_table(struct merges *merges, size_t count, struct dllm_error *error)
{
    size_t size = 64;

    merges->shift = 64 - 6;
    /* Most look-ups find nothing; a table mostly free answers them at once. */
    for (; size < 2 * count; size *= 2)
        merges->shift--;
    merges->keys = malloc(size * sizeof *merges->keys);
    merges->values = malloc(size * sizeof *merges->values);
    if (!merges->keys || !merges->values)
        return status_no_memory(error, size * (sizeof *merges->keys + sizeof *merges->values));
    memset(merges->keys, 0xFF, size * sizeof *merges->keys);
    merges->mask = (uint32_t)size - 1;
    merges->count = (uint32_t)count;
    return DLLM_OK;
}

/* Room for every joined string and the 256 characters of bytes. */
static enum dllm_status create_joined(struct merges *merges, const struct dllm_string *rules,
                                      size_t count, struct dllm_error *error)
{
    size_t size = 2 * 256;

    for (size_t i = 0; i < count; i++)
        size += rules[i].size;
    merges->joined = malloc(size);
    return merges->joined ? DLLM_OK : status_no_memory(error, size);
}

/* Adds a rule unless the pair has one already. */
static void put(struct merges *merges, int32_t left, int32_t right, struct merge value)
{
    const uint64_t key = (uint64_t)(uint32_t)left << 32 | (uint32_t)right;
    uint32_t at = merges_slot(merges, key);

    while (merges->keys[at] != UINT64_MAX) {
        if (merges->keys[at] == key)
            return;
        at = (at + 1) & merges->mask;
    }
    merges->keys[at] = key;
    merges->values[at] = value;
}

static enum dllm_status split_rule(struct dllm_string rule, size_t index, struct dllm_string *left,
                                   struct dllm_string *right, struct dllm_error *error)
{
    const char *space = rule.size > 2 ? memchr(rule.data + 1, ' ', rule.size - 2) : NULL;

    if (!space)
        return status_fail(error, DLLM_ERROR_FORMAT,
                           "merge %zu of tokenizer.ggml.merges is \"%.*s\"; expected two symbols "
                           "with a space between: the file is damaged, convert it again",
                           index, (int)MIN(rule.size, 60), rule.data);
    *left = (struct dllm_string){rule.data, (size_t)(space - rule.data)};
    *right = (struct dllm_string){space + 1, rule.size - left->size - 1};
    return DLLM_OK;
}

/* The symbols of bytes; *end moves past the characters that had to be kept. */
static enum dllm_status intern_bytes(struct merges *merges, struct vocab *vocab, char **end,
                                     struct dllm_error *error)
{
    for (int byte = 0; byte < 256; byte++) {
        struct dllm_string text = {*end, 0};
        char wide[4];
        bool made;

        text.size = (size_t)utf8_write(bytemap_code_point((uint8_t)byte), wide);
        memcpy(*end, wide, text.size);
        TRY(vocab_intern(vocab, text, &merges->byte_symbols[byte], &made, error));
        *end += made ? text.size : 0;
    }
    return DLLM_OK;
}

/* Reads one rule. The joined string is written at *end, which moves past it
 * only if it is a new symbol. */
static enum dllm_status read_rule(struct merges *merges, struct vocab *vocab,
                                  struct dllm_string rule, uint32_t rank, char **end,
                                  struct dllm_error *error)
{
    struct dllm_string left, right, whole = {*end, rule.size - 1};
    int32_t left_symbol, right_symbol, result;
    bool made;

    TRY(split_rule(rule, rank, &left, &right, error));
    TRY(vocab_intern(vocab, left, &left_symbol, NULL, error));
    TRY(vocab_intern(vocab, right, &right_symbol, NULL, error));
    memcpy(*end, left.data, left.size);
    memcpy(*end + left.size, right.data, right.size);
    TRY(vocab_intern(vocab, whole, &result, &made, error));
    *end += made ? whole.size : 0;
    put(merges, left_symbol, right_symbol, (struct merge){rank, result});
    return DLLM_OK;
}

enum dllm_status merges_init(const struct dllm_string *rules, size_t count, struct vocab *vocab,
                             struct merges *out, struct dllm_error *error)
{
    enum dllm_status status;
    char *end;

    *out = (struct merges){0};
    if (count > INT32_MAX / 4)
        return status_fail(error, DLLM_ERROR_FORMAT,
                           "tokenizer.ggml.merges has %zu rules; expected at most %d: the file is "
                           "damaged, fetch it again",
                           count, INT32_MAX / 4);
    TRY_GOTO(create_table(out, count, error));
    TRY_GOTO(create_joined(out, rules, count, error));
    end = out->joined;
    TRY_GOTO(intern_bytes(out, vocab, &end, error));
    for (size_t i = 0; i < count; i++)
        TRY_GOTO(read_rule(out, vocab, rules[i], (uint32_t)i, &end, error));
    return DLLM_OK;
fail:
    merges_free(out);
    return status;
}

void merges_free(struct merges *merges)
{
    free(merges->keys);
    free(merges->values);
    free(merges->joined);
    *merges = (struct merges){0};
}
