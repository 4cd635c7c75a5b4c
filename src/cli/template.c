/* template.c: finds the gaps of a template, encodes it, fills it. */
#include "template.h"

#include "cli.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_POSITIONS = 1000000 };

/* Length of the mark at the start of text [size], 0 if there is none; *count is
 * what it says, MOST_POSITIONS + 1 if that is more. */
static size_t read_mark(const char *text, size_t size, int *count)
{
    size_t at = 2;

    if (size < 5 || memcmp(text, "[[", 2) != 0)
        return 0;
    for (*count = 0; at < size && text[at] >= '0' && text[at] <= '9'; at++)
        if (*count <= MOST_POSITIONS)
            *count = *count * 10 + (text[at] - '0');
    if (*count > MOST_POSITIONS)
        *count = MOST_POSITIONS + 1;
    return at > 2 && size - at >= 2 && memcmp(text + at, "]]", 2) == 0 ? at + 2 : 0;
}

static void add_mark(struct template *template, int count)
{
    struct template_mark *last = template->marks + template->mark_count - 1;

    if (template->mark_count && last->at == template->size)
        last->count += count;
    else
        template->marks[template->mark_count++] = (struct template_mark){template->size, count};
}

static void add_text(struct template *template, const char *text, size_t size)
{
    memcpy(template->text + template->size, text, size);
    template->size += size;
}

/* Takes the backslashes at *at and the mark behind them, if there is one: then
 * *at moves behind it. */
static int take_mark(struct template *template, const char *text, size_t size, size_t *at)
{
    size_t slashes = 0, length;
    int count;

    while (*at + slashes < size && text[*at + slashes] == '\\')
        slashes++;
    length = read_mark(text + *at + slashes, size - *at - slashes, &count);
    if (!length)
        return CLI_OK;
    add_text(template, text + *at, slashes / 2);
    *at += slashes;
    if (slashes % 2)
        add_text(template, text + *at, length);
    else if (count < 1 || count > MOST_POSITIONS)
        return cli_fail(CLI_USAGE,
                        "the gap %.*s of the template needs 1 to %d positions; write \\%.*s where "
                        "it is meant as text",
                        (int)(length < 40 ? length : 40), text + *at, MOST_POSITIONS,
                        (int)(length < 40 ? length : 40), text + *at);
    else
        add_mark(template, count);
    *at += length;
    return CLI_OK;
}

static int check_marks(const struct template *template)
{
    if (template->mark_count == 0)
        return cli_fail(CLI_USAGE, "the template has no gap; write [[N]] where N positions are to "
                                   "be filled");
    if (template_positions(template) > MOST_POSITIONS)
        return cli_fail(CLI_USAGE, "the gaps of the template have more than %d positions",
                        MOST_POSITIONS);
    return CLI_OK;
}

int template_parse(struct template *template, const char *text, size_t size)
{
    int code;

    *template = (struct template){.text = malloc(size + 1)};
    /* A mark takes five bytes at least. */
    template->marks = malloc((size / 5 + 1) * sizeof *template->marks);
    if (!template->text || !template->marks)
        return cli_fail(CLI_FAILURE, "out of memory");
    for (size_t at = 0; at < size;) {
        size_t before = at;
        if ((text[at] == '\\' || text[at] == '[') && (code = take_mark(template, text, size, &at)))
            return code;
        if (at == before)
            add_text(template, text + at++, 1);
    }
    return check_marks(template);
}

void template_free(struct template *template)
{
    free(template->text);
    free(template->marks);
    *template = (struct template){0};
}

int template_positions(const struct template *template)
{
    int64_t sum = 0;

    for (size_t i = 0; i < template->mark_count; i++)
        sum += template->marks[i].count;
    return sum > INT32_MAX ? INT32_MAX : (int)sum;
}

/* Room for `more` ids; false without memory. */
static bool grow(struct dllm_ids *ids, size_t more)
{
    int32_t *grown = realloc(ids->ids, (ids->count + more + 1) * sizeof *grown);

    if (grown)
        ids->ids = grown;
    return grown != NULL;
}

static int append_text(struct dllm_ids *ids, const struct dllm_engine *engine,
                       struct dllm_string text, unsigned flags)
{
    struct dllm_model_info info;
    struct dllm_error error = {0};
    struct dllm_ids piece;
    int code = CLI_OK;

    dllm_engine_info(engine, &info);
    if (dllm_encode(engine, text, flags, &piece, &error))
        return cli_fail_error(&error);
    for (size_t i = 0; i < piece.count; i++)
        if (piece.ids[i] == info.mask_id)
            code = CLI_USAGE;
    if (code)
        cli_fail(code, "the template's text holds the model's mask; mark gaps as [[N]]");
    else if (!grow(ids, piece.count))
        code = cli_fail(CLI_FAILURE, "out of memory");
    for (size_t i = 0; !code && i < piece.count; i++)
        ids->ids[ids->count++] = piece.ids[i];
    dllm_ids_free(&piece);
    return code;
}

static int append_masks(struct dllm_ids *ids, const struct dllm_engine *engine, int count)
{
    struct dllm_model_info info;

    dllm_engine_info(engine, &info);
    if (!grow(ids, (size_t)count))
        return cli_fail(CLI_FAILURE, "out of memory");
    for (int i = 0; i < count; i++)
        ids->ids[ids->count++] = info.mask_id;
    return CLI_OK;
}

int template_encode(const struct template *template, const struct dllm_engine *engine,
                    unsigned flags, struct dllm_ids *ids)
{
    size_t at = 0;
    int code;

    for (size_t i = 0; i <= template->mark_count; i++) {
        size_t end = i < template->mark_count ? template->marks[i].at : template->size;
        struct dllm_string piece = {template->text + at, end - at};
        if ((code = append_text(ids, engine, piece, flags)))
            return code;
        flags |= DLLM_ENCODE_NO_BOS;
        at = end;
        if (i < template->mark_count &&
            (code = append_masks(ids, engine, template->marks[i].count)))
            return code;
    }
    return CLI_OK;
}

struct dllm_text template_fill(const struct template *template, const struct dllm_gap *gaps)
{
    struct dllm_text out = {0};
    size_t size = template->size, at = 0;

    for (size_t i = 0; i < template->mark_count; i++)
        size += gaps[i].text.size;
    out.data = malloc(size + 1);
    if (!out.data)
        return out;
    for (size_t i = 0; i <= template->mark_count; i++) {
        size_t end = i < template->mark_count ? template->marks[i].at : template->size;
        memcpy(out.data + out.size, template->text + at, end - at);
        out.size += end - at;
        at = end;
        if (i == template->mark_count)
            break;
        memcpy(out.data + out.size, gaps[i].text.data, gaps[i].text.size);
        out.size += gaps[i].text.size;
    }
    out.data[out.size] = 0;
    return out;
}
