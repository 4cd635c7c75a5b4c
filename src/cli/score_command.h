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

struct score_outcome {
    struct dllm_likelihood likelihood;
    size_t tokens; /* of the answer */
};

/* Estimates what the options ask for. 0, or the exit code after a message (of an
 * interruption without one). (score_estimate.c) */
int score_estimate(const struct opts *opts, const struct dllm_engine *engine,
                   struct dllm_session *session, const struct score_watch *watch,
                   struct score_outcome *outcome);

/* log_likelihood, standard_error (null from one batch), tokens, samples, forwards,
 * seconds; NULL without memory. (score_estimate.c) */
json_t *score_json(const struct score_outcome *outcome);

/* score --input; the exit code. (score_lines.c) */
int score_lines_run(const struct opts *opts, struct dllm_engine *engine,
                    struct dllm_session *session);

#endif
