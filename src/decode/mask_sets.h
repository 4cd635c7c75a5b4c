/*
 * mask_sets.h: sets of masked tokens that were met before, and the losses of their
 * samples: short answers have few sets, and those of one token or of all come again
 * in any.
 */
#ifndef MASK_SETS_H
#define MASK_SETS_H

#include "status.h"

/* How many sets are remembered from batch to batch: looking through them takes far less
 * than a pass. */
enum { MASK_SETS_MOST = 1024 };

struct mask_sets {
    int words;      /* of a set */
    int count;      /* at most MASK_SETS_MOST + batch */
    uint64_t *bits; /* [count, words]; bit i of a set: token i is masked */
    double *losses; /* [count] */
};

/* For answers of so many tokens and batches of so many samples. Free with
 * mask_sets_free, which takes a zeroed record. */
enum dllm_status mask_sets_create(struct mask_sets *sets, int tokens, int batch,
                                  struct dllm_error *error);
void mask_sets_free(struct mask_sets *sets);

/* The number of the set of the masks in answer [tokens]; *added says whether it is a
 * new one, whose loss is the caller's to fill in. Numbers hold until
 * mask_sets_end_batch. */
int mask_sets_find(struct mask_sets *sets, const int32_t *answer, int tokens, int32_t mask_id,
                   bool *added);

/* Forgets what is too much to remember. */
void mask_sets_end_batch(struct mask_sets *sets);

#endif
