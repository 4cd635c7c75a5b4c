/* opts_help.c: prints a command's help text from its option table. */
#include "opts.h"

#include <string.h>

enum { HELP_COLUMN = 28, HELP_WIDTH = 80 };

/* Prints text from column `from`, broken at blanks, indented to `from`. */
static void print_wrapped(const char *text, int from, FILE *stream)
{
    int column = from;

    while (*text) {
        int length = (int)strcspn(text, " ");
        if (column > from && column + 1 + length > HELP_WIDTH) {
            fprintf(stream, "\n%*s", from, "");
            column = from;
        }
        column += fprintf(stream, "%s%.*s", column > from ? " " : "", length, text);
        text += length;
        text += strspn(text, " ");
    }
    fputc('\n', stream);
}

static int print_left(const struct opt *option, FILE *stream)
{
    if (option->kind == OPT_OPERAND)
        return fprintf(stream, "  %s", option->name);
    return fprintf(stream, "  %c%c%c --%s%s%s", option->letter ? '-' : ' ',
                   option->letter ? option->letter : ' ', option->letter ? ',' : ' ', option->name,
                   option->metavar ? " " : "", option->metavar ? option->metavar : "");
}

/* What the value must be, as the parser checks it. */
static void describe_range(const struct opt *option, char *out, size_t size)
{
    out[0] = 0;
    if (option->kind == OPT_INTEGER && option->high < 1000000000)
        snprintf(out, size, "%lld to %lld", (long long)option->low, (long long)option->high);
    else if (option->kind == OPT_INTEGER)
        snprintf(out, size, "at least %lld", (long long)option->low);
    else if (option->kind == OPT_NUMBER)
        snprintf(out, size, "%g to %g", option->least, option->most);
    else if (option->kind == OPT_CHOICE)
        for (int i = 0; option->choices[i]; i++)
            snprintf(out + strlen(out), size - strlen(out), "%s%s", i ? ", " : "",
                     option->choices[i]);
}

static void print_option(const struct opt *option, FILE *stream)
{
    char range[200], line[800];
    int column = print_left(option, stream);

    describe_range(option, range, sizeof range);
    if (column + 1 > HELP_COLUMN)
        fprintf(stream, "\n%*s", HELP_COLUMN, "");
    else
        fprintf(stream, "%*s", HELP_COLUMN - column, "");
    snprintf(line, sizeof line, "%s%s%s%s%s%s%s%s", option->help, range[0] ? " (" : "", range,
             range[0] ? ")" : "", option->repeatable ? "; may be repeated" : "",
             option->fallback ? " [" : "", option->fallback ? option->fallback : "",
             option->fallback ? "]" : "");
    print_wrapped(line, HELP_COLUMN, stream);
}

void opts_print_help(const struct opt_table *table, FILE *stream)
{
    static const struct opt help = {.name = "help", .letter = 'h', .help = "this text"};

    fprintf(stream, "usage: dllm %s %s\n\n", table->command, table->usage);
    print_wrapped(table->summary, 0, stream);
    fputc('\n', stream);
    for (int i = 0; i < table->count; i++)
        if (opts_has(table, i))
            print_option(&table->options[i], stream);
    print_option(&help, stream);
    if (table->notes)
        fprintf(stream, "\n%s", table->notes);
}
