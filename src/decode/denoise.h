/*
 * denoise.h: the denoising loop. It owns the canvas and time; where scores come
 * from is a callback's business, so that a closed-form model drives the same
 * loop in tests.
 */
#ifndef DENOISE_H
#define DENOISE_H

#include "pick.h"
#include "status.h"

/* What the loop asks of a model at each computed step: picks for `count`
 * positions, each read from logits row rows[i] of a pass over the canvas (the
 * loop has applied the shift: rows[i] is positions[i] or the row before). With
 * guidance, logits = u + (scale + 1)(l - u), u from a pass over `unguided`. */
struct denoise_request {
    const int32_t *canvas;   /* [length] */
    const int32_t *unguided; /* [length] or NULL without guidance */
    double cfg_scale;
    int length;
    const int32_t *rows;      /* [count], ascending */
    const int32_t *positions; /* [count], ascending */
    int count;
    const struct pick_rules *rules;
};

typedef enum dllm_status denoise_score(void *context, const struct denoise_request *request,
                                       struct pick *picks, struct dllm_error *error);

/* The facts of a model that the loop needs. */
struct denoise_model {
    denoise_score *score;
    void *context;
    bool dream;                      /* Dream's schedule and rules, else LLaDA's */
    bool shift_logits;               /* row i - 1 scores position i, row 0 itself position 0 */
    int32_t mask_id, eos_id, eot_id; /* eos and eot -1 if absent */
    const int32_t *unprintable; /* ids without text, never predicted (mask_id need not be in it) */
    int unprintable_count;
};

struct denoise_result {
    int forward_passes; /* really run; a guided step counts two */
    int steps;          /* steps gone through, empty ones included */
    bool stopped_early;
    bool interrupted;
};

/* Checks options against lengths without running: steps of at least the number
 * of blocks, ranges, a region of at least 1. Usage errors name option, value
 * and range. */
enum dllm_status denoise_check(const struct denoise_model *model,
                               const struct dllm_generate_options *options,
                               struct dllm_error *error);

/* Denoises canvas [length] in place. The generated region is
 * [region_start, region_start + options->max_tokens); it must be masks on
 * entry. Masks outside it are filled as samplers.md part 0 says. Prompt and
 * suffix are already in the canvas (options->suffix is not read).
 * Calls options->on_step after every step. */
enum dllm_status denoise_run(const struct denoise_model *model, int32_t *canvas, int length,
                             int region_start, const struct dllm_generate_options *options,
                             struct denoise_result *result, struct dllm_error *error);

/* Number of tokens of the answer in region [count]: those before the first end
 * token (or left-over mask), and whether an end token ended it. */
int denoise_answer_length(const struct denoise_model *model, const int32_t *region, int count,
                          bool *ended);

#endif
