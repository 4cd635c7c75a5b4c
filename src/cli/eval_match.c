/* eval_match.c: finds the wanted answer, the last number, and compares. */
#include "eval_match.h"

#include <ctype.h>
#include <string.h>

enum { NUMBER_BYTES = 256 };

const char *const eval_match_names[] = {"exact", "number", "contains", NULL};

struct piece {
    const char *start;
    size_t length;
};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static struct piece trimmed(const char *text)
{
    size_t length = strlen(text);

    while (length && isspace((unsigned char)text[length - 1]))
        length--;
    while (length && isspace((unsigned char)*text)) {
        text++;
        length--;
    }
    return (struct piece){text, length};
}

static struct piece wanted(const char *answer)
{
    const char *found;

    while ((found = strstr(answer, "####")))
        answer = found + strlen("####");
    return trimmed(answer);
}

/* Whether a comma at text separates thousands: three digits follow, and no fourth. */
static bool separates(const char *text)
{
    return text[0] == ',' && is_digit(text[1]) && is_digit(text[2]) && is_digit(text[3]) &&
           !is_digit(text[4]);
}

/* The end of the number whose first digit is at text. */
static const char *number_end(const char *text)
{
    while (is_digit(*text) || separates(text))
        text++;
    if (*text == '.' && is_digit(text[1]))
        for (text++; is_digit(*text);)
            text++;
    return text;
}

/* The last number of [text, end): from its sign or first digit on. */
static struct piece last_number(const char *text)
{
    struct piece found = {text, 0};

    for (const char *at = text; *at;) {
        const char *start = at, *end;
        if (!is_digit(*at)) {
            at++;
            continue;
        }
        if (at > text && at[-1] == '-' &&
            (at == text + 1 || !(isalnum((unsigned char)at[-2]) || at[-2] == '.')))
            start--;
        end = number_end(at);
        found = (struct piece){start, (size_t)(end - start)};
        at = end;
    }
    return found;
}

const char *eval_last_number(const char *text, char *out, size_t size)
{
    struct piece number = last_number(text);
    bool negative = number.length && *number.start == '-', point = false;
    size_t length = 0;

    out[0] = 0;
    if (number.length + 2 > size)
        return out;
    out[length] = '-';
    length += negative;
    for (size_t i = negative; i < number.length; i++) {
        char c = number.start[i];
        bool leads = length == (size_t)negative && c == '0' && i + 1 < number.length &&
                     (is_digit(number.start[i + 1]) || number.start[i + 1] == ',');
        point |= c == '.';
        if (c != ',' && !leads)
            out[length++] = c;
    }
    while (point && length && (out[length - 1] == '0' || out[length - 1] == '.'))
        point = out[--length] != '.';
    out[length] = 0;
    if (strcmp(out, "-0") == 0)
        strcpy(out, "0");
    return out;
}

static bool same_number(const char *one, const char *other)
{
    char first[NUMBER_BYTES], second[NUMBER_BYTES];

    return *eval_last_number(one, first, sizeof first) &&
           strcmp(first, eval_last_number(other, second, sizeof second)) == 0;
}

bool eval_is_right(enum eval_match match, const char *answer, const char *output)
{
    struct piece goal = wanted(answer), got = trimmed(output);

    if (match == EVAL_NUMBER)
        return same_number(goal.start, output);
    if (match == EVAL_CONTAINS)
        return memmem(output, strlen(output), goal.start, goal.length) != NULL;
    return goal.length == got.length && memcmp(goal.start, got.start, got.length) == 0;
}
