/* vocab.c: a hash index over strings that lie elsewhere. */
#include "vocab.h"

#include "bytemap.h"
#include "utf8.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Ids are i32, and there may be three more symbols for each merge. */
enum { MAX_TOKENS = 1 << 28 };

static uint64_t load_bytes(const char *data, size_t size)
{
    uint64_t value = 0;

    memcpy(&value, data, size);
    return value;
}

static uint64_t hash_string(struct dllm_string text)
{
    const uint64_t odd = 0x9E3779B97F4A7C15u;
    uint64_t hash = text.size * odd;
    size_t at = 0;

    for (; text.size - at >= 8; at += 8) {
        hash = (hash ^ load_bytes(text.data + at, 8)) * odd;
        hash ^= hash >> 29;
    }
    hash = (hash ^ load_bytes(text.data + at, text.size - at)) * odd;
    return hash ^ hash >> 32;
}

/* The slot where the string is, or the free one where it belongs. */
static struct vocab_slot *find_slot(const struct vocab *vocab, struct dllm_string text,
                                    uint64_t hash)
{
    const uint32_t tag = (uint32_t)(hash >> 32);

    for (uint32_t at = (uint32_t)hash & vocab->slot_mask;; at = (at + 1) & vocab->slot_mask) {
        struct vocab_slot *slot = &vocab->slots[at];
        const struct dllm_string *held;

        if (!slot->symbol_plus_1)
            return slot;
        held = &vocab->strings[slot->symbol_plus_1 - 1];
        if (slot->tag == tag && held->size == text.size &&
            !memcmp(held->data, text.data, text.size))
            return slot;
    }
}

int32_t vocab_find(const struct vocab *vocab, struct dllm_string text)
{
    if (text.size == 0)
        return -1;
    return (int32_t)find_slot(vocab, text, hash_string(text))->symbol_plus_1 - 1;
}

/* Makes an index with at least twice as many places as strings. */
static enum dllm_status resize_index(struct vocab *vocab, size_t strings, struct dllm_error *error)
{
    struct vocab_slot *old = vocab->slots;
    const uint32_t old_mask = vocab->slot_mask;
    size_t size = 64;

    while (size < 2 * strings)
        size *= 2;
    vocab->slots = calloc(size, sizeof *vocab->slots);
    if (!vocab->slots) {
        vocab->slots = old;
        return status_no_memory(error, size * sizeof *vocab->slots);
    }
    vocab->slot_mask = (uint32_t)size - 1;
    for (uint32_t i = 0; old && i <= old_mask; i++) {
        if (old[i].symbol_plus_1) {
            struct dllm_string text = vocab->strings[old[i].symbol_plus_1 - 1];

            *find_slot(vocab, text, hash_string(text)) = old[i];
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

enum dllm_status vocab_intern(struct vocab *vocab, struct dllm_string text, int32_t *symbol,
                              bool *made, struct dllm_error *error)
{
    const uint64_t hash = hash_string(text);
    struct vocab_slot *slot = find_slot(vocab, text, hash);

    if (made)
        *made = !slot->symbol_plus_1;
    if (!slot->symbol_plus_1) {
        if (vocab->symbol_count == vocab->capacity) {
            TRY(grow(vocab, error));
            slot = find_slot(vocab, text, hash);
        }
        vocab->strings[vocab->symbol_count++] = text;
        *slot = (struct vocab_slot){(uint32_t)(hash >> 32), vocab->symbol_count};
    }
    *symbol = (int32_t)slot->symbol_plus_1 - 1;
    return DLLM_OK;
}

static void index_tokens(struct vocab *vocab)
{
    for (uint32_t i = 0; i < vocab->token_count; i++) {
        const struct dllm_string text = vocab->strings[i];
        const uint64_t hash = text.size ? hash_string(text) : 0;
        struct vocab_slot *slot = text.size ? find_slot(vocab, text, hash) : NULL;

        if (slot && !slot->symbol_plus_1)
            *slot = (struct vocab_slot){(uint32_t)(hash >> 32), i + 1};
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

/* Finds the token of each byte: its character as a normal token, else a byte
 * token such as <0x41>. */
static void find_byte_ids(struct vocab *vocab)
{
    for (int byte = 0; byte < 256; byte++) {
        char text[8];
        int size = utf8_write(bytemap_code_point((uint8_t)byte), text);
        int32_t id = vocab_find(vocab, (struct dllm_string){text, (size_t)size});

        if (id < 0 || vocab->types[id] != TOKEN_NORMAL) {
            size = snprintf(text, sizeof text, "<0x%02X>", (unsigned)byte);
            id = vocab_find(vocab, (struct dllm_string){text, (size_t)size});
            if (id >= 0 && vocab->types[id] != TOKEN_BYTE)
                id = -1;
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

void vocab_free(struct vocab *vocab)
{
    free(vocab->strings);
    free(vocab->types);
    free(vocab->slots);
    *vocab = (struct vocab){0};
}
