/*
 * fuzz_options.c: command lines. The first byte chooses the command; the rest are
 * its arguments, cut at line feeds. What passes is in the range that its table
 * gives, and what does not has one message.
 */
#include "cli.h"
#include "fuzz.h"
#include "run_options.h"

#include <stdlib.h>
#include <string.h>

enum { WORDS_MOST = 200 };

/* Cuts text, which ends in zero, at its line feeds. */
static int cut(char *text, char *words[WORDS_MOST])
{
    int count = 0;

    while (text && count < WORDS_MOST) {
        words[count++] = text;
        text = strchr(text, '\n');
        if (text)
            *text++ = 0;
    }
    return count;
}

static void check_value(const struct opt *option, const struct opt_value *value)
{
    if (!value->given)
        return;
    if (option->kind == OPT_INTEGER)
        fuzz_require(value->integer >= option->low && value->integer <= option->high,
                     "a whole number out of range");
    if (option->kind == OPT_NUMBER)
        fuzz_require(value->number >= option->least && value->number <= option->most,
                     "a number out of range");
    if (option->kind == OPT_CHOICE)
        fuzz_require(strcmp(option->choices[value->choice], value->text) == 0, "another choice");
    if (option->kind == OPT_IDS)
        for (size_t i = 0; i < value->id_count; i++)
            fuzz_require(value->ids[i] >= 0, "an id below 0");
}

static void check(const struct opts *opts)
{
    fuzz_require(memchr(opts->problem, 0, sizeof opts->problem) != NULL, "an endless message");
    if (opts->problem[0] || opts->help)
        return;
    for (int i = 0; i < opts->table->count; i++)
        if (opts_has(opts->table, i))
            check_value(&opts->table->options[i], &opts->values[i]);
    if (opts->table == &run_option_table)
        run_check_values(opts);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct command *command;
    char *words[WORDS_MOST], *text;
    struct opts opts;
    int count;

    fuzz_silence_stderr();
    if (size == 0)
        return 0;
    command = cli_commands[data[0] % CLI_COMMANDS];
    text = malloc(size);
    fuzz_require(text != NULL, "out of memory");
    memcpy(text, data + 1, size - 1);
    text[size - 1] = 0;
    count = size > 1 ? cut(text, words) : 0;
    opts_parse(command->table, count, words, &opts);
    check(&opts);
    opts_free(&opts);
    free(text);
    return 0;
}
