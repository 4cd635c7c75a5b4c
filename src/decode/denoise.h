/*
 * denoise.h: the denoising loop. It owns the canvas and time; where scores come
 * from is a callback's business, so that a closed-form model drives the same
 * loop in tests.
 */
#ifndef DENOISE_H
#define DENOISE_H

#include "canvas.h"
#include "pick.h"
#include "status.h"

/* What the loop asks of a model at each computed step: picks for `count`
 * positions, each read from logits row rows[i] of a pass over the canvas (the
 * loop has applied the shift: rows[i] is positions[i] or the row before). Only
 * rows [low, high) are to be computed; the others stay as they were when last
 * computed. With guidance, logits = u + (scale + 1)(l - u), u from a pass over `unguided`. */
struct denoise_request {
    const int32_t *canvas;   /* [length] */
    const int32_t *unguided; /* [length] or NULL without guidance */
    double cfg_scale;
    int length;               /* the canvas may be longer: the rest is left out */
    int low, high;            /* 0 and length without a cache */
    const int32_t *rows;      /* [count], ascending; 0 twice when it scores positions 0 and 1 */
    const int32_t *positions; /* [count], ascending, each once */
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
    int forward_passes;    /* really run; a guided step counts two */
    int64_t rows_computed; /* sum of high - low over them */
    int steps;             /* steps gone through, empty ones included */
    bool stopped_early;    /* the answer was final while masks were left */
    bool interrupted;      /* by on_step */
};

/* Checks options without running: ranges, steps of at least the number of
 * blocks, and that nothing is set that the model's sampler would not read.
 * Usage errors name option, value and what was expected. block_length may be
 * longer than the region. eps 0 stands for 1e-3. */
enum dllm_status denoise_check(const struct denoise_model *model,
                               const struct dllm_generate_options *options,
                               struct dllm_error *error);

/* Whether confidence decides how many positions a step commits, and no schedule. */
bool denoise_is_adaptive(const struct dllm_generate_options *options);

/* What denoise_run works on. The gaps are masks on entry, in all
 * options->max_tokens of them, ascending and apart. */
struct denoise_canvas {
    int32_t *ids; /* [length] */
    int length;
    const struct canvas_gap *gaps; /* [gap_count] */
    int gap_count;
};

/* Denoises the canvas in place, after denoise_check. Blocks count positions of
 * the gaps, not what is given between them. Masks before the first gap belong to
 * the first block, masks after the last to the last. Prompt and suffix are
 * already in the canvas (options->suffix is not read).
 *
 * Calls options->on_step after every step, in its `steps` the length of the
 * schedule; in an adaptive run, which has none, the most steps that the
 * run can still come to. A step that commits nothing is not computed: its
 * canvas would stay the same, and random numbers are counted by step.
 *
 * A callback that stops the run gives DLLM_OK and result->interrupted. After
 * an error of the model the canvas holds what was committed before it. */
enum dllm_status denoise_run(const struct denoise_model *model, const struct denoise_canvas *canvas,
                             const struct dllm_generate_options *options,
                             struct denoise_result *result, struct dllm_error *error);

/* Number of tokens of the answer in a gap, region [count]: those before the first end
 * token (or left-over mask), and whether an end token ended it. */
int denoise_answer_length(const struct denoise_model *model, const int32_t *region, int count,
                          bool *ended);

#endif
