/* vocab.c: a hash index over strings that lie elsewhere. */
#include "vocab.h"

#include "bytemap.h"
#include "utf8.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Ids are i32, and there may be three more symbols for each merge. */
enum { MAX_TOKENS = 1 << 28 };

/* Strings are hashed as numbers in a large odd base, modulo 2^64, so that the
 * sum of two strings joined follows from theirs. */
static const uint64_t base = 0x9E3779B97F4A7C15u;

static uint64_t mix(uint64_t sum)
{
    sum = (sum ^ sum >> 31) * 0xD6E8FEB86659FD93u;
    return sum ^ sum >> 32;
}

struct vocab_key vocab_key_of(struct dllm_string text)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < text.size; i++)
        sum = (sum + (uint8_t)text.data[i] + 1) * base;
    return (struct vocab_key){text, {NULL, 0}, sum, mix(sum)};
}

struct vocab_key vocab_key_join(const struct vocab_key *left, const struct vocab_key *right)
{
    uint64_t sum = left->sum;

    for (size_t i = 0; i < right->left.size; i++)
        sum *= base;
    sum += right->sum;
    return (struct vocab_key){left->left, right->left, sum, mix(sum)};
}

static bool equals(struct dllm_string text, const struct vocab_key *key)
{
    return text.size == key->left.size + key->right.size &&
           !memcmp(text.data, key->left.data, key->left.size) &&
           (!key->right.size ||
            !memcmp(text.data + key->left.size, key->right.data, key->right.size));
}

/* The slot where the string is, or the free one where it belongs. */
static struct vocab_slot *find_slot(const struct vocab *vocab, const struct vocab_key *key)
{
    const uint32_t tag = (uint32_t)(key->hash >> 32);

    for (uint32_t at = (uint32_t)key->hash & vocab->slot_mask;; at = (at + 1) & vocab->slot_mask) {
        struct vocab_slot *slot = &vocab->slots[at];

        if (!slot->symbol_plus_1 ||
            (slot->tag == tag && equals(vocab->strings[slot->symbol_plus_1 - 1], key)))
            return slot;
    }
}

void vocab_prefetch(const struct vocab *vocab, const struct vocab_key *key)
{
    __builtin_prefetch(&vocab->slots[(uint32_t)key->hash & vocab->slot_mask]);
}

int32_t vocab_find(const struct vocab *vocab, const struct vocab_key *key)
{
    if (key->left.size == 0)
        return -1;
    return (int32_t)find_slot(vocab, key)->symbol_plus_1 - 1;
}

/* Makes an index with at least one and a half times as many places as strings. */
static enum dllm_status resize_index(struct vocab *vocab, size_t strings, struct dllm_error *error)
{
    struct vocab_slot *old = vocab->slots;
    const uint32_t old_mask = vocab->slot_mask;
    size_t size = 64;

    while (size * 2 < 3 * strings)
        size *= 2;
    vocab->slots = calloc(size, sizeof *vocab->slots);
    if (!vocab->slots) {
        vocab->slots = old;
        return status_no_memory(error, size * sizeof *vocab->slots);
    }
    vocab->slot_mask = (uint32_t)size - 1;
    for (uint32_t i = 0; old && i <= old_mask; i++) {
        if (old[i].symbol_plus_1) {
            struct vocab_key key = vocab_key_of(vocab->strings[old[i].symbol_plus_1 - 1]);

            *find_slot(vocab, &key) = old[i];
        }
    }
    free(old);
    return DLLM_OK;
}

static enum dllm_status grow(struct vocab *vocab, struct dllm_error *error)
{
    const size_t capacity = vocab->capacity + (size_t)vocab->capacity / 2 + 64;
    struct dllm_string *strings;

    if (capacity > INT32_MAX)
        return status_fail(error, DLLM_ERROR_FORMAT,
                           "the merges name more than %d strings; expected about one per merge: "
                           "the file is damaged, fetch it again",
                           INT32_MAX);
    strings = realloc(vocab->strings, capacity * sizeof *strings);
    if (!strings)
        return status_no_memory(error, capacity * sizeof *strings);
    vocab->strings = strings;
    vocab->capacity = (uint32_t)capacity;
    return resize_index(vocab, capacity, error);
}

enum dllm_status vocab_intern(struct vocab *vocab, const struct vocab_key *key, char **end,
                              int32_t *symbol, struct dllm_error *error)
{
    struct vocab_slot *slot = find_slot(vocab, key);

    if (!slot->symbol_plus_1) {
        if (vocab->symbol_count == vocab->capacity) {
            TRY(grow(vocab, error));
            slot = find_slot(vocab, key);
        }
        vocab->strings[vocab->symbol_count++] =
            (struct dllm_string){*end, key->left.size + key->right.size};
        *slot = (struct vocab_slot){(uint32_t)(key->hash >> 32), vocab->symbol_count};
        memcpy(*end, key->left.data, key->left.size);
        if (key->right.size)
            memcpy(*end + key->left.size, key->right.data, key->right.size);
        *end += key->left.size + key->right.size;
    }
    *symbol = (int32_t)slot->symbol_plus_1 - 1;
    return DLLM_OK;
}

/* Enters the tokens, each some time after its slot was asked for. */
static void index_tokens(struct vocab *vocab)
{
    enum { AHEAD = 16 };
    struct vocab_key keys[AHEAD];

    for (uint32_t i = 0; i < vocab->token_count + AHEAD; i++) {
        struct vocab_key *key = &keys[i % AHEAD];

        if (i >= AHEAD && key->left.size > 0) {
            struct vocab_slot *slot = find_slot(vocab, key);

            if (!slot->symbol_plus_1)
                *slot = (struct vocab_slot){(uint32_t)(key->hash >> 32), i - AHEAD + 1};
        }
        if (i < vocab->token_count) {
            *key = vocab_key_of(vocab->strings[i]);
            vocab_prefetch(vocab, key);
        }
    }
}

static enum dllm_status copy_types(struct vocab *vocab, const int32_t *types,
                                   struct dllm_error *error)
{
    memset(vocab->types, TOKEN_NORMAL, vocab->token_count);
    for (uint32_t i = 0; types && i < vocab->token_count; i++) {
        if (types[i] < TOKEN_NORMAL || types[i] > TOKEN_BYTE)
            return status_fail(error, DLLM_ERROR_FORMAT,
                               "token %u has type %d in tokenizer.ggml.token_type; expected %d to "
                               "%d: the file is damaged or of a newer kind, convert it again",
                               i, types[i], TOKEN_NORMAL, TOKEN_BYTE);
        vocab->types[i] = (uint8_t)types[i];
    }
    return DLLM_OK;
}

/* The token with that string and type, -1 if there is none. */
static int32_t find_typed(const struct vocab *vocab, const char *text, int size,
                          enum token_type type)
{
    const struct vocab_key key = vocab_key_of((struct dllm_string){text, (size_t)size});
    const int32_t id = vocab_find(vocab, &key);

    return id >= 0 && vocab->types[id] == type ? id : -1;
}

/* Finds the token of each byte: its character as a normal token, else a byte
 * token such as <0x41>. */
static void find_byte_ids(struct vocab *vocab)
{
    for (int byte = 0; byte < 256; byte++) {
        char text[8];
        int size = utf8_write(bytemap_code_point((uint8_t)byte), text);
        int32_t id = find_typed(vocab, text, size, TOKEN_NORMAL);

        if (id < 0) {
            size = snprintf(text, sizeof text, "<0x%02X>", (unsigned)byte);
            id = find_typed(vocab, text, size, TOKEN_BYTE);
        }
        vocab->byte_ids[byte] = id;
    }
}

enum dllm_status vocab_init(const struct vocabulary *source, struct vocab *out,
                            struct dllm_error *error)
{
    const size_t count = source->token_count;
    enum dllm_status status;

    *out = (struct vocab){0};
    if (count == 0 || count > MAX_TOKENS)
        return status_fail(error, DLLM_ERROR_FORMAT,
                           "the vocabulary has %zu tokens; expected 1 to %d: the file is damaged "
                           "or not a language model",
                           count, MAX_TOKENS);
    out->strings = malloc(count * sizeof *out->strings);
    out->types = malloc(count);
    if (!out->strings || !out->types) {
        status = status_no_memory(error, count * sizeof *out->strings);
        goto fail;
    }
    memcpy(out->strings, source->tokens, count * sizeof *out->strings);
    out->token_count = out->symbol_count = out->capacity = (uint32_t)count;
    TRY_GOTO(copy_types(out, source->types, error));
    TRY_GOTO(resize_index(out, count, error));
    index_tokens(out);
    find_byte_ids(out);
    return DLLM_OK;
fail:
    vocab_free(out);
    return status;
}

void vocab_make_control(struct vocab *vocab, int32_t id)
{
    if (vocab->types[id] == TOKEN_CONTROL)
        return;
    vocab->types[id] = TOKEN_CONTROL;
    find_byte_ids(vocab); /* it may have been a byte's */
}

void vocab_free(struct vocab *vocab)
{
    free(vocab->strings);
    free(vocab->types);
    free(vocab->slots);
    *vocab = (struct vocab){0};
}
