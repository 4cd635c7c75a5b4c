/* batch_line.c: the fields of a request are the command's options by name. */
#include "batch.h"

#include <stdlib.h>
#include <string.h>

static int add_word(struct batch_line *line, const char *name, const char *value)
{
    char **grown = realloc(line->words, ((size_t)line->word_count + 1) * sizeof *grown);
    char *word = NULL;

    if (grown) {
        line->words = grown;
        if (asprintf(&word, value ? "--%s=%s" : "--%s", name, value) < 0)
            word = NULL;
    }
    if (!word)
        return cli_fail(CLI_FAILURE, "out of memory");
    line->words[line->word_count++] = word;
    return CLI_OK;
}

/* An array of ids or a conversation, as its option writes it: JSON. */
static int add_json(struct batch_line *line, const char *name, const json_t *value)
{
    char *text = json_dumps(value, JSON_COMPACT);
    int code = text ? add_word(line, name, text) : cli_fail(CLI_FAILURE, "out of memory");

    free(text);
    return code;
}

static int fail_kind(const char *name, const char *wanted)
{
    return cli_fail(CLI_USAGE, "the field \"%s\" must be %s", name, wanted);
}

static int add_texts(struct batch_line *line, const char *name, const json_t *array)
{
    size_t index;
    json_t *item;
    int code;

    json_array_foreach(array, index, item)
    {
        if (!json_is_string(item))
            return fail_kind(name, "a text or an array of texts");
        if ((code = add_word(line, name, json_string_value(item))))
            return code;
    }
    return CLI_OK;
}

static int add_number(struct batch_line *line, const char *name, const json_t *value)
{
    char text[64];

    if (json_is_integer(value))
        snprintf(text, sizeof text, "%lld", (long long)json_integer_value(value));
    else
        snprintf(text, sizeof text, "%.17g", json_real_value(value));
    return add_word(line, name, text);
}

static int add_value(struct batch_line *line, const struct opt *option, const json_t *value)
{
    const char *name = option->name;
    bool messages = strcmp(name, "messages") == 0;

    if (option->kind == OPT_FLAG) {
        if (!json_is_boolean(value))
            return fail_kind(name, "true or false");
        return json_is_true(value) ? add_word(line, name, NULL) : CLI_OK;
    }
    if (option->kind == OPT_IDS || messages) {
        if (!json_is_array(value))
            return fail_kind(name, messages ? "an array of messages" : "an array of ids");
        return add_json(line, name, value);
    }
    if (option->repeatable && json_is_array(value))
        return add_texts(line, name, value);
    if (option->kind == OPT_INTEGER || option->kind == OPT_NUMBER)
        return json_is_number(value) ? add_number(line, name, value) : fail_kind(name, "a number");
    return json_is_string(value) ? add_word(line, name, json_string_value(value))
                                 : fail_kind(name, "a text");
}

/* The name as the options write it: dashes, and prompt-tokens for tokens. */
static void option_name(const char *field, char out[BATCH_FIELD_MOST])
{
    snprintf(out, BATCH_FIELD_MOST, "%s", strcmp(field, "tokens") == 0 ? "prompt-tokens" : field);
    for (char *at = out; *at; at++)
        if (*at == '_')
            *at = '-';
}

/* A field as other programs call it; false if it is none. */
static bool fail_synonym(const struct opt_table *table, const char *field, const char *name)
{
    const struct opt_synonym *synonym = opts_next_synonym(table, name, NULL);
    char ours[BATCH_FIELD_MOST];

    if (!synonym || table->options[opts_find(table, synonym->ours)].once)
        return false;
    batch_field_name(synonym->ours, ours);
    if (synonym->value)
        cli_fail(CLI_USAGE, "unknown field \"%s\"; here it is \"%s\": \"%s\"", field, ours,
                 synonym->value);
    else
        cli_fail(CLI_USAGE, "unknown field \"%s\"; here it is \"%s\"", field, ours);
    return true;
}

static int fail_unknown(const struct opt_table *table, const char *field, const char *name)
{
    const char *names[OPT_LIMIT + 1] = {"tokens"};
    char near_field[BATCH_FIELD_MOST];
    const char *near;

    if (fail_synonym(table, field, name))
        return CLI_USAGE;
    for (int i = 0; i < table->count; i++)
        names[i + 1] =
            table->options[i].once || !opts_has(table, i) ? NULL : table->options[i].name;
    near = opts_suggest(name, names, table->count + 1);
    if (!near)
        return cli_fail(CLI_USAGE,
                        "unknown field \"%.60s\"; fields are id and the names of %s's options",
                        field, table->command);
    batch_field_name(near, near_field);
    return cli_fail(CLI_USAGE, "unknown field \"%.60s\"; did you mean \"%s\"?", field, near_field);
}

/* Options of a whole batch, and those that read a text from a file. */
static int fail_once(const char *field, const char *name)
{
    bool infill = strcmp(name, "infill") == 0;

    if (infill || strcmp(name, "prompt-file") == 0)
        return cli_fail(CLI_USAGE, "the field \"%s\" names a file; give its text as \"%s\"", field,
                        infill ? "template" : "prompt");
    return cli_fail(CLI_USAGE,
                    "the field \"%s\" holds for a whole batch: it belongs on the command line",
                    field);
}

static int add_field(struct batch_line *line, const struct opt_table *table, const char *field,
                     const json_t *value)
{
    char name[BATCH_FIELD_MOST];
    int index;

    if (strcmp(field, "id") == 0 || json_is_null(value))
        return CLI_OK;
    option_name(field, name);
    index = opts_find(table, name);
    if (index < 0)
        return fail_unknown(table, field, name);
    if (table->options[index].once)
        return fail_once(field, name);
    return add_value(line, &table->options[index], value);
}

static bool says_no(const json_t *value)
{
    return json_is_false(value) || (json_is_array(value) && json_array_size(value) == 0);
}

/* A flag that is false and an empty list hold against the command line's. */
static void deny_inherited(struct batch_line *line, const json_t *object)
{
    char name[BATCH_FIELD_MOST];
    const char *field;
    json_t *value;

    json_object_foreach((json_t *)object, field, value)
    {
        option_name(field, name);
        if (says_no(value) && strcmp(field, "id") != 0)
            line->opts.values[opts_find(line->opts.table, name)].denied = true;
    }
}

bool batch_line_is_blank(const char *line, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (!strchr(" \t\r", line[i]))
            return false;
    return true;
}

int batch_line_parse(struct batch_line *line, const json_t *object, const struct opts *base)
{
    const char *field;
    json_t *value;
    int code;

    *line = (struct batch_line){0};
    json_object_foreach((json_t *)object, field, value)
    {
        if ((code = add_field(line, base->table, field, value)))
            return code;
    }
    opts_parse(base->table, line->word_count, line->words, &line->opts);
    deny_inherited(line, object);
    opts_inherit(&line->opts, base);
    return line->opts.problem[0] ? cli_fail(CLI_USAGE, "%s", line->opts.problem) : CLI_OK;
}

void batch_line_free(struct batch_line *line)
{
    if (line->opts.table)
        opts_free(&line->opts);
    for (int i = 0; i < line->word_count; i++)
        free(line->words[i]);
    free(line->words);
    *line = (struct batch_line){0};
}
