/* batch_fields.c: names of options and of a request's fields, from one to the other. */
#include "batch.h"

#include <string.h>

void batch_field_name(const char *option, char out[BATCH_FIELD_MOST])
{
    snprintf(out, BATCH_FIELD_MOST, "%s", strcmp(option, "prompt-tokens") == 0 ? "tokens" : option);
    for (char *at = out; *at; at++)
        if (*at == '-')
            *at = '_';
}

/* The option that is named at text, behind its dashes, if a line may have it and it is not from
 * the command line; NULL if there is none. */
static const struct opt *find_field(const struct opts *opts, const char *text, size_t length)
{
    char name[BATCH_FIELD_MOST];
    int index;

    if (length == 0 || length >= sizeof name)
        return NULL;
    snprintf(name, sizeof name, "%.*s", (int)length, text);
    index = opts_find(opts->table, name);
    if (index < 0 || opts->table->options[index].once || opts->values[index].borrowed)
        return NULL;
    return &opts->table->options[index];
}

/* Puts the field for the option at `at` [2 + length], which is never longer; where it ends. */
static char *put_field(char *at, size_t length, const char *option)
{
    char name[BATCH_FIELD_MOST];
    size_t size;

    batch_field_name(option, name);
    size = strlen(name);
    memmove(at + size + 2, at + length + 2, strlen(at + length + 2) + 1);
    at[0] = at[size + 1] = '"';
    memcpy(at + 1, name, size);
    return at + size + 2;
}

void batch_name_fields(const struct opts *opts, char *message)
{
    char *at = message;

    while (opts->table && (at = strstr(at, "--"))) {
        size_t length = strspn(at + 2, "abcdefghijklmnopqrstuvwxyz-");
        const struct opt *option = find_field(opts, at + 2, length);
        /* In quotes it is a value of the user's. */
        if (option && (at == message || at[-1] != '"'))
            at = put_field(at, length, option->name);
        else
            at += 2 + length;
    }
}
