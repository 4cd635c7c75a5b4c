/*
 * vocab.h: the strings of a vocabulary and an index from string to id. The
 * strings' bytes stay where they are (in the mapped file).
 *
 * BPE needs names for strings that are no tokens, too: a merge may give one on
 * the way to a token. Those are symbols, numbered on from the last token.
 */
#ifndef VOCAB_H
#define VOCAB_H

#include "tokenizer.h"

/* A string in two parts, either of which may be empty, with its hash. */
struct vocab_key {
    struct dllm_string left, right;
    uint64_t sum, hash; /* the hash is the sum with its bits mixed */
};

/* A place in the index: part of the hash, and 1 + the symbol (0: free). */
struct vocab_slot {
    uint32_t tag, symbol_plus_1;
};

struct vocab {
    struct dllm_string *strings; /* [symbol_count], tokens first; owned array */
    uint8_t *types;              /* [token_count], enum token_type; owned */
    struct vocab_slot *slots;    /* [slot_mask + 1], open addressing; owned */
    uint32_t token_count, symbol_count, capacity, slot_mask;
    int32_t byte_ids[256]; /* token that stands for a single byte, -1: none */
};

/* Indexes the tokens. Of tokens with the same string the first is found; an
 * empty string is never found. A type outside enum token_type, no token or too
 * many are errors. On failure out holds nothing; else free with vocab_free. */
enum dllm_status vocab_init(const struct vocabulary *source, struct vocab *out,
                            struct dllm_error *error);
void vocab_free(struct vocab *vocab);

/* Makes a token a control token, whatever the file calls it: before special strings
 * and merges are read. */
void vocab_make_control(struct vocab *vocab, int32_t id);

/* The key of a string, whose bytes must outlive it. */
struct vocab_key vocab_key_of(struct dllm_string text);

/* The key of two strings joined: neither is read again. */
struct vocab_key vocab_key_join(const struct vocab_key *left, const struct vocab_key *right);

/* Asks the processor to fetch what a search for the key will read first. */
void vocab_prefetch(const struct vocab *vocab, const struct vocab_key *key);

/* The symbol of a string, -1 if there is none. */
int32_t vocab_find(const struct vocab *vocab, const struct vocab_key *key);

/* The symbol of a string, made if there is none: it is then copied to *end,
 * where its bytes must outlive the vocabulary, and *end moves behind them. */
enum dllm_status vocab_intern(struct vocab *vocab, const struct vocab_key *key, char **end,
                              int32_t *symbol, struct dllm_error *error);

#endif
