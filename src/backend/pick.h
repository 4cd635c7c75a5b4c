/*
 * pick.h: from a row of logits to a token and how sure it is: the rules of
 * samplers.md (ties, LLaDA's Gumbel choice, Dream's filters and draws). A pure
 * function of the row, the rules and the random counter.
 *
 * It sits below the decoder so that full rows of logits stay where they were
 * computed.
 */
#ifndef PICK_H
#define PICK_H

#include "status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Which draw of rng_uniform(seed, step, position, draw) means what. Draws below
 * PICK_DRAW_TOKEN are the noise of the vocabulary entry of that number. */
enum {
    PICK_DRAW_TOKEN = 0x7fffff00, /* Dream's token, by inverse CDF */
    PICK_DRAW_REMASK,             /* random confidence; origin's coin */
    PICK_DRAW_ALG                 /* the noise of alg-temp's draw of positions */
};

enum pick_method {
    PICK_LLADA, /* argmax of l - T ln(-ln u); confidence from the plain softmax */
    PICK_DREAM  /* l / T, top-p, top-k, softmax; draw or argmax; confidence from the same row */
};

enum pick_confidence {
    PICK_PROBABILITY, /* of the token; with LLaDA among all but the deferred ids */
    PICK_MARGIN,      /* first minus second probability (Dream only) */
    PICK_NEG_ENTROPY, /* sum p ln(p + 1e-10); with LLaDA deferred ids have their p too */
    PICK_UNIFORM      /* draw PICK_DRAW_REMASK, for random remasking */
};

/* Rules of one step, shared by all its rows. */
struct pick_rules {
    enum pick_method method;
    enum pick_confidence confidence;
    double temperature;    /* >= 0 */
    double top_p;          /* >= 1: off (Dream only) */
    int top_k;             /* 0: off (Dream only) */
    const int32_t *banned; /* ids whose logit counts as -inf before all else */
    int banned_count;
    const int32_t *deferred; /* LLaDA's: a place that wants one of these ids has confidence 0 */
    int deferred_count;
    bool runner_up; /* also wanted: the runner-up and its probability */
    bool gap;       /* also wanted: the gap */
    uint64_t seed;
    uint32_t step; /* for the random counter and messages */
};

struct pick {
    int32_t token;
    double confidence; /* by rules->confidence */
    /* Of the token: LLaDA's plain softmax, deferred ids in it, or Dream's filtered one. With
     * deferred ids it is computed for rules->runner_up alone, else 0. */
    double probability;
    /* With rules->runner_up, the id with the highest finite logit besides the token, neither
     * banned nor filtered; -1 if there is none. Its probability comes from the same softmax. */
    int32_t runner_up;
    double runner_up_probability;
    double gap; /* with rules->gap: between the two highest logits that are not banned; infinite if
                   only one is finite */
};

/* logits is [vocab] f32, vocab below PICK_DRAW_TOKEN. position feeds the random
 * counter and messages. scratch holds pick_scratch_bytes(vocab) bytes, 64-byte
 * aligned; rows scored at the same time need one each. Banned and deferred ids
 * outside the vocabulary are passed over. Equal logits: the lower id wins.
 *
 * After banned ids became -inf (whatever they held), a row with NaN or
 * +infinity, or with -infinity alone, is DLLM_ERROR_NUMERIC. */
enum dllm_status pick_row(const float *logits, int vocab, const struct pick_rules *rules,
                          int32_t position, void *scratch, struct pick *out,
                          struct dllm_error *error);

/* Bytes of scratch that pick_row needs for rows of vocab logits. */
size_t pick_scratch_bytes(int vocab);

#endif
