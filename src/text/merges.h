/*
 * merges.h: the merge rules of BPE: which pairs of symbols become one, and
 * which rule comes first.
 */
#ifndef MERGES_H
#define MERGES_H

#include "vocab.h"

enum { MERGE_NONE = -1 }; /* a rank larger than every rule's when read as unsigned */

/* A rule: its place in the list (lower comes first) and the symbol it gives. */
struct merge {
    uint32_t rank;
    int32_t result;
};

/* A place in the table of rules; pair is left << 32 | right, all ones: free. */
struct merges_slot {
    uint64_t pair;
    struct merge merge;
};

struct merges {
    struct merges_slot *slots; /* [mask + 1], open addressing; owned */
    char *kept;                /* bytes of the symbols that are no tokens; owned */
    int shift;                 /* 64 - log2(mask + 1) */
    uint32_t mask, count;
    int32_t byte_symbols[256]; /* what each byte starts as */
};

/* Reads "left right" rules, best first, and adds the symbols that they need to
 * vocab. Of rules with the same pair the first counts; a rule whose parts never
 * arise is harmless. A rule without a space, or with an empty side, is
 * DLLM_ERROR_FORMAT. vocab must not be searched after
 * the merges are freed. On failure out holds
 * nothing; else free with merges_free. */
enum dllm_status merges_init(const struct dllm_string *rules, size_t count, struct vocab *vocab,
                             struct merges *out, struct dllm_error *error);
void merges_free(struct merges *merges);

/* Where the search for a pair starts. */
static inline uint32_t merges_hash(const struct merges *merges, uint64_t pair)
{
    return (uint32_t)((pair * 0x9E3779B97F4A7C15u) >> merges->shift);
}

/* The slot of a pair, or the free one where it belongs. */
static inline struct merges_slot *merges_find_slot(const struct merges *merges, uint64_t pair)
{
    uint32_t at = merges_hash(merges, pair);

    while (merges->slots[at].pair != pair && merges->slots[at].pair != UINT64_MAX)
        at = (at + 1) & merges->mask;
    return &merges->slots[at];
}

/* The rule for a pair; rank (uint32_t)MERGE_NONE if there is none. */
static inline struct merge merges_find(const struct merges *merges, int32_t left, int32_t right)
{
    return merges_find_slot(merges, (uint64_t)(uint32_t)left << 32 | (uint32_t)right)->merge;
}

#endif
