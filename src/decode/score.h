/*
 * score.h: LLaDA's Monte-Carlo estimate of an answer's log-likelihood. As in
 * denoise.h, where the scores come from is a callback's business.
 */
#ifndef SCORE_H
#define SCORE_H

#include "status.h"

/* A sample: the prompt, then the answer with some of its tokens masked. */
struct score_canvas {
    int32_t *ids;      /* [length] */
    int32_t *unguided; /* [length], the prompt masked too; NULL without guidance */
    int32_t *rows;     /* [count] rows that score the masked tokens, ascending (shift applied) */
    int count;
};

/* With guidance, logits = u + (scale + 1)(l - u), u from the pass over `unguided`. */
struct score_request {
    const struct score_canvas *canvases; /* [canvas_count] */
    int canvas_count;
    int length;             /* of each */
    const int32_t *targets; /* [target_count] the tokens under the masks, canvas after canvas */
    int target_count;
    double cfg_scale;
};

/* Fills losses [target_count] with the targets' cross entropies (cross_entropy.h); not
 * finite where a row is bad. */
typedef enum dllm_status score_losses(void *context, const struct score_request *request,
                                      double *losses, struct dllm_error *error);

struct score_model {
    score_losses *losses;
    void *context;
    bool shift_logits; /* row i - 1 scores position i; position 0 has none */
    int32_t mask_id;
    int canvases_at_once; /* of a request at most; changes no result */
};

/* How many tokens each of `count` samples of a batch masks, 1 to answer_count: from
 * `first` on in equal steps through answer_count, in f32 and rounded half to even as
 * the published code does, wrapped around. */
void score_mask_counts(int first, int answer_count, int count, int *counts);

/* Checks without running; usage errors name what is out of range. */
enum dllm_status score_check(const struct score_model *model, const struct dllm_score_query *query,
                             const struct dllm_score_options *options, struct dllm_error *error);

/* Estimates, after score_check; seconds are left to the caller. *result is filled in;
 * DLLM_ERROR_NUMERIC names the position of a bad row. The masks of sample s and the
 * first count of batch b are functions of seed and s or b. */
enum dllm_status score_run(const struct score_model *model, const struct dllm_score_query *query,
                           const struct dllm_score_options *options, struct dllm_likelihood *result,
                           struct dllm_error *error);

#endif
