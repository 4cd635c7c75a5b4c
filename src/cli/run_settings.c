/* run_settings.c: what the values of run's options mean, by themselves and for a model. */
#include "run_options.h"

#include <string.h>

/* As the table lists the names. */
static const enum dllm_remasking remasking_values[] = {
    DLLM_REMASKING_LOW_CONFIDENCE, DLLM_REMASKING_RANDOM, DLLM_REMASKING_TOPK_MARGIN,
    DLLM_REMASKING_ENTROPY,        DLLM_REMASKING_ORIGIN, DLLM_REMASKING_LOW_CONFIDENCE};

static const char *const *choices_of(enum run_option option)
{
    return run_option_table.options[option].choices;
}

static enum dllm_remasking given_remasking(const struct opts *opts)
{
    return remasking_values[opts->values[RUN_REMASKING].choice];
}

static bool compares_confidence(const struct opts *opts)
{
    return opts_in_force(opts, RUN_THRESHOLD) || opts_in_force(opts, RUN_FACTOR);
}

/* Whether an option says how many positions a step commits, in a preset's place; a
 * threshold that is off, in the place of the preset's own. */
static bool gives_count(const struct opts *opts)
{
    return opts->values[RUN_THRESHOLD].given || opts_in_force(opts, RUN_FACTOR) ||
           opts_in_force(opts, RUN_ENTROPY_BOUND) || opts->values[RUN_STEPS].given;
}

static enum dllm_quality given_quality(const struct opts *opts)
{
    const struct opt_value *quality = &opts->values[RUN_QUALITY];

    return quality->given ? (enum dllm_quality)quality->choice : DLLM_QUALITY_EXACT;
}

/* What a remasking rule makes meaningless. */
static int check_remasking(const struct opts *opts)
{
    enum dllm_remasking remasking = given_remasking(opts);
    const char *name = choices_of(RUN_REMASKING)[opts->values[RUN_REMASKING].choice];
    bool blind = remasking == DLLM_REMASKING_RANDOM || remasking == DLLM_REMASKING_ORIGIN;

    if (!opts->values[RUN_REMASKING].given)
        return CLI_OK;
    if (opts_in_force(opts, RUN_ALG_TEMP) && blind)
        return cli_fail(CLI_USAGE,
                        "--alg-temp has no effect with --remasking %s, which chooses positions "
                        "without looking at confidence",
                        name);
    if (opts->values[RUN_EARLY_COMMIT].given && blind)
        return cli_fail(CLI_USAGE,
                        "--early-commit has no effect with --remasking %s, which scores the chosen "
                        "positions alone",
                        name);
    if (compares_confidence(opts) && (blind || remasking == DLLM_REMASKING_ENTROPY))
        return cli_fail(CLI_USAGE,
                        "--%s compares confidences from 0 to 1, which --remasking %s does not "
                        "give; use low_confidence (or topk_margin with a dream model)",
                        opts_in_force(opts, RUN_FACTOR) ? "factor" : "threshold", name);
    return CLI_OK;
}

static int check_visual(const struct opts *opts)
{
    static const enum run_option details[] = {RUN_COLOR_BY, RUN_PAUSE};

    for (int i = 0; i < 2; i++)
        if (opts->values[details[i]].given && !opts->values[RUN_VISUAL].given)
            return cli_fail(CLI_USAGE, "--%s has no effect without --visual",
                            run_option_table.options[details[i]].name);
    return CLI_OK;
}

static int check_cache(const struct opts *opts)
{
    static const enum run_option refresh[] = {RUN_CACHE_REFRESH, RUN_PROMPT_REFRESH};
    const struct opt_value *cache = &opts->values[RUN_CACHE];
    bool cached = cache->given ? cache->choice > 0 : given_quality(opts) == DLLM_QUALITY_FAST;

    for (size_t i = 0; i < sizeof refresh / sizeof *refresh; i++)
        if (opts_in_force(opts, refresh[i]) && !cached)
            return cli_fail(CLI_USAGE, "--%s has no effect without --cache prefix or --cache dual",
                            run_option_table.options[refresh[i]].name);
    return CLI_OK;
}

/* What goes with a schedule alone, or with other confidences, contradicts a preset
 * that commits by probability. */
static int check_quality(const struct opts *opts)
{
    static const enum run_option scheduled[] = {RUN_EPS, RUN_ALG_TEMP, RUN_EARLY_COMMIT,
                                                RUN_REMASKING};
    enum dllm_remasking remasking = given_remasking(opts);

    if (given_quality(opts) == DLLM_QUALITY_EXACT || gives_count(opts))
        return CLI_OK;
    for (size_t i = 0; i < sizeof scheduled / sizeof *scheduled; i++)
        if (opts_in_force(opts, scheduled[i]) &&
            (scheduled[i] != RUN_REMASKING || (remasking != DLLM_REMASKING_LOW_CONFIDENCE &&
                                               remasking != DLLM_REMASKING_TOPK_MARGIN)))
            return cli_fail(CLI_USAGE,
                            "--%s contradicts --quality %s, which commits by probability; give "
                            "--steps too, or leave one of them out",
                            run_option_table.options[scheduled[i]].name,
                            choices_of(RUN_QUALITY)[given_quality(opts)]);
    return CLI_OK;
}

int run_check_values(const struct opts *opts)
{
    int code;

    if ((code = check_remasking(opts)) || (code = check_cache(opts)) ||
        (code = check_quality(opts)))
        return code;
    return check_visual(opts);
}

static int fail_effect(const char *option, const struct dllm_model_info *info, const char *why)
{
    return cli_fail(CLI_USAGE, "--%s has no effect with this model (architecture %s): %s", option,
                    info->architecture, why);
}

static int check_llada_remasking(const struct opts *opts, const struct dllm_model_info *info)
{
    enum dllm_remasking remasking = given_remasking(opts);
    bool entropy = remasking == DLLM_REMASKING_ENTROPY;

    if (!opts->values[RUN_REMASKING].given || remasking == DLLM_REMASKING_LOW_CONFIDENCE ||
        remasking == DLLM_REMASKING_RANDOM || (entropy && opts_in_force(opts, RUN_ENTROPY_BOUND)))
        return CLI_OK;
    return cli_fail(CLI_USAGE,
                    "--remasking %s is a rule of Dream's sampler; with this model "
                    "(architecture %s) use low_confidence or random%s",
                    choices_of(RUN_REMASKING)[opts->values[RUN_REMASKING].choice],
                    info->architecture, entropy ? ", or give --entropy-bound too" : "");
}

int run_check_effects(const struct opts *opts, const struct dllm_model_info *info)
{
    static const struct {
        enum run_option option;
        enum dllm_sampler without;
        const char *why;
    } effects[] = {
        {RUN_TOP_P, DLLM_SAMPLER_LLADA, "LLaDA's sampler has no top-p; use --temperature"},
        {RUN_TOP_K, DLLM_SAMPLER_LLADA, "LLaDA's sampler has no top-k; use --temperature"},
        {RUN_ALG_TEMP, DLLM_SAMPLER_LLADA, "LLaDA's sampler takes the surest positions"},
        {RUN_EPS, DLLM_SAMPLER_LLADA, "LLaDA's schedule shares masks out evenly"},
        {RUN_CFG_SCALE, DLLM_SAMPLER_DREAM, "guidance is defined for LLaDA's sampler only"},
        {RUN_EOS_POLICY, DLLM_SAMPLER_DREAM, "end-token policies belong to LLaDA's sampler"},
    };

    for (size_t i = 0; i < sizeof effects / sizeof *effects; i++)
        if (opts_in_force(opts, effects[i].option) && effects[i].without == info->sampler)
            return fail_effect(run_option_table.options[effects[i].option].name, info,
                               effects[i].why);
    return info->sampler == DLLM_SAMPLER_LLADA ? check_llada_remasking(opts, info) : CLI_OK;
}

int run_open_engine(const struct opts *opts, struct reading *reading, struct dllm_engine **out)
{
    const struct opt_value *values = opts->values;
    const struct cli_engine_values engine_values = {
        .model = &values[RUN_MODEL],
        .pull = &values[RUN_PULL],
        .threads = &values[RUN_THREADS],
        .device = &values[RUN_DEVICE],
        .gpu_layers = &values[RUN_GPU_LAYERS],
        .cpu_level = &values[RUN_CPU_LEVEL],
        .reading = reading,
    };

    return cli_open_engine(&engine_values, out);
}

struct prompt_source run_prompt_source(const struct opts *opts)
{
    const struct opt_value *values = opts->values;

    return (struct prompt_source){
        .operand = values[RUN_OPERAND].text,
        .text = values[RUN_PROMPT].text,
        .file = values[RUN_PROMPT_FILE].text,
        .messages_file = values[RUN_MESSAGES].text,
        .ids = values[RUN_PROMPT_TOKENS].ids,
        .id_count = values[RUN_PROMPT_TOKENS].id_count,
        .system = values[RUN_SYSTEM].text,
        .raw = values[RUN_NO_CHAT].given,
        .parse_special = values[RUN_PARSE_SPECIAL].given,
    };
}

static void override_integer(const struct opt_value *value, int *setting)
{
    if (value->given)
        *setting = (int)value->integer;
}

static void override_number(const struct opt_value *value, double *setting)
{
    if (value->given)
        *setting = value->number;
}

/* The model's defaults, or a preset's but for what other options take over. */
static void use_defaults(const struct opts *opts, const struct dllm_engine *engine, bool chat,
                         struct dllm_generate_options *out)
{
    enum dllm_remasking remasking;

    dllm_generate_defaults(engine, chat, out);
    remasking = out->remasking;
    dllm_generate_quality(given_quality(opts), out);
    if (gives_count(opts)) {
        out->threshold = 0;
        out->remasking = remasking;
    }
}

void run_settings(const struct opts *opts, const struct dllm_engine *engine, bool chat,
                  struct dllm_generate_options *out)
{
    const struct opt_value *values = opts->values;

    use_defaults(opts, engine, chat, out);
    /* Greedy stays one option away: the default filter goes with the default temperature. */
    if (values[RUN_TEMPERATURE].given && values[RUN_TEMPERATURE].number == 0)
        out->top_p = 1;
    override_integer(&values[RUN_MAX_TOKENS], &out->max_tokens);
    override_integer(&values[RUN_STEPS], &out->steps);
    override_integer(&values[RUN_BLOCK_LENGTH], &out->block_length);
    override_integer(&values[RUN_TOP_K], &out->top_k);
    override_number(&values[RUN_TEMPERATURE], &out->temperature);
    override_number(&values[RUN_TOP_P], &out->top_p);
    override_number(&values[RUN_ALG_TEMP], &out->alg_temp);
    override_number(&values[RUN_EPS], &out->eps);
    override_number(&values[RUN_CFG_SCALE], &out->cfg_scale);
    override_number(&values[RUN_THRESHOLD], &out->threshold);
    override_number(&values[RUN_FACTOR], &out->factor);
    override_number(&values[RUN_ENTROPY_BOUND], &out->entropy_bound);
    override_integer(&values[RUN_CACHE_REFRESH], &out->cache_refresh);
    override_integer(&values[RUN_PROMPT_REFRESH], &out->prompt_refresh);
    override_integer(&values[RUN_SUFFIX_WINDOW], &out->suffix_window);
    if (values[RUN_CACHE].given)
        out->cache = (enum dllm_cache)values[RUN_CACHE].choice;
    if (values[RUN_SEED].given)
        out->seed = (uint64_t)values[RUN_SEED].integer;
    if (values[RUN_REMASKING].given)
        out->remasking = given_remasking(opts);
    else if (opts_in_force(opts, RUN_ENTROPY_BOUND))
        out->remasking = DLLM_REMASKING_ENTROPY;
    else if (compares_confidence(opts))
        out->remasking = DLLM_REMASKING_LOW_CONFIDENCE;
    if (values[RUN_EOS_POLICY].given)
        out->eos_policy = (enum dllm_eos_policy)values[RUN_EOS_POLICY].choice;
    out->early_commit = values[RUN_EARLY_COMMIT].given;
    out->no_early_stop = values[RUN_NO_EARLY_STOP].given;
    out->allow_long = values[RUN_ALLOW_LONG].given;
}

const char *run_remasking_name(enum dllm_remasking remasking)
{
    return choices_of(RUN_REMASKING)[remasking];
}

const char *run_eos_policy_name(enum dllm_eos_policy policy)
{
    return choices_of(RUN_EOS_POLICY)[policy];
}

const char *run_cache_name(enum dllm_cache cache)
{
    return choices_of(RUN_CACHE)[cache];
}
