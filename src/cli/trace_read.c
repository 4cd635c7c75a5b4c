/*
 * trace_read.c: traces may come from anywhere, so every value that the page
 * relies on is checked: kinds, ranges, one length for ids and texts.
 */
#include "trace_read.h"

#include "cli.h"
#include "prompt.h"

#include <math.h>
#include <string.h>

enum { TRACE_FORMAT = 1 };

struct reader {
    const char *path;
    int line; /* at hand, from 1 */
    json_t *header, *steps, *end;
    size_t canvas; /* positions */
};

static bool fail(const struct reader *reader, const char *what)
{
    cli_fail(CLI_FAILURE,
             "\"%s\" line %d: %s; expected what dllm run --trace writes: a header, steps, an end",
             reader->path, reader->line, what);
    return false;
}

static bool is_text(const json_t *value)
{
    const json_t *hex = json_object_get(value, "hex");
    size_t size = json_string_length(hex);

    if (json_is_string(value))
        return true;
    return json_is_string(hex) && size && size % 2 == 0 &&
           strspn(json_string_value(hex), "0123456789abcdef") == size;
}

static bool is_probability(const json_t *value)
{
    double p = json_number_value(value);

    return json_is_number(value) && p >= 0 && p <= 1;
}

static bool is_index(const json_t *value, size_t limit)
{
    return json_is_integer(value) && json_integer_value(value) >= 0 &&
           (json_int_t)limit >= json_integer_value(value);
}

static bool all_integers(const json_t *array, size_t count)
{
    for (size_t i = 0; i < json_array_size(array); i++)
        if (!json_is_integer(json_array_get(array, i)))
            return false;
    return json_is_array(array) && json_array_size(array) == count;
}

static bool check_header(struct reader *reader, const json_t *value)
{
    static const char *const texts[] = {"version", "model", "arch", "quantization"};
    const json_t *canvas = json_object_get(value, "canvas");
    const json_t *pieces = json_object_get(value, "pieces");
    const json_t *region = json_object_get(value, "region");
    const json_t *settings = json_object_get(value, "settings");

    if (!json_is_integer(json_object_get(value, "dllm_trace")))
        return fail(reader, "this is not the header of a trace");
    if (json_integer_value(json_object_get(value, "dllm_trace")) != TRACE_FORMAT)
        return fail(reader, "this trace has another format, of another version of dllm");
    reader->canvas = json_array_size(canvas);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (!json_is_string(json_object_get(value, texts[i])))
            return fail(reader, "the header lacks a text");
    for (size_t i = 0; i < json_array_size(pieces); i++)
        if (!json_is_null(json_array_get(pieces, i)) && !is_text(json_array_get(pieces, i)))
            return fail(reader, "a piece of the header is no text");
    if (!reader->canvas || !all_integers(canvas, reader->canvas) ||
        json_array_size(pieces) != reader->canvas || !all_integers(region, 2) ||
        !is_index(json_array_get(region, 0), reader->canvas) ||
        !is_index(json_array_get(region, 1), reader->canvas) ||
        json_integer_value(json_array_get(region, 0)) >=
            json_integer_value(json_array_get(region, 1)) ||
        !all_integers(json_object_get(value, "end_ids"), 2) ||
        !json_is_boolean(json_object_get(settings, "chat")) ||
        !json_is_string(json_object_get(settings, "remasking")))
        return fail(reader, "the header's canvas, pieces, region, end_ids or settings are damaged");
    return true;
}

static bool check_token(const struct reader *reader, const json_t *token)
{
    const json_t *position = json_object_get(token, "position");
    const json_t *other = json_object_get(token, "runner_up");

    return is_index(position, reader->canvas - 1) &&
           json_is_null(json_array_get(json_object_get(reader->header, "pieces"),
                                       (size_t)json_integer_value(position))) &&
           json_is_integer(json_object_get(token, "id")) &&
           is_text(json_object_get(token, "text")) &&
           is_probability(json_object_get(token, "probability")) &&
           (json_is_null(other) || (is_text(json_object_get(other, "text")) &&
                                    is_probability(json_object_get(other, "probability"))));
}

static bool check_step(const struct reader *reader, const json_t *value)
{
    const json_t *tokens = json_object_get(value, "tokens");

    if (!json_is_array(tokens) || !json_is_number(json_object_get(value, "seconds")) ||
        !is_index(json_object_get(value, "masks_left"), reader->canvas))
        return fail(reader, "this is neither a step nor an end");
    for (size_t i = 0; i < json_array_size(tokens); i++)
        if (!check_token(reader, json_array_get(tokens, i)))
            return fail(reader, "a token of this step is damaged");
    return true;
}

/* Takes a reference of the value. */
static bool take_value(struct reader *reader, json_t *value)
{
    if (!reader->header) {
        if (!check_header(reader, value))
            return false;
        reader->header = json_incref(value);
        return true;
    }
    if (reader->end)
        return fail(reader, "there is something behind the end");
    if (json_is_true(json_object_get(value, "end"))) {
        if (!json_is_number(json_object_get(value, "generate_s")) ||
            !json_is_string(json_object_get(value, "finish_reason")))
            return fail(reader, "the end is damaged");
        reader->end = json_incref(value);
        return true;
    }
    if (!check_step(reader, value))
        return false;
    return json_array_append(reader->steps, value) == 0 || fail(reader, "out of memory");
}

static bool take_line(struct reader *reader, const char *line, size_t size)
{
    json_error_t where;
    json_t *value = json_loadb(line, size, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &where);
    bool done;

    reader->line++;
    if (!value)
        return fail(reader, "this is not a line of JSON");
    done = take_value(reader, value);
    json_decref(value);
    return done;
}

/* Lines that end; what is behind the last line feed was cut off. */
static bool take_lines(struct reader *reader, const struct dllm_text *text)
{
    const char *at = text->data, *end = at + text->size, *next;

    for (; at && at < end && (next = memchr(at, '\n', (size_t)(end - at))); at = next + 1)
        if (!take_line(reader, at, (size_t)(next - at)))
            return false;
    if (!reader->header) {
        reader->line = 1;
        return fail(reader, "there is no header");
    }
    return true;
}

json_t *trace_read(const char *path, bool *whole)
{
    struct reader reader = {.path = path, .steps = json_array()};
    json_t *trace = NULL;
    struct dllm_text text;

    if (prompt_read_file(path, &text))
        goto done;
    if (!reader.steps) {
        cli_fail(CLI_FAILURE, "out of memory");
    } else if (take_lines(&reader, &text)) {
        trace = json_pack("{s:O, s:O, s:O}", "header", reader.header, "steps", reader.steps, "end",
                          reader.end ? reader.end : json_null());
        if (!trace)
            cli_fail(CLI_FAILURE, "out of memory");
    }
    *whole = reader.end != NULL;
    dllm_text_free(&text);
done:
    json_decref(reader.header);
    json_decref(reader.steps);
    json_decref(reader.end);
    return trace;
}
