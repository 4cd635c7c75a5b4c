/*
 * cmd_eval.c: dllm eval: how often a model answers right, how fast, under several sets of
 * options: asks every question of a file under every arm, and says how each arm
 * differs from the first one, question by question. docs/evaluating.md shows it
 * at work.
 */
#include "eval_ask.h"
#include "eval_report.h"
#include "out.h"

enum option {
    EVAL_FILE,
    EVAL_ARM,
    EVAL_ARMS,
    EVAL_COMMON,
    EVAL_MATCH,
    EVAL_RESULTS,
    EVAL_JSON,
    EVAL_EVERY,
    EVAL_LIMIT,
    EVAL_OPTIONS
};

static const struct opt options[EVAL_OPTIONS] = {
    [EVAL_FILE] = {.name = "QUESTIONS",
                   .kind = OPT_OPERAND,
                   .required = true,
                   .help = "a file with {\"question\", \"answer\"} on each line"},
    [EVAL_ARM] = {.name = "arm",
                  .letter = 'a',
                  .kind = OPT_TEXT,
                  .repeatable = true,
                  .metavar = "ARM",
                  .help =
                      "\"NAME: OPTIONS\", the options being those of dllm run; the first arm is "
                      "what the others are compared with"},
    [EVAL_ARMS] = {.name = "arms",
                   .kind = OPT_PATH,
                   .metavar = "FILE",
                   .help = "arms from a JSON file, {\"NAME\": \"OPTIONS\", ...}"},
    [EVAL_COMMON] = {.name = "common",
                     .kind = OPT_TEXT,
                     .metavar = "OPTIONS",
                     .help = "options that every arm has, such as the model's -m"},
    [EVAL_MATCH] = {.name = "match",
                    .kind = OPT_CHOICE,
                    .choices = eval_match_names,
                    .metavar = "RULE",
                    .fallback = "exact",
                    .help = "when an output is right: the answer itself, the same last number, or "
                            "the answer somewhere in it"},
    [EVAL_RESULTS] = {.name = "results",
                      .letter = 'r',
                      .kind = OPT_PATH,
                      .metavar = "FILE",
                      .help = "keep every answer in this file, and ask only what it lacks"},
    [EVAL_JSON] = {.name = "json",
                   .kind = OPT_PATH,
                   .metavar = "FILE",
                   .help = "write the table's numbers to this file"},
    [EVAL_EVERY] = {.name = "every",
                    .kind = OPT_INTEGER,
                    .low = 1,
                    .high = 1000000,
                    .metavar = "N",
                    .fallback = "1",
                    .help = "ask every Nth question only"},
    [EVAL_LIMIT] = {.name = "limit",
                    .kind = OPT_INTEGER,
                    .low = 1,
                    .high = 100000000,
                    .metavar = "N",
                    .fallback = "all",
                    .help = "ask at most N questions"},
};

static const struct opt_table table = {
    .command = "eval",
    .usage = "QUESTIONS [options]",
    .summary = "Count right answers to a file of questions, per set of options",
    .options = options,
    .count = EVAL_OPTIONS,
};

static int collect_arms(const struct opts *opts, struct eval_arms *arms)
{
    const struct opt_value *values = opts->values;
    const char *common = values[EVAL_COMMON].text;
    int code = CLI_OK;

    if (values[EVAL_ARMS].given)
        code = eval_arms_load(arms, values[EVAL_ARMS].text, common);
    for (int i = 0; !code && i < values[EVAL_ARM].given; i++)
        code = eval_arms_add(arms, values[EVAL_ARM].texts[i], common);
    if (!code && arms->count == 0)
        code = eval_arms_add(arms, "defaults", common);
    return code;
}

static int report(const struct opts *opts, const struct eval_log *log)
{
    const struct opt_value *values = opts->values;
    enum eval_match match =
        values[EVAL_MATCH].given ? (enum eval_match)values[EVAL_MATCH].choice : EVAL_EXACT;
    struct eval_score *scores = eval_judge(log, match);
    int code = CLI_OK;

    if (!scores)
        return cli_fail(CLI_FAILURE, "out of memory");
    eval_print(log, scores);
    if (values[EVAL_JSON].given)
        code = eval_write_json(values[EVAL_JSON].text, values[EVAL_FILE].text, log, match, scores);
    eval_scores_free(scores, log->arms->count);
    return code ? code : out_finish();
}

/* What --json must not replace. */
static void keep_files(const struct opt_value *values)
{
    static const int files[] = {EVAL_FILE, EVAL_ARMS, EVAL_RESULTS};

    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        if (values[files[i]].given)
            out_file_keep(values[files[i]].text);
}

/* A file that cannot be written is told before the questions are asked, which may take hours. */
static int check_json_file(const struct opt_value *values)
{
    struct out_file file;
    int code = values[EVAL_JSON].given ? out_file_open(&file, values[EVAL_JSON].text) : CLI_OK;

    if (!code && values[EVAL_JSON].given)
        out_file_discard(&file);
    return code;
}

static int evaluate(const struct opts *opts)
{
    const struct opt_value *values = opts->values;
    int every = values[EVAL_EVERY].given ? (int)values[EVAL_EVERY].integer : 1;
    struct eval_questions questions = {0};
    struct eval_arms arms = {0};
    struct eval_log log = {0};
    int code = collect_arms(opts, &arms);

    if (!code)
        code = eval_questions_load(values[EVAL_FILE].text, every, (int)values[EVAL_LIMIT].integer,
                                   &questions);
    if (!code)
        code = eval_log_open(values[EVAL_RESULTS].text, &arms, &questions, &log);
    keep_files(values);
    if (!code)
        code = check_json_file(values);
    if (!code)
        code = eval_ask_all(&log);
    if (code == CLI_INTERRUPTED && values[EVAL_RESULTS].given)
        fprintf(stderr, "interrupted; the same command goes on from here\n");
    if (!code)
        code = report(opts, &log);
    eval_log_close(&log);
    eval_questions_free(&questions);
    eval_arms_free(&arms);
    return code;
}

static int run_eval(struct opts *opts)
{
    cli_catch_interrupt();
    return evaluate(opts);
}

const struct command command_eval = {&table, run_eval};
