/* opts.c: walks the arguments of a command along its option table. */
#include "opts.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct parser {
    struct opts *opts;
    int argc, at;
    char **argv;
    bool operands_only; /* "--" was seen */
};

void opts_problem(struct opts *opts, const char *format, ...)
{
    va_list args;

    if (opts->problem[0])
        return;
    va_start(args, format);
    vsnprintf(opts->problem, sizeof opts->problem, format, args);
    va_end(args);
}

bool opts_has(const struct opt_table *table, int index)
{
    return !(table->absent >> index & 1);
}

static int find_long(const struct opt_table *table, const char *name, size_t length)
{
    for (int i = 0; i < table->count; i++) {
        const struct opt *option = &table->options[i];
        if (opts_has(table, i) && option->kind != OPT_OPERAND && strlen(option->name) == length &&
            strncmp(option->name, name, length) == 0)
            return i;
    }
    return -1;
}

static int find_letter(const struct opt_table *table, char letter)
{
    for (int i = 0; i < table->count; i++)
        if (opts_has(table, i) && table->options[i].letter == letter)
            return i;
    return -1;
}

/* Says what an option of another program is called here; false if there is none. */
static bool report_synonym(struct opts *opts, const char *dashes, const char *name)
{
    const struct opt_synonym *synonym = NULL;
    char ours[120] = "";

    while ((synonym = opts_next_synonym(opts->table, name, synonym)))
        snprintf(ours + strlen(ours), sizeof ours - strlen(ours), "%s--%s%s%s", *ours ? " or " : "",
                 synonym->ours, synonym->value ? " " : "", synonym->value ? synonym->value : "");
    if (*ours)
        opts_problem(opts, "unknown option %s%s; here it is %s", dashes, name, ours);
    return *ours;
}

/* An operand that was given as if it were an option, --file for FILE; false if it is none. */
static bool report_operand(struct opts *opts, const char *dashes, const char *name)
{
    for (int i = 0; i < opts->table->count; i++) {
        const struct opt *option = &opts->table->options[i];
        if (!opts_has(opts->table, i) || option->kind != OPT_OPERAND ||
            strcasecmp(option->name, strcmp(name, "m") == 0 ? "model" : name) != 0)
            continue;
        opts_problem(opts, "unknown option %s%s; %s is given without one: dllm %s %s", dashes, name,
                     option->name, opts->table->command, opts->table->usage);
        return true;
    }
    return false;
}

/* An option of the command that shares the list, which this one has not. */
static bool is_absent(const struct opt_table *table, const char *name)
{
    for (int i = 0; i < table->count; i++)
        if (!opts_has(table, i) && strcmp(table->options[i].name, name) == 0)
            return true;
    return false;
}

static void report_unknown(struct opts *opts, const char *name)
{
    const char *names[OPT_LIMIT + 1];
    const char *near;

    if (report_synonym(opts, "--", name) || report_operand(opts, "--", name))
        return;
    for (int i = 0; i < opts->table->count; i++)
        names[i] = opts->table->options[i].kind == OPT_OPERAND || !opts_has(opts->table, i)
                       ? NULL
                       : opts->table->options[i].name;
    names[opts->table->count] = "help";
    near = is_absent(opts->table, name) ? NULL : opts_suggest(name, names, opts->table->count + 1);
    if (near)
        opts_problem(opts, "unknown option --%s; did you mean --%s?", name, near);
    else if (name[0] && !name[1] && find_letter(opts->table, name[0]) >= 0)
        opts_problem(opts, "unknown option --%s; did you mean -%s?", name, name);
    else
        opts_problem(opts, "unknown option --%s; \"dllm help %s\" lists the options", name,
                     opts->table->command);
}

/* Keeps every text of a repeatable option. */
static bool add_text(struct opts *opts, struct opt_value *value, const char *text)
{
    const char **texts = realloc(value->texts, ((size_t)value->given + 1) * sizeof *texts);

    if (!texts) {
        opts_problem(opts, "out of memory");
        return false;
    }
    texts[value->given] = text;
    value->texts = texts;
    return true;
}

static void set_value(struct opts *opts, int index, const char *text)
{
    const struct opt *option = &opts->table->options[index];
    struct opt_value *value = &opts->values[index];

    if (value->given && !option->repeatable) {
        opts_problem(opts, "--%s is given more than once; give it once", option->name);
        return;
    }
    if (text && !*text && !option->may_be_empty &&
        (option->kind == OPT_TEXT || option->kind == OPT_PATH)) {
        opts_problem(opts, "--%s needs a value %s, not an empty one", option->name,
                     option->metavar);
        return;
    }
    if (option->repeatable && !add_text(opts, value, text))
        return;
    if (option->kind == OPT_FLAG || opts_read_value(opts, option, text, value))
        value->given++;
}

/* The value of an option that needs one: what is attached or the next
 * argument. */
static void take_value(struct parser *parser, int index, const char *attached)
{
    const struct opt *option = &parser->opts->table->options[index];

    if (!attached && parser->at == parser->argc) {
        opts_problem(parser->opts, "--%s needs a value %s: %s", option->name, option->metavar,
                     option->help);
        return;
    }
    set_value(parser->opts, index, attached ? attached : parser->argv[parser->at++]);
}

static void take_flag(struct parser *parser, int index, const char *attached)
{
    if (attached)
        opts_problem(parser->opts, "--%s takes no value, but got \"%s\"",
                     parser->opts->table->options[index].name, attached);
    else
        set_value(parser->opts, index, NULL);
}

static void take_option(struct parser *parser, int index, const char *attached)
{
    if (parser->opts->table->options[index].kind == OPT_FLAG)
        take_flag(parser, index, attached);
    else
        take_value(parser, index, attached);
}

static void take_long(struct parser *parser, const char *argument)
{
    size_t length = strcspn(argument, "=");
    const char *attached = argument[length] ? argument + length + 1 : NULL;
    int index = find_long(parser->opts->table, argument, length);
    char name[60];

    if (index >= 0) {
        take_option(parser, index, attached);
    } else if (strcmp(argument, "help") == 0) {
        parser->opts->help = true;
    } else {
        snprintf(name, sizeof name, "%.*s", (int)(length < 59 ? length : 59), argument);
        report_unknown(parser->opts, name);
    }
}

/* What is long with one dash alone, or another program's; false if the argument is neither. */
static bool report_single_dash(struct parser *parser, const char *argument)
{
    const struct opt_table *table = parser->opts->table;
    size_t length = strcspn(argument, "=");
    char name[60];

    if (length >= sizeof name || (length == 1 && find_letter(table, argument[0]) >= 0))
        return false;
    snprintf(name, sizeof name, "%.*s", (int)length, argument);
    if (length == 1 || find_long(table, name, length) < 0)
        return report_synonym(parser->opts, "-", name) ||
               (length == 1 && report_operand(parser->opts, "-", name));
    opts_problem(parser->opts, "unknown option -%s; did you mean --%s?", name, name);
    return true;
}

static void take_short(struct parser *parser, const char *argument)
{
    int index = find_letter(parser->opts->table, argument[0]);
    const char *attached = argument[1] ? argument + 1 + (argument[1] == '=') : NULL;

    if (report_single_dash(parser, argument))
        return;
    if (index >= 0)
        take_option(parser, index, attached);
    else if (strcmp(argument, "h") == 0)
        parser->opts->help = true;
    else
        opts_problem(parser->opts, "unknown option -%.59s; \"dllm help %s\" lists the options",
                     argument, parser->opts->table->command);
}

static bool takes_operands(const struct opt_table *table)
{
    for (int i = 0; i < table->count; i++)
        if (opts_has(table, i) && table->options[i].kind == OPT_OPERAND)
            return true;
    return false;
}

/* A dash and more, but not a negative number: no option starts with a digit. */
static bool looks_like_option(const char *argument)
{
    return argument[0] == '-' && argument[1] && !strchr("0123456789.", argument[1]);
}

static void report_unexpected(struct opts *opts, const char *argument, bool behind_dashes)
{
    if (behind_dashes && looks_like_option(argument))
        opts_problem(opts,
                     "unexpected argument \"%.60s\"; options stand before --, what comes behind "
                     "it is no option",
                     argument);
    else if (takes_operands(opts->table))
        opts_problem(
            opts, "unexpected argument \"%.60s\"; text with spaces needs quotes around it%s",
            argument, find_letter(opts->table, 'm') >= 0 ? ", a model's name -m before it" : "");
    else
        opts_problem(opts,
                     "unexpected argument \"%.60s\"; %s takes options alone, \"dllm help %s\" "
                     "lists them",
                     argument, opts->table->command, opts->table->command);
}

static void take_operand(struct parser *parser, const char *argument)
{
    const struct opt_table *table = parser->opts->table;

    for (int i = 0; i < table->count; i++) {
        if (opts_has(table, i) && table->options[i].kind == OPT_OPERAND &&
            !parser->opts->values[i].given) {
            set_value(parser->opts, i, argument);
            return;
        }
    }
    report_unexpected(parser->opts, argument, parser->operands_only);
}

static void take_argument(struct parser *parser)
{
    const char *argument = parser->argv[parser->at++];

    if (parser->operands_only || !looks_like_option(argument))
        take_operand(parser, argument);
    else if (strcmp(argument, "--") == 0)
        parser->operands_only = true;
    else if (argument[1] == '-')
        take_long(parser, argument + 2);
    else
        take_short(parser, argument + 1);
}

static const char *dashes(const struct opt *option)
{
    return option->kind == OPT_OPERAND ? "" : "--";
}

bool opts_in_force(const struct opts *opts, int index)
{
    return opts->values[index].given && !opts->values[index].off;
}

/* Whether a value can be one of two that may not come together. */
static bool excludes(const struct opts *opts, int index)
{
    return opts_in_force(opts, index) && !opts->values[index].agrees;
}

static void check_pair(struct opts *opts, int first, int second, const char *why)
{
    const struct opt *a = &opts->table->options[first], *b = &opts->table->options[second];

    if (excludes(opts, first) && excludes(opts, second))
        opts_problem(opts, "%s%s and %s%s exclude each other: %s", dashes(a), a->name, dashes(b),
                     b->name, why);
}

static void check_conflicts(struct opts *opts)
{
    const struct opt_table *table = opts->table;

    for (int i = 0; i < table->count; i++)
        for (int j = i + 1; j < table->count; j++)
            if (table->options[i].group && table->options[i].group == table->options[j].group)
                check_pair(opts, i, j, table->group_why[table->options[i].group]);
    for (int i = 0; i < table->conflict_count; i++)
        check_pair(opts, table->conflicts[i].first, table->conflicts[i].second,
                   table->conflicts[i].why);
}

static bool group_given(const struct opts *opts, int group)
{
    for (int i = 0; i < opts->table->count; i++)
        if (opts->table->options[i].group == group && opts_in_force(opts, i))
            return true;
    return false;
}

static void check_missing(struct opts *opts)
{
    for (int i = 0; i < opts->table->count; i++) {
        const struct opt *option = &opts->table->options[i];
        if (opts_has(opts->table, i) && option->required && !opts->values[i].given)
            opts_problem(opts, "%s%s is missing: %s", dashes(option), option->name, option->help);
    }
    for (int group = 1; group < OPT_GROUPS; group++)
        if (opts->table->group_missing[group] && !group_given(opts, group))
            opts_problem(opts, "%s", opts->table->group_missing[group]);
}

void opts_parse(const struct opt_table *table, int argc, char **argv, struct opts *out)
{
    struct parser parser = {.opts = out, .argc = argc, .argv = argv};

    *out = (struct opts){.table = table};
    while (parser.at < argc)
        take_argument(&parser);
    check_conflicts(out);
    check_missing(out);
}

int opts_find(const struct opt_table *table, const char *name)
{
    return find_long(table, name, strlen(name));
}

void opts_inherit(struct opts *opts, const struct opts *base)
{
    bool taken[OPT_LIMIT] = {false};

    for (int i = 0; i < opts->table->count; i++) {
        int group = opts->table->options[i].group;
        taken[i] =
            opts->values[i].given || opts->values[i].denied || (group && group_given(opts, group));
    }
    for (int i = 0; i < opts->table->conflict_count; i++) {
        struct opt_conflict pair = opts->table->conflicts[i];
        taken[pair.second] |= excludes(opts, pair.first);
        taken[pair.first] |= excludes(opts, pair.second);
    }
    for (int i = 0; i < opts->table->count; i++)
        if (!taken[i] && base->values[i].given) {
            opts->values[i] = base->values[i];
            opts->values[i].borrowed = true;
        }
    check_conflicts(opts);
}

void opts_free(struct opts *opts)
{
    for (int i = 0; i < OPT_LIMIT; i++) {
        if (opts->values[i].borrowed)
            continue;
        free(opts->values[i].texts);
        free(opts->values[i].ids);
    }
    *opts = (struct opts){0};
}
