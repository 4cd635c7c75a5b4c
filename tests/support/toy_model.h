/*
 * toy_model.h: a closed-form model of twelve ids that drives the denoising
 * loop in tests: a row's logits depend on the ids left and right of it.
 */
#ifndef TOY_MODEL_H
#define TOY_MODEL_H

#include "denoise.h"
#include "score.h"

enum { TOY_VOCAB = 12, TOY_MASK = 11, TOY_EOS = 9, TOY_EOT = 10 };

struct toy_model {
    float scale;
    int calls;            /* of the score function */
    int rows;             /* scored by all of them */
    int fail_at;          /* the call (1 is the first) whose logits are NaN; 0: none */
    bool mask_in_softmax; /* as in the published code: the mask's logit (too low to be chosen
                             here) takes part in every softmax, where dllm leaves it out */
    bool only_masks;      /* all logits but the mask's are -infinity */
    bool flat;            /* all logits but the mask's are equal */
};

/* Logits [TOY_VOCAB] of row p of a pass over ids [length]. */
void toy_logits(const struct toy_model *toy, const int32_t *ids, int length, int p, float *logits);

/* The model as the loop sees it, LLaDA's or Dream's (with shift). */
struct denoise_model toy_denoise_model(struct toy_model *toy, bool dream);

/* The same for the likelihood; its logits are those of the row, the mask's included. */
struct score_model toy_score_model(struct toy_model *toy, bool shift);

#endif
