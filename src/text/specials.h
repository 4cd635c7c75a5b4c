/*
 * specials.h: finds the strings of control and user-defined tokens in text: a
 * trie of their bytes, searched leftmost first, longest on ties.
 */
#ifndef SPECIALS_H
#define SPECIALS_H

#include "vocab.h"

/* A node of the trie: the children are a list of siblings; 0 is the root and
 * ends the lists. */
struct specials_node {
    int32_t id; /* of the token whose string ends here, -1: none */
    uint32_t child, sibling;
    uint8_t byte;
};

struct specials {
    struct specials_node *nodes; /* owned */
    uint32_t count, capacity;
    uint32_t first[256]; /* child of the root by byte, 0: none */
};

/* Collects the control and user-defined tokens of vocab. A string longer than
 * 1,000 bytes is DLLM_ERROR_FORMAT: it would make searches slow. On failure out
 * holds nothing; else free with specials_free. */
enum dllm_status specials_init(const struct vocab *vocab, struct specials *out,
                               struct dllm_error *error);
void specials_free(struct specials *specials);

/* The first special string in text at or after *at: its token, with its place
 * in [*at, *end); -1 and *at = text.size if there is none. control says whether
 * control tokens count; user-defined ones always do. types is the
 * vocabulary's. */
int32_t specials_next(const struct specials *specials, const uint8_t *types,
                      struct dllm_string text, bool control, size_t *at, size_t *end);

#endif
