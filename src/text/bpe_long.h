/*
 * bpe_long.h: merging in a piece that is too long to look through again for
 * every merge.
 */
#ifndef BPE_LONG_H
#define BPE_LONG_H

#include "merges.h"

/* Merges symbols [count], count >= 1, one per byte, in place: afterwards the
 * first symbol is at 0 and next[i] is where the symbol after that at i starts;
 * count stands behind the last. count < 2^31. */
enum dllm_status bpe_merge_long(const struct merges *merges, int32_t *symbols, uint32_t *next,
                                uint32_t count, struct dllm_error *error);

#endif
