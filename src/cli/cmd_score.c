/* cmd_score.c: dllm score: how likely an answer is to a model. */
#include "out.h"
#include "progress_line.h"
#include "score_command.h"

#include <string.h>

enum { PROMPT_GROUP = 1, ANSWER_GROUP = 2, MOST = 1000000 };

static const struct opt options[SCORE_OPTIONS] = {
    [SCORE_MODEL] = CLI_OPTION_MODEL,
    [SCORE_PULL] = CLI_OPTION_PULL,
    [SCORE_PROMPT] = {.name = "prompt",
                      .kind = OPT_TEXT,
                      .may_be_empty = true,
                      .group = PROMPT_GROUP,
                      .metavar = "TEXT",
                      .help = "what the answer follows, through the chat template; \"\" with "
                              "--no-chat: nothing"},
    [SCORE_PROMPT_TOKENS] = {.name = "prompt-tokens",
                             .kind = OPT_IDS,
                             .group = PROMPT_GROUP,
                             .metavar = "IDS",
                             .help = "the prompt as token ids, past template and tokenizer"},
    [SCORE_MESSAGES] = CLI_OPTION_MESSAGES(PROMPT_GROUP),
    [SCORE_SYSTEM] = CLI_OPTION_SYSTEM,
    [SCORE_NO_CHAT] = {.name = "no-chat",
                       .kind = OPT_FLAG,
                       .help = "feed the text as it is, without chat template; control strings "
                               "in it become control tokens"},
    [SCORE_PARSE_SPECIAL] = {.name = "parse-special",
                             .kind = OPT_FLAG,
                             .help = "control strings in prompt and answer become control tokens"},
    [SCORE_ANSWER] = {.name = "answer",
                      .kind = OPT_TEXT,
                      .group = ANSWER_GROUP,
                      .metavar = "TEXT",
                      .help = "the answer to score"},
    [SCORE_ANSWER_TOKENS] = {.name = "answer-tokens",
                             .kind = OPT_IDS,
                             .group = ANSWER_GROUP,
                             .metavar = "IDS",
                             .help = "the answer as token ids"},
    [SCORE_SAMPLES] = {.name = "samples",
                       .kind = OPT_INTEGER,
                       .low = 1,
                       .high = MOST,
                       .metavar = "N",
                       .fallback = "128",
                       .help = "random masks to try; the error halves with four times as many"},
    [SCORE_BATCH] = {.name = "batch",
                     .kind = OPT_INTEGER,
                     .low = 1,
                     .high = MOST,
                     .metavar = "N",
                     .fallback = "16",
                     .help = "samples whose numbers of masks are spread evenly; without bias "
                             "where odd"},
    [SCORE_CFG_SCALE] = {.name = "cfg-scale",
                         .kind = OPT_NUMBER,
                         .least = 0,
                         .most = 1000,
                         .metavar = "S",
                         .fallback = "0: off",
                         .help = "classifier-free guidance; two passes a sample"},
    [SCORE_SEED] = {.name = "seed",
                    .kind = OPT_INTEGER,
                    .low = 0,
                    .high = INT64_MAX,
                    .metavar = "N",
                    .fallback = "42",
                    .help = "where the random numbers start"},
    [SCORE_ALLOW_LONG] = {.name = "allow-long",
                          .kind = OPT_FLAG,
                          .help = "permit more tokens than the model's context length"},
    [SCORE_INPUT] = {.name = "input",
                     .once = true,
                     .kind = OPT_PATH,
                     .group = PROMPT_GROUP,
                     .metavar = "FILE",
                     .help = "score a file of requests, a JSON object a line; -: standard input"},
    [SCORE_OUTPUT] = {.name = "output",
                      .letter = 'o',
                      .once = true,
                      .kind = OPT_PATH,
                      .metavar = "FILE",
                      .fallback = "-: standard output",
                      .help = "with --input: where the results go, a JSON object a line"},
    [SCORE_RESUME] = {.name = "resume",
                      .once = true,
                      .kind = OPT_FLAG,
                      .help = "with --output: go on behind the results that are there, by the same "
                              "settings"},
    [SCORE_JSON] = {.name = "json",
                    .once = true,
                    .kind = OPT_FLAG,
                    .help = "print the result as a JSON object"},
    [SCORE_FORCE] = CLI_OPTION_FORCE,
    [SCORE_THREADS] = CLI_OPTION_THREADS,
    [SCORE_DEVICE] = CLI_OPTION_DEVICE,
    [SCORE_GPU_LAYERS] = CLI_OPTION_GPU_LAYERS,
    [SCORE_CPU_LEVEL] = CLI_OPTION_CPU_LEVEL,
};

static const struct opt_conflict conflicts[] = {
    {SCORE_SYSTEM, SCORE_NO_CHAT, "raw text has no system message"},
    {SCORE_SYSTEM, SCORE_MESSAGES, "the conversation brings its own system message"},
    {SCORE_SYSTEM, SCORE_PROMPT_TOKENS, "ids are fed as they are"},
    {SCORE_NO_CHAT, SCORE_MESSAGES, "a conversation needs the chat template"},
    {SCORE_PARSE_SPECIAL, SCORE_NO_CHAT, "control strings in raw text are always parsed"},
    {SCORE_JSON, SCORE_INPUT, "the results of a file are JSON objects as they are"},
};

const struct opt_table score_option_table = {
    .command = "score",
    .usage = "[-m MODEL] --prompt TEXT --answer TEXT [options]",
    .summary = "Say how likely an answer is to a model",
    .notes = "Prints the natural logarithm of the answer's likelihood, estimated from random\n"
             "masks. Exit codes: 0 done, 1 failure, 2 usage error, 130 interrupted.\n",
    .options = options,
    .count = SCORE_OPTIONS,
    .conflicts = conflicts,
    .conflict_count = sizeof conflicts / sizeof *conflicts,
    .group_why = {[PROMPT_GROUP] = "the prompt comes from one place",
                  [ANSWER_GROUP] = "the answer comes from one place"},
};

/* How far a single estimate is, on a terminal; ends it after ctrl-c. */
static int on_samples(void *context, int done, int samples)
{
    (void)context;
    progress_line((double)done / samples, "%d of %d samples", done, samples);
    return cli_interrupted();
}

static int score_one(const struct opts *opts, const struct dllm_engine *engine,
                     struct dllm_session *session)
{
    struct score_watch watch = {on_samples, NULL};
    struct score_outcome outcome;
    int code = score_estimate(opts, engine, session, &watch, &outcome);

    progress_line_clear();
    if (code)
        return code;
    if (opts->values[SCORE_JSON].given)
        return out_print_json(score_json(&outcome));
    printf("%.6f\n", outcome.likelihood.log_likelihood);
    return out_finish();
}

/* A single request's prompt and answer; those of a file are looked for in each line. */
static int check_texts(const struct opt_value *values)
{
    if (!values[SCORE_PROMPT].given && !values[SCORE_PROMPT_TOKENS].given &&
        !values[SCORE_MESSAGES].given)
        return cli_fail(CLI_USAGE, "a prompt is missing: give --prompt, --prompt-tokens or "
                                   "--messages, or a file of requests: --input");
    if (!values[SCORE_ANSWER].given && !values[SCORE_ANSWER_TOKENS].given)
        return cli_fail(CLI_USAGE, "an answer is missing: give --answer or --answer-tokens");
    return CLI_OK;
}

static int check(const struct opts *opts)
{
    const struct opt_value *values = opts->values;
    const char *output = values[SCORE_OUTPUT].text;

    if (!values[SCORE_INPUT].given && (output || values[SCORE_RESUME].given))
        return cli_fail(CLI_USAGE, "--%s has no effect without --input",
                        output ? "output" : "resume");
    if (values[SCORE_RESUME].given && (!output || strcmp(output, "-") == 0))
        return cli_fail(CLI_USAGE, "--resume needs --output FILE: what is answered already is read "
                                   "from there");
    return values[SCORE_INPUT].given ? CLI_OK : check_texts(values);
}

static int run_score(struct opts *opts)
{
    const struct opt_value *values = opts->values;
    const struct cli_engine_values engine_values = {&values[SCORE_MODEL],
                                                    &values[SCORE_PULL],
                                                    &values[SCORE_THREADS],
                                                    &values[SCORE_DEVICE],
                                                    &values[SCORE_GPU_LAYERS],
                                                    &values[SCORE_CPU_LEVEL],
                                                    NULL};
    struct dllm_engine *engine = NULL;
    struct dllm_session *session = NULL;
    struct dllm_error error = {0};
    int code = check(opts);

    if (code)
        return code;
    cli_catch_interrupt();
    if ((code = cli_open_engine(&engine_values, &engine)))
        return code;
    if (dllm_session_create(engine, &session, &error))
        code = cli_fail_error(&error);
    else
        code = values[SCORE_INPUT].given ? score_lines_run(opts, engine, session)
                                         : score_one(opts, engine, session);
    dllm_session_destroy(session);
    dllm_engine_close(engine);
    return code;
}

const struct command command_score = {&score_option_table, run_score};
