/*
 * cmd_completion.c: dllm completion: a script that completes dllm's commands,
 * options and values in a shell, written from the option tables.
 */
#include "cli.h"
#include "completion.h"
#include "out.h"

enum { COMPLETION_SHELL, COMPLETION_OPTIONS };

static const struct opt options[COMPLETION_OPTIONS] = {
    [COMPLETION_SHELL] = {.name = "SHELL",
                          .kind = OPT_OPERAND,
                          .required = true,
                          .help = "bash, zsh or fish"},
};

static const struct opt_table table = {
    .command = "completion",
    .usage = "bash | zsh | fish",
    .summary = "Print a script that completes commands and options in a shell",
    .notes = "For the running shell: source <(dllm completion bash), or dllm completion fish |\n"
             "source. make install puts all three where the shells find them.\n",
    .options = options,
    .count = COMPLETION_OPTIONS,
};

static int run_completion(struct opts *opts)
{
    const char *shell = opts->values[COMPLETION_SHELL].text;

    if (!completion_print(shell))
        return cli_fail(CLI_USAGE, "SHELL needs bash, zsh or fish, not \"%.60s\"", shell);
    return out_finish();
}

const struct command command_completion = {&table, run_completion};
