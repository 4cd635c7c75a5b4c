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

/* The symbol of a string, -1 if there is none. */
int32_t vocab_find(const struct vocab *vocab, struct dllm_string text);

/* The symbol of a string, made if there is none; its bytes must outlive the
 * vocabulary. *made (may be NULL) says whether it is new. */
enum dllm_status vocab_intern(struct vocab *vocab, struct dllm_string text, int32_t *symbol,
                              bool *made, struct dllm_error *error);

#endif
