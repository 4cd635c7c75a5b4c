/*
 * denoise_check.c: which options of a run make sense, for which sampler.
 */
#include "denoise.h"

#include "compiler.h"
#include "schedule.h"

#include <math.h>

#define MOST_STEPS 1000000
#define MOST_SCALE 1000.0

/* A number that must lie in [low, high]; NaN does not. */
static enum dllm_status check_range(const char *name, double value, double low, double high,
                                    struct dllm_error *error)
{
    if (value >= low && value <= high)
        return DLLM_OK;
    return status_fail(error, DLLM_ERROR_USAGE,
                       "%s is %.10g; expected a number from %.10g to %.10g", name, value, low,
                       high);
}

static enum dllm_status check_ranges(const struct dllm_generate_options *options,
                                     struct dllm_error *error)
{
    TRY(check_range("max_tokens", options->max_tokens, 1, INT32_MAX, error));
    TRY(check_range("steps", options->steps, 0, MOST_STEPS, error));
    TRY(check_range("block_length", options->block_length, 0, INT32_MAX, error));
    TRY(check_range("temperature", options->temperature, 0, MOST_SCALE, error));
    TRY(check_range("remasking", options->remasking, 0, DLLM_REMASKING_ORIGIN, error));
    TRY(check_range("top_p", options->top_p, 0, INFINITY, error));
    TRY(check_range("top_k", options->top_k, 0, INT32_MAX, error));
    TRY(check_range("alg_temp", options->alg_temp, 0, MOST_SCALE, error));
    if (options->eps != 0)
        TRY(check_range("eps", options->eps, 1e-9, 1 - 1e-9, error));
    TRY(check_range("cfg_scale", options->cfg_scale, 0, MOST_SCALE, error));
    TRY(check_range("threshold", options->threshold, 0, 1, error));
    TRY(check_range("factor", options->factor, 0, MOST_SCALE, error));
    TRY(check_range("entropy_bound", options->entropy_bound, 0, MOST_SCALE, error));
    TRY(check_range("cache", options->cache, 0, DLLM_CACHE_DUAL, error));
    TRY(check_range("cache_refresh", options->cache_refresh, 0, MOST_STEPS, error));
    TRY(check_range("prompt_refresh", options->prompt_refresh, 0, MOST_STEPS, error));
    TRY(check_range("suffix_window", options->suffix_window, 0, INT32_MAX, error));
    return check_range("eos_policy", options->eos_policy, 0, DLLM_EOS_DEFER, error);
}

static enum dllm_status refuse_idle(bool set, const char *option, const char *reason,
                                    struct dllm_error *error)
{
    if (!set)
        return DLLM_OK;
    return status_fail(error, DLLM_ERROR_USAGE, "%s has no effect %s: leave it out", option,
                       reason);
}

static enum dllm_status check_llada(const struct denoise_model *model,
                                    const struct dllm_generate_options *options,
                                    struct dllm_error *error)
{
    const char *reason = "with LLaDA's sampler";
    bool defer = options->eos_policy == DLLM_EOS_DEFER;

    TRY(refuse_idle(options->top_p < 1, "top_p", reason, error));
    TRY(refuse_idle(options->top_k > 0, "top_k", reason, error));
    TRY(refuse_idle(options->alg_temp > 0, "alg_temp", reason, error));
    TRY(refuse_idle(options->eps != 0 && options->eps != 1e-3, "eps", reason, error));
    TRY(refuse_idle(defer && options->remasking == DLLM_REMASKING_RANDOM, "eos_policy defer",
                    "with random remasking, which looks at no probability", error));
    TRY(refuse_idle(defer && options->entropy_bound > 0, "eos_policy defer",
                    "with entropy_bound, which orders by entropy", error));
    TRY(refuse_idle(options->eos_policy == DLLM_EOS_FORBID && model->eos_id < 0,
                    "eos_policy forbid", "with a model that names no end-of-text token", error));
    TRY(refuse_idle(defer && model->eot_id < 0 && (model->eos_id < 0 || options->temperature > 0),
                    "eos_policy defer", "with a model that names no end token for it", error));
    if (options->remasking > DLLM_REMASKING_RANDOM &&
        (options->remasking != DLLM_REMASKING_ENTROPY || options->entropy_bound == 0))
        return status_fail(error, DLLM_ERROR_USAGE,
                           "remasking %s belongs to Dream's sampler; expected low_confidence or "
                           "random with a LLaDA model",
                           options->remasking == DLLM_REMASKING_TOPK_MARGIN ? "topk_margin"
                           : options->remasking == DLLM_REMASKING_ENTROPY   ? "entropy"
                                                                            : "origin");
    return DLLM_OK;
}

static enum dllm_status check_dream(const struct dllm_generate_options *options,
                                    struct dllm_error *error)
{
    const char *reason = "with Dream's sampler";
    bool by_confidence =
        options->remasking != DLLM_REMASKING_RANDOM && options->remasking != DLLM_REMASKING_ORIGIN;

    TRY(refuse_idle(options->cfg_scale > 0, "cfg_scale", reason, error));
    TRY(refuse_idle(options->eos_policy != DLLM_EOS_NONE, "eos_policy", reason, error));
    return refuse_idle(options->alg_temp > 0 && !by_confidence, "alg_temp",
                       "with remasking random or origin, which look at no confidence", error);
}

/* Name and number of the rules in force that say how many a step commits. */
static int adaptive_rules(const struct dllm_generate_options *options, const char **name)
{
    const struct {
        const char *name;
        double value;
    } rules[] = {{"threshold", options->threshold},
                 {"factor", options->factor},
                 {"entropy_bound", options->entropy_bound}};
    int count = 0;

    for (size_t i = 0; i < ARRAY_COUNT(rules); i++)
        if (rules[i].value > 0) {
            *name = rules[i].name;
            count++;
        }
    return count;
}

bool denoise_is_adaptive(const struct dllm_generate_options *options)
{
    const char *name;

    return adaptive_rules(options, &name) > 0;
}

/* threshold and factor compare probabilities, the entropy bound entropies. */
static enum dllm_status check_confidence(const char *name,
                                         const struct dllm_generate_options *options,
                                         struct dllm_error *error)
{
    if (options->entropy_bound > 0) {
        if (options->remasking == DLLM_REMASKING_ENTROPY)
            return DLLM_OK;
        return status_fail(error, DLLM_ERROR_USAGE,
                           "%s adds up entropies; expected remasking entropy", name);
    }
    if (options->remasking == DLLM_REMASKING_LOW_CONFIDENCE ||
        options->remasking == DLLM_REMASKING_TOPK_MARGIN)
        return DLLM_OK;
    return status_fail(error, DLLM_ERROR_USAGE,
                       "%s compares confidences between 0 and 1; expected remasking "
                       "low_confidence (or topk_margin with a Dream model)",
                       name);
}

/* Nothing counts steps then, or draws positions. */
static enum dllm_status check_adaptive(const struct dllm_generate_options *options,
                                       struct dllm_error *error)
{
    const char *name = NULL, *reason = "with threshold, factor or entropy_bound";

    if (adaptive_rules(options, &name) > 1)
        return status_fail(error, DLLM_ERROR_USAGE,
                           "threshold, factor and entropy_bound are rules for the same count; "
                           "expected one");
    TRY(check_confidence(name, options, error));
    TRY(refuse_idle(options->steps > 0, "steps", reason, error));
    TRY(refuse_idle(options->early_commit, "early_commit", reason, error));
    return refuse_idle(options->alg_temp > 0, "alg_temp", reason, error);
}

static enum dllm_status check_schedule(const struct dllm_generate_options *options,
                                       struct dllm_error *error)
{
    int blocks =
        schedule_block_count(options->max_tokens, options->block_length > 0 ? options->block_length
                                                                            : options->max_tokens);

    if (options->steps == 0 || options->steps >= blocks)
        return DLLM_OK;
    return status_fail(error, DLLM_ERROR_USAGE,
                       "steps is %d, but max_tokens %d in blocks of %d are %d blocks with at least "
                       "one step each; expected steps of at least %d, or a longer block_length",
                       options->steps, options->max_tokens, options->block_length, blocks, blocks);
}

/* What says when a cache is filled anew, and how far a block sees. */
static enum dllm_status check_windows(const struct dllm_generate_options *options,
                                      struct dllm_error *error)
{
    bool cached = options->cache != DLLM_CACHE_NONE;
    bool one_block = options->block_length == 0 || options->block_length >= options->max_tokens;

    TRY(refuse_idle(options->cache_refresh > 0 && !cached, "cache_refresh", "without a cache",
                    error));
    TRY(refuse_idle(options->prompt_refresh > 0 && !cached, "prompt_refresh", "without a cache",
                    error));
    return refuse_idle(options->suffix_window > 0 && one_block, "suffix_window",
                       "in one block (give a block_length below max_tokens)", error);
}

/* An empty one stands before everything: there would be no answer. */
static enum dllm_status check_stop(const struct dllm_generate_options *options,
                                   struct dllm_error *error)
{
    for (size_t i = 0; i < options->stop_count; i++)
        if (options->stop[i].size == 0)
            return status_fail(error, DLLM_ERROR_USAGE,
                               "stop string %zu is empty; at least one byte was expected: leave it "
                               "out",
                               i);
    return DLLM_OK;
}

enum dllm_status denoise_check(const struct denoise_model *model,
                               const struct dllm_generate_options *options,
                               struct dllm_error *error)
{
    TRY(check_ranges(options, error));
    if (model->dream)
        TRY(check_dream(options, error));
    else
        TRY(check_llada(model, options, error));
    TRY(check_windows(options, error));
    TRY(check_stop(options, error));
    TRY(refuse_idle(options->early_commit && (options->remasking == DLLM_REMASKING_RANDOM ||
                                              options->remasking == DLLM_REMASKING_ORIGIN),
                    "early_commit",
                    "with remasking random or origin, which score the chosen positions alone",
                    error));
    if (denoise_is_adaptive(options))
        return check_adaptive(options, error);
    return check_schedule(options, error);
}
