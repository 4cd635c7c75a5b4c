/* cmd_tokenize.c: dllm tokenize: the ids that run would feed, or back. */
#include "cli.h"
#include "out.h"
#include "prompt.h"

#include <string.h>

enum { TEXT_GROUP = 1 };

enum {
    TOKENIZE_OPERAND,
    TOKENIZE_MODEL,
    TOKENIZE_PULL,
    TOKENIZE_STDIN,
    TOKENIZE_FILE,
    TOKENIZE_MESSAGES,
    TOKENIZE_DECODE,
    TOKENIZE_SYSTEM,
    TOKENIZE_NO_CHAT,
    TOKENIZE_PARSE_SPECIAL,
    TOKENIZE_PIECES,
    TOKENIZE_CONTROL,
    TOKENIZE_OPTIONS
};

static const struct opt options[TOKENIZE_OPTIONS] = {
    [TOKENIZE_OPERAND] = {.name = "TEXT",
                          .kind = OPT_OPERAND,
                          .group = TEXT_GROUP,
                          .help = "the text; - reads it from standard input"},
    [TOKENIZE_MODEL] = {.name = "model",
                        .letter = 'm',
                        .kind = OPT_PATH,
                        .metavar = "MODEL",
                        .fallback = "demo",
                        .help = "a GGUF file, one with a vocabulary alone will do; "
                                "OWNER/NAME[:QUANT], llada or dream, which pull fetches; demo: "
                                "the built-in model"},
    [TOKENIZE_PULL] = CLI_OPTION_PULL,
    [TOKENIZE_STDIN] = {.name = "stdin",
                        .kind = OPT_FLAG,
                        .group = TEXT_GROUP,
                        .help = "read the text from standard input"},
    [TOKENIZE_FILE] = {.name = "file",
                       .kind = OPT_PATH,
                       .group = TEXT_GROUP,
                       .metavar = "FILE",
                       .help = "read the text from a file"},
    [TOKENIZE_MESSAGES] = CLI_OPTION_MESSAGES(TEXT_GROUP),
    [TOKENIZE_DECODE] = {.name = "decode",
                         .kind = OPT_IDS,
                         .group = TEXT_GROUP,
                         .metavar = "IDS",
                         .help = "print the text of ids such as 3,5,17"},
    [TOKENIZE_SYSTEM] = CLI_OPTION_SYSTEM,
    [TOKENIZE_NO_CHAT] = {.name = "no-chat",
                          .kind = OPT_FLAG,
                          .help = "the bare text, without chat template; control strings in it "
                                  "become control tokens"},
    [TOKENIZE_PARSE_SPECIAL] = {.name = "parse-special",
                                .kind = OPT_FLAG,
                                .help = "control strings in messages become control tokens"},
    [TOKENIZE_PIECES] = {.name = "pieces",
                         .kind = OPT_FLAG,
                         .help = "a line per token: id and text"},
    [TOKENIZE_CONTROL] = {.name = "control",
                          .kind = OPT_FLAG,
                          .help = "with --decode: print control tokens too"},
};

static const struct opt_conflict conflicts[] = {
    {TOKENIZE_SYSTEM, TOKENIZE_NO_CHAT, "raw text has no system message"},
    {TOKENIZE_SYSTEM, TOKENIZE_MESSAGES, "the conversation brings its own system message"},
    {TOKENIZE_NO_CHAT, TOKENIZE_MESSAGES, "a conversation needs the chat template"},
    {TOKENIZE_PARSE_SPECIAL, TOKENIZE_NO_CHAT, "control strings in raw text are always parsed"},
    {TOKENIZE_DECODE, TOKENIZE_SYSTEM, "decoding goes from ids to text"},
    {TOKENIZE_DECODE, TOKENIZE_NO_CHAT, "decoding goes from ids to text"},
    {TOKENIZE_DECODE, TOKENIZE_PARSE_SPECIAL, "decoding goes from ids to text"},
    {TOKENIZE_CONTROL, TOKENIZE_PIECES, "pieces show control tokens always"},
};

static const struct opt_table table = {
    .command = "tokenize",
    .usage = "[-m MODEL] [TEXT] [options]",
    .summary = "Show the token ids that run would feed for a text",
    .options = options,
    .count = TOKENIZE_OPTIONS,
    .conflicts = conflicts,
    .conflict_count = sizeof conflicts / sizeof *conflicts,
    .group_why = {[TEXT_GROUP] = "the input comes from one place"},
    .group_missing = {[TEXT_GROUP] = "a text is missing: give TEXT, --stdin, --file, --messages "
                                     "or --decode"},
};

static int print_ids(const struct dllm_ids *ids)
{
    putchar('[');
    for (size_t i = 0; i < ids->count; i++)
        printf("%s%d", i ? ", " : "", (int)ids->ids[i]);
    puts("]");
    return out_finish();
}

static int print_pieces(const struct dllm_engine *engine, const struct dllm_ids *ids)
{
    struct dllm_error error = {0};
    struct dllm_text text;

    for (size_t i = 0; i < ids->count; i++) {
        if (dllm_decode(engine, &ids->ids[i], 1, true, &text, &error))
            return cli_fail_error(&error);
        printf("%d\t", (int)ids->ids[i]);
        out_print_quoted(stdout, text.data, text.size, 0);
        putchar('\n');
        dllm_text_free(&text);
    }
    return out_finish();
}

static int print_decoded(const struct dllm_engine *engine, const struct dllm_ids *ids, bool control)
{
    struct dllm_error error = {0};
    struct dllm_text text;

    if (dllm_decode(engine, ids->ids, ids->count, control, &text, &error))
        return cli_fail_error(&error);
    fwrite(text.data, 1, text.size, stdout);
    putchar('\n');
    dllm_text_free(&text);
    return out_finish();
}

static int print_answer(const struct opts *opts, const struct dllm_engine *engine,
                        const struct dllm_ids *ids)
{
    if (opts->values[TOKENIZE_PIECES].given)
        return print_pieces(engine, ids);
    if (opts->values[TOKENIZE_DECODE].given)
        return print_decoded(engine, ids, opts->values[TOKENIZE_CONTROL].given);
    return print_ids(ids);
}

static int open_engine(const struct opt_value *values, struct dllm_engine **out)
{
    struct dllm_engine_options engine_options = {
        .model_path = cli_model_path(&values[TOKENIZE_MODEL]), .threads = 1, .vocab_only = true};
    struct dllm_error error = {0};
    int code = cli_find_model(&engine_options.model_path, values[TOKENIZE_PULL].given);

    if (!code && dllm_engine_open(&engine_options, out, &error))
        code = cli_fail_error(&error);
    return code;
}

static int tokenize(const struct opts *opts, struct prompt *prompt)
{
    struct dllm_engine *engine = NULL;
    struct dllm_ids ids = {0};
    bool chat;
    int code = open_engine(opts->values, &engine);

    if (!code)
        code = prompt_encode(prompt, engine, &ids, &chat);
    if (!code)
        code = print_answer(opts, engine, &ids);
    dllm_ids_free(&ids);
    dllm_engine_close(engine);
    return code;
}

static int run_tokenize(struct opts *opts)
{
    const struct opt_value *values = opts->values;
    struct prompt_source source = {
        .operand = values[TOKENIZE_OPERAND].text,
        .file = values[TOKENIZE_FILE].text,
        .use_stdin = values[TOKENIZE_STDIN].given,
        .messages_file = values[TOKENIZE_MESSAGES].text,
        .ids = values[TOKENIZE_DECODE].ids,
        .id_count = values[TOKENIZE_DECODE].id_count,
        .system = values[TOKENIZE_SYSTEM].text,
        .raw = values[TOKENIZE_NO_CHAT].given,
        .parse_special = values[TOKENIZE_PARSE_SPECIAL].given,
    };
    struct prompt prompt;
    int code;

    if (values[TOKENIZE_CONTROL].given && !values[TOKENIZE_DECODE].given)
        return cli_fail(CLI_USAGE, "--control has no effect without --decode");
    code = prompt_read(&prompt, &source);
    if (!code)
        code = tokenize(opts, &prompt);
    prompt_free(&prompt);
    return code;
}

const struct command command_tokenize = {&table, run_tokenize};
