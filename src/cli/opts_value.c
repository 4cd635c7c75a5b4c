/* opts_value.c: reads an option's value and checks it against kind and range. */
#include "opts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Optional minus and decimal digits that fit. */
static bool parse_integer(const char *text, int64_t *out)
{
    const char *digits = text + (*text == '-');
    char *end;

    if (!*digits || digits[strspn(digits, "0123456789")])
        return false;
    errno = 0;
    *out = strtoll(text, &end, 10);
    return errno == 0;
}

/* A decimal number with '.', no white space, hexadecimal, "inf" or "nan". `beyond` is
 * "", or says what is wrong with one that a double cannot hold: 1e-999 would be read as 0. */
static bool parse_number(const char *text, double *out, const char **beyond)
{
    char *end;

    *beyond = "";
    if (!*text || text[strspn(text, "0123456789+-.eE")])
        return false;
    errno = 0;
    *out = strtod(text, &end);
    if (*end)
        return false;
    if (errno)
        *beyond =
            *out > 1 || *out < -1 ? ", which overflows a double" : ", which underflows a double";
    return !**beyond;
}

static bool read_integer(struct opts *opts, const struct opt *option, const char *text,
                         int64_t *out)
{
    if (parse_integer(text, out) && *out >= option->low && *out <= option->high)
        return true;
    opts_problem(opts, "--%s needs a whole number from %lld to %lld, not \"%s\"", option->name,
                 (long long)option->low, (long long)option->high, text);
    return false;
}

static bool read_number(struct opts *opts, const struct opt *option, const char *text, double *out)
{
    const char *beyond;

    if (parse_number(text, out, &beyond) && *out >= option->least && *out <= option->most)
        return true;
    opts_problem(opts, "--%s needs a number from %g to %g, not \"%s\"%s", option->name,
                 option->least, option->most, text, beyond);
    return false;
}

static bool read_choice(struct opts *opts, const struct opt *option, const char *text, int *out)
{
    char list[200] = "";
    int count = 0;

    for (; option->choices[count]; count++) {
        if (strcmp(option->choices[count], text) == 0) {
            *out = count;
            return true;
        }
        snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s", count ? ", " : "",
                 option->choices[count]);
    }
    const char *near = opts_suggest(text, option->choices, count);
    opts_problem(opts, "--%s needs one of %s, not \"%s\"%s%s%s", option->name, list, text,
                 near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
    return false;
}

/* One id at *at, which moves behind it. */
static bool take_id(const char **at, int32_t *out)
{
    char *end;
    long value;

    *at += strspn(*at, " \t\r\n");
    if (**at < '0' || **at > '9')
        return false;
    errno = 0;
    value = strtol(*at, &end, 10);
    if (errno || value > INT32_MAX)
        return false;
    *at = end + strspn(end, " \t\r\n");
    *out = (int32_t)value;
    return true;
}

int32_t *opts_parse_ids(const char *text, size_t *count)
{
    const char *at = text + strspn(text, " \t\r\n");
    bool bracket = *at == '[';
    /* An id and its comma take two bytes at least. */
    int32_t *ids = malloc((strlen(text) / 2 + 1) * sizeof *ids);

    *count = 0;
    if (!ids)
        return NULL;
    at += bracket;
    do {
        if (!take_id(&at, &ids[*count]))
            goto fail;
        ++*count;
    } while (*at == ',' && at++);
    if (bracket && *at++ != ']')
        goto fail;
    if (at[strspn(at, " \t\r\n")])
        goto fail;
    return ids;
fail:
    free(ids);
    return NULL;
}

static bool read_ids(struct opts *opts, const struct opt *option, const char *text,
                     struct opt_value *out)
{
    out->ids = opts_parse_ids(text, &out->id_count);
    if (!out->ids)
        opts_problem(opts,
                     "--%s needs token ids separated by commas, such as 3,5,17, not \"%.60s\"",
                     option->name, text);
    return out->ids != NULL;
}

/* Whether it names a device; not whether it is there. */
static bool read_device(struct opts *opts, const struct opt *option, const char *text)
{
    const char *number = strncmp(text, "gpu:", 4) == 0 ? text + 4 : "";

    if (strcmp(text, "cpu") == 0 || strcmp(text, "gpu") == 0 || strcmp(text, "auto") == 0 ||
        (*number && strlen(number) <= 4 && strspn(number, "0123456789") == strlen(number)))
        return true;
    opts_problem(opts,
                 "--%s needs cpu, gpu, gpu:N (the number of a GPU, from 0) or auto, not \"%.40s\"",
                 option->name, text);
    return false;
}

static bool read_layers(struct opts *opts, const struct opt *option, const char *text)
{
    const size_t length = strlen(text);

    if (strcmp(text, "all") == 0 || strcmp(text, "auto") == 0 ||
        (length >= 1 && length <= 9 && strspn(text, "0123456789") == length))
        return true;
    opts_problem(opts, "--%s needs a number of layers, all or auto, not \"%.40s\"", option->name,
                 text);
    return false;
}

static bool read_kind(struct opts *opts, const struct opt *option, const char *text,
                      struct opt_value *out)
{
    switch (option->kind) {
    case OPT_INTEGER:
        return read_integer(opts, option, text, &out->integer);
    case OPT_NUMBER:
        return read_number(opts, option, text, &out->number);
    case OPT_CHOICE:
        return read_choice(opts, option, text, &out->choice);
    case OPT_DEVICE:
        return read_device(opts, option, text);
    case OPT_LAYERS:
        return read_layers(opts, option, text);
    case OPT_IDS:
        return read_ids(opts, option, text, out);
    default:
        return true;
    }
}

/* Whether text is the number or choice, of which there may be none; 0.0 is 0. */
static bool is_value(const struct opt *option, const char *text, const char *value)
{
    if (!value)
        return false;
    return option->kind == OPT_CHOICE ? strcmp(text, value) == 0
                                      : strtod(text, NULL) == strtod(value, NULL);
}

bool opts_read_value(struct opts *opts, const struct opt *option, const char *text,
                     struct opt_value *out)
{
    out->text = text;
    if (!read_kind(opts, option, text, out))
        return false;
    out->off = is_value(option, text, option->off);
    out->agrees = is_value(option, text, option->agrees);
    return true;
}
