/* run_options.c: the options of run, in one table. */
#include "run_options.h"

#include <stdlib.h>
#include <string.h>

enum { PROMPT_GROUP = 1, PARALLEL_GROUP = 2, MOST = 1000000 };

/* maskgit_plus is Dream's name for low_confidence. */
static const char *const remasking_names[] = {
    "low_confidence", "random", "topk_margin", "entropy", "origin", "maskgit_plus", NULL};
static const enum dllm_remasking remasking_values[] = {
    DLLM_REMASKING_LOW_CONFIDENCE, DLLM_REMASKING_RANDOM, DLLM_REMASKING_TOPK_MARGIN,
    DLLM_REMASKING_ENTROPY,        DLLM_REMASKING_ORIGIN, DLLM_REMASKING_LOW_CONFIDENCE};
static const char *const eos_policy_names[] = {"none", "forbid", "defer", NULL};

static const struct opt options[RUN_OPTIONS] = {
    [RUN_OPERAND] = {.name = "PROMPT",
                     .kind = OPT_OPERAND,
                     .group = PROMPT_GROUP,
                     .help = "what to answer; - reads it from standard input"},
    [RUN_MODEL] = {.name = "model",
                   .letter = 'm',
                   .kind = OPT_PATH,
                   .metavar = "FILE",
                   .fallback = "demo",
                   .help = "the model, a GGUF file; demo: the built-in one"},
    [RUN_PROMPT] = {.name = "prompt",
                    .kind = OPT_TEXT,
                    .may_be_empty = true,
                    .group = PROMPT_GROUP,
                    .metavar = "TEXT",
                    .help = "the same as PROMPT"},
    [RUN_PROMPT_FILE] = {.name = "prompt-file",
                         .kind = OPT_PATH,
                         .group = PROMPT_GROUP,
                         .metavar = "FILE",
                         .help = "read the prompt from a file"},
    [RUN_PROMPT_TOKENS] = {.name = "prompt-tokens",
                           .kind = OPT_IDS,
                           .group = PROMPT_GROUP,
                           .metavar = "IDS",
                           .help = "the prompt as token ids, such as 3,5,17, past template and "
                                   "tokenizer"},
    [RUN_MESSAGES] = {.name = "messages",
                      .kind = OPT_PATH,
                      .group = PROMPT_GROUP,
                      .metavar = "FILE",
                      .help = "a whole conversation, a JSON array of {\"role\", \"content\"}"},
    [RUN_SYSTEM] = {.name = "system",
                    .kind = OPT_TEXT,
                    .may_be_empty = true,
                    .metavar = "TEXT",
                    .fallback = "by chat template",
                    .help = "the system message"},
    [RUN_NO_CHAT] = {.name = "no-chat",
                     .kind = OPT_FLAG,
                     .help = "feed the text as it is, without chat template; control strings in "
                             "it become control tokens"},
    [RUN_PARSE_SPECIAL] = {.name = "parse-special",
                           .kind = OPT_FLAG,
                           .help = "control strings in messages become control tokens"},
    [RUN_MAX_TOKENS] = {.name = "max-tokens",
                        .letter = 'n',
                        .kind = OPT_INTEGER,
                        .low = 1,
                        .high = MOST,
                        .metavar = "N",
                        .fallback = "128",
                        .help = "positions to generate"},
    [RUN_STEPS] = {.name = "steps",
                   .kind = OPT_INTEGER,
                   .low = 1,
                   .high = MOST,
                   .metavar = "N",
                   .fallback = "max-tokens",
                   .help = "denoising steps"},
    [RUN_BLOCK_LENGTH] = {.name = "block-length",
                          .kind = OPT_INTEGER,
                          .low = 1,
                          .high = MOST,
                          .metavar = "N",
                          .fallback = "llada: 32, dream: max-tokens",
                          .help = "positions that are resolved together, blocks left to right"},
    [RUN_TEMPERATURE] = {.name = "temperature",
                         .kind = OPT_NUMBER,
                         .least = 0,
                         .most = 100,
                         .metavar = "T",
                         .fallback = "0, dream chat: 0.2",
                         .help = "randomness of the tokens; 0 takes the best"},
    [RUN_SEED] = {.name = "seed",
                  .kind = OPT_INTEGER,
                  .low = 0,
                  .high = INT64_MAX,
                  .metavar = "N",
                  .fallback = "42",
                  .help = "where the random numbers start"},
    [RUN_REMASKING] = {.name = "remasking",
                       .kind = OPT_CHOICE,
                       .choices = remasking_names,
                       .metavar = "RULE",
                       .fallback = "low_confidence; dream without threshold or factor: entropy",
                       .help = "which positions a step commits; topk_margin, entropy and origin "
                               "are Dream's, maskgit_plus is its name of low_confidence"},
    [RUN_TOP_P] = {.name = "top-p",
                   .kind = OPT_NUMBER,
                   .least = 0,
                   .most = 1,
                   .metavar = "P",
                   .fallback = "off, dream chat at its default temperature: 0.95",
                   .help = "dream: keep the likeliest tokens up to this share"},
    [RUN_TOP_K] = {.name = "top-k",
                   .kind = OPT_INTEGER,
                   .low = 1,
                   .high = INT32_MAX,
                   .metavar = "K",
                   .fallback = "off",
                   .help = "dream: keep the K likeliest tokens"},
    [RUN_ALG_TEMP] = {.name = "alg-temp",
                      .kind = OPT_NUMBER,
                      .least = 0,
                      .most = 1000,
                      .above = true,
                      .metavar = "T",
                      .fallback = "off",
                      .help = "dream: randomness of the choice of positions"},
    [RUN_EPS] = {.name = "eps",
                 .kind = OPT_NUMBER,
                 .least = 1e-9,
                 .most = 0.999,
                 .metavar = "E",
                 .fallback = "0.001",
                 .help = "dream: where the schedule's time ends"},
    [RUN_CFG_SCALE] = {.name = "cfg-scale",
                       .kind = OPT_NUMBER,
                       .least = 0,
                       .most = 1000,
                       .metavar = "S",
                       .fallback = "0: off",
                       .help = "classifier-free guidance; two passes a step"},
    [RUN_THRESHOLD] = {.name = "threshold",
                       .kind = OPT_NUMBER,
                       .least = 0,
                       .most = 1,
                       .above = true,
                       .group = PARALLEL_GROUP,
                       .metavar = "H",
                       .fallback = "off",
                       .help = "commit every position at least this sure, as many steps as that "
                               "takes"},
    [RUN_FACTOR] = {.name = "factor",
                    .kind = OPT_NUMBER,
                    .least = 0,
                    .most = 1000,
                    .above = true,
                    .group = PARALLEL_GROUP,
                    .metavar = "F",
                    .fallback = "off",
                    .help = "commit the more positions the surer they are (Fast-dLLM's factor)"},
    [RUN_SUFFIX] = {.name = "suffix",
                    .kind = OPT_TEXT,
                    .metavar = "TEXT",
                    .help = "text after the generated region (infilling)"},
    [RUN_STOP] = {.name = "stop",
                  .kind = OPT_TEXT,
                  .repeatable = true,
                  .metavar = "TEXT",
                  .help = "the answer ends before this text"},
    [RUN_NO_EARLY_STOP] = {.name = "no-early-stop",
                           .kind = OPT_FLAG,
                           .help = "run all steps even when the answer is final"},
    [RUN_EOS_POLICY] = {.name = "eos-policy",
                        .kind = OPT_CHOICE,
                        .choices = eos_policy_names,
                        .metavar = "RULE",
                        .fallback = "none",
                        .help = "end tokens are free, never predicted, or committed last"},
    [RUN_ALLOW_LONG] = {.name = "allow-long",
                        .kind = OPT_FLAG,
                        .help = "permit a canvas longer than the model's context length"},
    [RUN_JSON] = {.name = "json",
                  .kind = OPT_FLAG,
                  .help = "print one JSON object: text, ids, settings, times"},
    [RUN_VERBOSE] = {.name = "verbose",
                     .kind = OPT_FLAG,
                     .help = "tell about model, schedule, times and memory on stderr"},
    [RUN_DUMP_STEP_STATS] = {.name = "dump-step-stats",
                             .kind = OPT_FLAG,
                             .help = "a line per step on stderr"},
    [RUN_THREADS] = CLI_OPTION_THREADS,
    [RUN_DEVICE] = {.name = "device",
                    .kind = OPT_TEXT,
                    .metavar = "NAME",
                    .fallback = "auto",
                    .help = "where to compute: cpu or auto, which is the CPU in this build"},
    [RUN_CPU_LEVEL] = CLI_OPTION_CPU_LEVEL,
};

static const char adaptive_steps[] =
    "steps are not counted out then, a block runs until it is full";
static const char adaptive_choice[] = "positions are then committed by their confidence alone";

static const struct opt_conflict conflicts[] = {
    {RUN_SYSTEM, RUN_NO_CHAT, "raw text has no system message"},
    {RUN_SYSTEM, RUN_MESSAGES, "the conversation brings its own system message"},
    {RUN_SYSTEM, RUN_PROMPT_TOKENS, "ids are fed as they are"},
    {RUN_NO_CHAT, RUN_MESSAGES, "a conversation needs the chat template"},
    {RUN_NO_CHAT, RUN_PROMPT_TOKENS, "ids are fed as they are"},
    {RUN_PARSE_SPECIAL, RUN_NO_CHAT, "control strings in raw text are always parsed"},
    {RUN_PARSE_SPECIAL, RUN_PROMPT_TOKENS, "ids are fed as they are"},
    {RUN_THRESHOLD, RUN_STEPS, adaptive_steps},
    {RUN_FACTOR, RUN_STEPS, adaptive_steps},
    {RUN_THRESHOLD, RUN_EPS, adaptive_steps},
    {RUN_FACTOR, RUN_EPS, adaptive_steps},
    {RUN_THRESHOLD, RUN_ALG_TEMP, adaptive_choice},
    {RUN_FACTOR, RUN_ALG_TEMP, adaptive_choice},
};

const struct opt_table run_option_table = {
    .command = "run",
    .usage = "[-m MODEL] [PROMPT] [options]",
    .summary = "Generate an answer to a prompt",
    .notes = "The answer goes to stdout, everything else to stderr. Exit codes: 0 done,\n"
             "1 failure, 2 usage error, 130 interrupted.\n",
    .options = options,
    .count = RUN_OPTIONS,
    .conflicts = conflicts,
    .conflict_count = sizeof conflicts / sizeof *conflicts,
    .group_why = {[PROMPT_GROUP] = "the prompt comes from one place",
                  [PARALLEL_GROUP] = "both decide how many positions a step commits"},
    .group_missing = {[PROMPT_GROUP] = "a prompt is missing: give PROMPT, - for standard input, "
                                       "--prompt, --prompt-file, --prompt-tokens or --messages"},
};

static enum dllm_remasking given_remasking(const struct opts *opts)
{
    return remasking_values[opts->values[RUN_REMASKING].choice];
}

static bool adaptive(const struct opts *opts)
{
    return opts->values[RUN_THRESHOLD].given || opts->values[RUN_FACTOR].given;
}

static int check_device(const char *device)
{
    if (!device || strcmp(device, "cpu") == 0 || strcmp(device, "auto") == 0)
        return CLI_OK;
    if (strcmp(device, "gpu") == 0)
        return cli_fail(CLI_USAGE, "--device gpu: this build has no GPU support; use cpu or auto");
    return cli_fail(CLI_USAGE, "--device needs cpu or auto, not \"%s\"", device);
}

/* What a remasking rule makes meaningless. */
static int check_remasking(const struct opts *opts)
{
    enum dllm_remasking remasking = given_remasking(opts);
    const char *name = remasking_names[opts->values[RUN_REMASKING].choice];
    bool blind = remasking == DLLM_REMASKING_RANDOM || remasking == DLLM_REMASKING_ORIGIN;

    if (!opts->values[RUN_REMASKING].given)
        return CLI_OK;
    if (opts->values[RUN_ALG_TEMP].given && blind)
        return cli_fail(CLI_USAGE,
                        "--alg-temp has no effect with --remasking %s, which chooses positions "
                        "without looking at confidence",
                        name);
    if (adaptive(opts) && (blind || remasking == DLLM_REMASKING_ENTROPY))
        return cli_fail(CLI_USAGE,
                        "--%s compares confidences from 0 to 1, which --remasking %s does not "
                        "give; use low_confidence (or topk_margin with a dream model)",
                        opts->values[RUN_FACTOR].given ? "factor" : "threshold", name);
    return CLI_OK;
}

int run_check_values(const struct opts *opts)
{
    int code = check_device(opts->values[RUN_DEVICE].text);

    return code ? code : check_remasking(opts);
}

static int fail_effect(const char *option, const struct dllm_model_info *info, const char *why)
{
    return cli_fail(CLI_USAGE, "--%s has no effect with this model (architecture %s): %s", option,
                    info->architecture, why);
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
    enum dllm_remasking remasking = given_remasking(opts);

    for (size_t i = 0; i < sizeof effects / sizeof *effects; i++)
        if (opts->values[effects[i].option].given && effects[i].without == info->sampler)
            return fail_effect(options[effects[i].option].name, info, effects[i].why);
    if (opts->values[RUN_REMASKING].given && info->sampler == DLLM_SAMPLER_LLADA &&
        remasking != DLLM_REMASKING_LOW_CONFIDENCE && remasking != DLLM_REMASKING_RANDOM)
        return cli_fail(CLI_USAGE,
                        "--remasking %s is a rule of Dream's sampler; with this model "
                        "(architecture %s) use low_confidence or random",
                        remasking_names[opts->values[RUN_REMASKING].choice], info->architecture);
    return CLI_OK;
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

void run_settings(const struct opts *opts, const struct dllm_engine *engine, bool chat,
                  struct dllm_generate_options *out)
{
    const struct opt_value *values = opts->values;

    dllm_generate_defaults(engine, chat, out);
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
    if (values[RUN_SEED].given)
        out->seed = (uint64_t)values[RUN_SEED].integer;
    if (values[RUN_REMASKING].given)
        out->remasking = given_remasking(opts);
    else if (adaptive(opts))
        out->remasking = DLLM_REMASKING_LOW_CONFIDENCE;
    if (values[RUN_EOS_POLICY].given)
        out->eos_policy = (enum dllm_eos_policy)values[RUN_EOS_POLICY].choice;
    out->no_early_stop = values[RUN_NO_EARLY_STOP].given;
    out->allow_long = values[RUN_ALLOW_LONG].given;
}

const char *run_remasking_name(enum dllm_remasking remasking)
{
    return remasking_names[remasking];
}

const char *run_eos_policy_name(enum dllm_eos_policy policy)
{
    return eos_policy_names[policy];
}
