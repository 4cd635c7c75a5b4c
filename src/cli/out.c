/* out.c: stdout, JSON values and quoted text. */
#include "out.h"

#include "cli.h"
#include "utf8_text.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Digits that bring every f32 and every printed time back exactly enough. */
enum { JSON_DIGITS = 9 };

/* Whether stdout is a pipe that nobody reads any more. */
static bool pipe_is_closed(void)
{
    struct pollfd state = {.fd = STDOUT_FILENO, .events = POLLOUT};

    return poll(&state, 1, 0) == 1 && (state.revents & POLLERR);
}

int out_finish(void)
{
    bool failed = ferror(stdout) != 0;

    errno = 0;
    if (fflush(stdout) == 0 && !failed)
        return CLI_OK;
    if (errno == EPIPE || pipe_is_closed()) {
        signal(SIGPIPE, SIG_DFL);
        raise(SIGPIPE);
    }
    return cli_fail(CLI_FAILURE, "the output could not be written: %s",
                    errno ? strerror(errno) : "an earlier write failed");
}

/* Copies data with U+FFFD for each byte that is not UTF-8; *size becomes the
 * new length. */
static char *make_valid(const char *data, size_t *size)
{
    char *out = cli_allocate(*size * 3 + 1);
    size_t length = 0;
    uint32_t code;

    for (size_t at = 0; at < *size;) {
        int step = utf8_text_next(data + at, *size - at, &code);
        memcpy(out + length, step ? data + at : "\xef\xbf\xbd", (size_t)(step ? step : 3));
        length += (size_t)(step ? step : 3);
        at += (size_t)(step ? step : 1);
    }
    *size = length;
    return out;
}

json_t *out_json_text(const char *data, size_t size)
{
    char *valid = make_valid(data, &size);
    json_t *text = json_stringn(valid, size);

    free(valid);
    return text;
}

json_t *out_json_ids(const int32_t *ids, size_t count)
{
    json_t *array = json_array();

    for (size_t i = 0; array && i < count; i++)
        json_array_append_new(array, json_integer(ids[i]));
    return array;
}

json_t *out_json_real(double value)
{
    if (isfinite(value))
        return json_real(value);
    return json_string(isnan(value) ? "nan" : value > 0 ? "inf" : "-inf");
}

json_t *out_json_unsigned(uint64_t value)
{
    char text[24];

    if (value <= INT64_MAX)
        return json_integer((json_int_t)value);
    snprintf(text, sizeof text, "%llu", (unsigned long long)value);
    return json_string(text);
}

const char *out_json_problem(const json_error_t *where)
{
    if (json_error_code(where) == json_error_null_character)
        return "a text holds \\u0000, which no option can take; leave it out";
    return where->text;
}

int out_print_json(json_t *value)
{
    int failed = !value || json_dumpf(value, stdout, JSON_REAL_PRECISION(JSON_DIGITS));

    json_decref(value);
    if (failed && !ferror(stdout))
        return cli_fail(CLI_FAILURE, "out of memory while the JSON output was put together");
    fputc('\n', stdout);
    return out_finish();
}

static void print_code(FILE *stream, const char *data, int length, uint32_t code)
{
    if (code == '"' || code == '\\')
        fprintf(stream, "\\%c", (int)code);
    else if (code == '\n')
        fputs("\\n", stream);
    else if (code == '\t')
        fputs("\\t", stream);
    else if (code == '\r')
        fputs("\\r", stream);
    else if (code < 0x20 || (code >= 0x7f && code < 0xa0))
        fprintf(stream, "\\u%04x", (unsigned)code);
    else
        fwrite(data, 1, (size_t)length, stream);
}

static void print_escaped(FILE *stream, const char *data, size_t size, size_t end)
{
    uint32_t code;

    for (size_t at = 0; at < end;) {
        int length = utf8_text_next(data + at, size - at, &code);
        if (length)
            print_code(stream, data + at, length, code);
        else
            fprintf(stream, "\\x%02x", (unsigned char)data[at]);
        at += (size_t)(length ? length : 1);
    }
}

void out_print_quoted(FILE *stream, const char *data, size_t size, size_t limit)
{
    bool cut = limit && size > limit;

    fputc('"', stream);
    print_escaped(stream, data, size, cut ? limit : size);
    fputs(cut ? "\"..." : "\"", stream);
}

void out_print_name(FILE *stream, struct dllm_string name)
{
    print_escaped(stream, name.data, name.size, name.size);
}

const char *out_size_text(uint64_t bytes, char text[32])
{
    static const char *const units[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    double value = (double)bytes / 1024;
    int unit = 0;

    if (bytes < 1024) {
        snprintf(text, 32, "%llu bytes", (unsigned long long)bytes);
        return text;
    }
    for (; value >= 1024 && unit < 5; unit++)
        value /= 1024;
    snprintf(text, 32, "%.2f %s", value, units[unit]);
    return text;
}
