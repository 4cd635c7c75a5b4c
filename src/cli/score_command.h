/*
 * score_command.h: dllm score: how likely answers are to a model, one from the command
 * line (cmd_score.c) or one a line of a file (score_lines.c); each is an option line
 * that score_estimate (score_estimate.c) makes a result of.
 */
#ifndef SCORE_COMMAND_H
#define SCORE_COMMAND_H

#include "cli.h"

#include <jansson.h>

enum score_option {
    SCORE_MODEL,
    SCORE_PULL,
    SCORE_PROMPT,
    SCORE_PROMPT_TOKENS,
    SCORE_MESSAGES,
    SCORE_SYSTEM,
    SCORE_NO_CHAT,
    SCORE_PARSE_SPECIAL,
    SCORE_ANSWER,
    SCORE_ANSWER_TOKENS,
    SCORE_SAMPLES,
    SCORE_BATCH,
    SCORE_CFG_SCALE,
    SCORE_SEED,
    SCORE_ALLOW_LONG,
    SCORE_INPUT,
    SCORE_OUTPUT,
    SCORE_RESUME,
    SCORE_JSON,
    SCORE_FORCE,
    SCORE_THREADS,
    SCORE_DEVICE,
    SCORE_GPU_LAYERS,
    SCORE_CPU_LEVEL,
    SCORE_OPTIONS
};

extern const struct opt_table score_option_table; /* (cmd_score.c) */

/* What dllm_score calls back, NULL: nothing. */
struct score_watch {
    dllm_score_callback *on_samples;
    void *context;
};

/* What an estimate depends on. */
struct score_facts {
    struct dllm_model_info model;
    struct dllm_score_options options;
    size_t tokens, prompt_tokens; /* tokens: of the answer */
};

struct score_outcome {
    struct dllm_likelihood likelihood;
    struct score_facts facts;
};

/* Estimates what the options ask for. 0, or the exit code after a message (of an
 * interruption without one). (score_estimate.c) */
int score_estimate(const struct opts *opts, const struct dllm_engine *engine,
                   struct dllm_session *session, const struct score_watch *watch,
                   struct score_outcome *outcome);

/* How a result of these options is made: tokens, samples, batch, cfg_scale, seed, prompt_tokens,
 * model, quantization; NULL after a message. (score_estimate.c) */
json_t *score_settings(const struct opts *opts, const struct dllm_engine *engine);

/* log_likelihood, standard_error (null from one batch), what score_settings tells, forwards,
 * seconds; NULL without memory. (score_estimate.c) */
json_t *score_json(const struct score_outcome *outcome);

/* score --input; the exit code. (score_lines.c) */
int score_lines_run(const struct opts *opts, struct dllm_engine *engine,
                    struct dllm_session *session);

#endif
