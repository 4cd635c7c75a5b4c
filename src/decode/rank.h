/*
 * rank.h: the order in which candidates are committed.
 */
#ifndef RANK_H
#define RANK_H

#include "pick.h"

#include <stdint.h>

/* A candidate's place; index is its place among the candidates, which ascend
 * by position. */
struct rank {
    double key; /* larger comes first */
    double confidence;
    int32_t index;
};

/* Sorts by falling key, then falling confidence, then rising index, in place
 * and without allocating. No key is NaN. */
void rank_sort(struct rank *ranks, int count);

/* Ranks picks [count] by confidence into ranks [count]. */
void rank_by_confidence(const struct pick *picks, int count, struct rank *ranks);

/* Draws `chosen` of ranks [count] without replacement, each next one with
 * probability proportional to softmax(confidence / alg_temp) over those that
 * remain; candidates whose weight is zero come last, by confidence. The drawn
 * are then the head of ranks, the surest first. positions [count] belong to
 * the indices; the noise is draw PICK_DRAW_ALG of rules' seed and step. */
void rank_draw(struct rank *ranks, int count, int chosen, double alg_temp, const int32_t *positions,
               const struct pick_rules *rules);

#endif
