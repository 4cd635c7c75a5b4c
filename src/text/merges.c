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
    for (; size * 2 < 3 * count; size *= 2)
        merges->shift--;
    merges->slots = malloc(size * sizeof *merges->slots);
    if (!merges->slots)
        return status_no_memory(error, size * sizeof *merges->slots);
    /* Free slots, and the rule that is found in them: MERGE_NONE is all ones, too. */
    memset(merges->slots, 0xFF, size * sizeof *merges->slots);
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

/* A rule on its way into the table. */
struct rule {
    struct vocab_key left, right, joined;
    uint64_t pair;
    struct merge merge;
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

/* Finds a rule's symbols and asks for its slot. */
static enum dllm_status resolve_rule(const struct merges *merges, struct vocab *vocab,
                                     struct rule *rule, char **end, struct dllm_error *error)
{
    int32_t left, right;

    TRY(vocab_intern(vocab, &rule->left, end, &left, error));
    TRY(vocab_intern(vocab, &rule->right, end, &right, error));
    TRY(vocab_intern(vocab, &rule->joined, end, &rule->merge.result, error));
    rule->pair = (uint64_t)(uint32_t)left << 32 | (uint32_t)right;
    __builtin_prefetch(&merges->slots[merges_hash(merges, rule->pair)]);
    return DLLM_OK;
}

/* Adds a rule unless its pair has one already. */
static void put_rule(struct merges *merges, const struct rule *rule)
{
    struct merges_slot *slot = merges_find_slot(merges, rule->pair);

    if (slot->pair != rule->pair)
        *slot = (struct merges_slot){rule->pair, rule->merge};
}

/* Takes rules through three stages, several apart, so that memory has answered
 * when the next stage reads it. */
static enum dllm_status read_rules(struct merges *merges, struct vocab *vocab,
                                   const struct dllm_string *rules, char **end,
                                   struct dllm_error *error)
{
    enum { AHEAD = 8, RING = 2 * AHEAD };
    struct rule ring[RING];

    for (uint32_t i = 0; i < merges->count + RING; i++) {
        if (i >= RING)
            put_rule(merges, &ring[i % RING]);
        if (i >= AHEAD && i - AHEAD < merges->count) {
            struct rule *rule = &ring[(i - AHEAD) % RING];

            TRY(resolve_rule(merges, vocab, rule, end, error));
            rule->merge.rank = i - AHEAD;
        }
        if (i < merges->count)
            TRY(prepare_rule(vocab, rules[i], i, &ring[i % RING], error));
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
    free(merges->slots);
    free(merges->kept);
    *merges = (struct merges){0};
}
