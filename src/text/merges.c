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

/* Room for every string that may have to be kept: of a rule's left side, right
 * side and both, and of the bytes. */
static enum dllm_status create_kept(struct merges *merges, const struct dllm_string *rules,
                                    size_t count, struct dllm_error *error)
{
    size_t size = 2 * 256;

    for (size_t i = 0; i < count; i++)
        size += 2 * rules[i].size;
    merges->kept = malloc(size);
    return merges->kept ? DLLM_OK : status_no_memory(error, size);
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

/* A rule on its way into the table. */
struct rule {
    struct vocab_key left, right, joined;
};

/* Splits a rule and asks for the places that reading it will look at. */
static enum dllm_status prepare_rule(const struct vocab *vocab, struct dllm_string text,
                                     size_t index, struct rule *out, struct dllm_error *error)
{
    const char *space = text.size > 2 ? memchr(text.data + 1, ' ', text.size - 2) : NULL;
    size_t left;

    if (!space)
        return status_fail(error, DLLM_ERROR_FORMAT,
                           "merge %zu of tokenizer.ggml.merges is \"%.*s\"; expected two symbols "
                           "with a space between: the file is damaged, convert it again",
                           index, (int)MIN(text.size, 60), text.data);
    left = (size_t)(space - text.data);
    out->left = vocab_key_of((struct dllm_string){text.data, left});
    out->right = vocab_key_of((struct dllm_string){space + 1, text.size - left - 1});
    out->joined = vocab_key_join(&out->left, &out->right);
    vocab_prefetch(vocab, &out->left);
    vocab_prefetch(vocab, &out->right);
    vocab_prefetch(vocab, &out->joined);
    return DLLM_OK;
}

static enum dllm_status read_rule(struct merges *merges, struct vocab *vocab,
                                  const struct rule *rule, uint32_t rank, char **end,
                                  struct dllm_error *error)
{
    int32_t left, right, result;

    TRY(vocab_intern(vocab, &rule->left, end, &left, error));
    TRY(vocab_intern(vocab, &rule->right, end, &right, error));
    TRY(vocab_intern(vocab, &rule->joined, end, &result, error));
    put(merges, left, right, (struct merge){rank, result});
    return DLLM_OK;
}

static enum dllm_status read_rules(struct merges *merges, struct vocab *vocab,
                                   const struct dllm_string *rules, char **end,
                                   struct dllm_error *error)
{
    enum { AHEAD = 8 };
    struct rule ring[AHEAD];

    for (uint32_t i = 0; i < merges->count + AHEAD; i++) {
        if (i >= AHEAD)
            TRY(read_rule(merges, vocab, &ring[i % AHEAD], i - AHEAD, end, error));
        if (i < merges->count)
            TRY(prepare_rule(vocab, rules[i], i, &ring[i % AHEAD], error));
    }
    return DLLM_OK;
}

/* The symbols that bytes start as. */
static enum dllm_status intern_bytes(struct merges *merges, struct vocab *vocab, char **end,
                                     struct dllm_error *error)
{
    for (int byte = 0; byte < 256; byte++) {
        char text[4];
        size_t size = (size_t)utf8_write(bytemap_code_point((uint8_t)byte), text);
        struct vocab_key key = vocab_key_of((struct dllm_string){text, size});

        TRY(vocab_intern(vocab, &key, end, &merges->byte_symbols[byte], error));
    }
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
    TRY_GOTO(create_kept(out, rules, count, error));
    end = out->kept;
    TRY_GOTO(intern_bytes(out, vocab, &end, error));
    TRY_GOTO(read_rules(out, vocab, rules, &end, error));
    return DLLM_OK;
fail:
    merges_free(out);
    return status;
}

void merges_free(struct merges *merges)
{
    free(merges->keys);
    free(merges->values);
    free(merges->kept);
    *merges = (struct merges){0};
}
