/*
 * run_options.h: the option table of run (run_options.c) and what its values mean
 * (run_settings.c).
 */
#ifndef RUN_OPTIONS_H
#define RUN_OPTIONS_H

#include "cli.h"
#include "prompt.h"

enum run_option {
    RUN_OPERAND,
    RUN_MODEL,
    RUN_PULL,
    RUN_PROMPT,
    RUN_PROMPT_FILE,
    RUN_PROMPT_TOKENS,
    RUN_MESSAGES,
    RUN_SYSTEM,
    RUN_NO_CHAT,
    RUN_PARSE_SPECIAL,
    RUN_MAX_TOKENS,
    RUN_STEPS,
    RUN_QUALITY,
    RUN_BLOCK_LENGTH,
    RUN_TEMPERATURE,
    RUN_SEED,
    RUN_REMASKING,
    RUN_TOP_P,
    RUN_TOP_K,
    RUN_ALG_TEMP,
    RUN_EPS,
    RUN_CFG_SCALE,
    RUN_THRESHOLD,
    RUN_FACTOR,
    RUN_ENTROPY_BOUND,
    RUN_EARLY_COMMIT,
    RUN_CACHE,
    RUN_CACHE_REFRESH,
    RUN_PROMPT_REFRESH,
    RUN_SUFFIX_WINDOW,
    RUN_SUFFIX,
    RUN_TEMPLATE,
    RUN_INFILL,
    RUN_STOP,
    RUN_NO_EARLY_STOP,
    RUN_EOS_POLICY,
    RUN_ALLOW_LONG,
    RUN_INPUT,
    RUN_OUTPUT,
    RUN_RESUME,
    RUN_SHARD,
    RUN_NUM_SAMPLES,
    RUN_PARALLEL,
    RUN_JSON,
    RUN_VERBOSE,
    RUN_DUMP_STEP_STATS,
    RUN_VISUAL,
    RUN_COLOR_BY,
    RUN_PAUSE,
    RUN_TRACE,
    RUN_HISTORY,
    RUN_FORCE,
    RUN_THREADS,
    RUN_DEVICE,
    RUN_GPU_LAYERS,
    RUN_CPU_LEVEL,
    RUN_OPTIONS
};

extern const struct opt_table run_option_table;
/* The same list without what is about a single prompt. */
extern const struct opt_table chat_option_table;

/* What can be said against the values without a model: 0, or the exit code
 * after a message. */
int run_check_values(const struct opts *opts);

/* Options that were given but have no effect with this model: 0, or the exit
 * code after a message that names option and reason. */
int run_check_effects(const struct opts *opts, const struct dllm_model_info *info);

/* Opens the model that the options of run or chat name (cli_open_engine); reading may
 * be NULL. */
int run_open_engine(const struct opts *opts, struct reading *reading, struct dllm_engine **out);

/* Where the prompt comes from, as the options say. */
struct prompt_source run_prompt_source(const struct opts *opts);

/* The settings of a run: the model's defaults, overridden by what was given.
 * Suffix, stop strings and callback are left empty. */
void run_settings(const struct opts *opts, const struct dllm_engine *engine, bool chat,
                  struct dllm_generate_options *out);

/* Names as the options spell them. */
const char *run_remasking_name(enum dllm_remasking remasking);
const char *run_eos_policy_name(enum dllm_eos_policy policy);
const char *run_cache_name(enum dllm_cache cache);

#endif
