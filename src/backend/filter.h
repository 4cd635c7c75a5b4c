/*
 * filter.h: top-p and top-k of Dream's sampler (samplers' rules: mass before a
 * token decides, ties at a top-p cut survive lowest id first, ties at the k-th
 * logit all survive).
 *
 * The order of a row is by falling logit, then rising id, and what survives is
 * always a head of that order; so a filter is the last token that survives.
 * The vocabulary is not sorted: tokens are counted into buckets by their
 * distance from the best, and only the bucket where the cut falls is ordered.
 */
#ifndef FILTER_H
#define FILTER_H

#include <stddef.h>
#include <stdint.h>

/* A row and its un-normalised probabilities. */
struct filter_row {
    const float *logits; /* [vocab], -infinity for what can never be chosen */
    double *weights;     /* [vocab] e^((logit - max) * scale) */
    int vocab;
    double max;   /* largest logit */
    double scale; /* 1 / temperature */
    double total; /* sum of weights */
};

/* Sets the weights of removed tokens to 0 and returns how many tokens survive: at
 * least 1, the best; a weight that is too small for a double may be 0 too. top_p >= 1
 * and top_k 0 are off; a top_p of 0 or less keeps the best token alone. top_p counts
 * mass of the whole row, then top_k counts what top_p left. scratch holds
 * filter_scratch_bytes(vocab) bytes, 8-byte aligned. */
int filter_apply(const struct filter_row *row, double top_p, int top_k, void *scratch);

/* Bytes of scratch that filter_apply needs. */
size_t filter_scratch_bytes(int vocab);

#endif
