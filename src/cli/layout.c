/*
 * layout.c: tokens to cells to lines. A character may be spread over several
 * tokens, so runs of resolved positions are read as one text; a character belongs
 * to the token of its first byte.
 */
#include "layout.h"

#include "utf8_text.h"

#include <stdlib.h>
#include <string.h>
#include <wchar.h>

/* Marks on one character beyond this are dropped. */
enum { CELL_BYTES = 32, TAB_WIDTH = 4 };

struct maker {
    struct layout *layout;
    bool utf8;
    char *bytes;     /* of the run at hand */
    int32_t *owners; /* position of each byte */
    size_t run;
};

/* --- cells --- */

static struct layout_cell *add_cell(struct maker *maker, const char *text, size_t bytes, int width,
                                    int32_t position)
{
    struct layout *layout = maker->layout;
    struct layout_cell *cell = &layout->cells[layout->cell_count++];

    *cell = (struct layout_cell){.text = layout->text_size,
                                 .bytes = (uint16_t)bytes,
                                 .width = (uint8_t)width,
                                 .position = position};
    memcpy(layout->text + layout->text_size, text, bytes);
    layout->text_size += bytes;
    return cell;
}

/* `fancy` in UTF-8, else `plain`; both one column wide. */
static struct layout_cell *add_sign(struct maker *maker, const char *fancy, const char *plain,
                                    int32_t position)
{
    const char *sign = maker->utf8 ? fancy : plain;

    return add_cell(maker, sign, strlen(sign), 1, position);
}

/* A mark goes to the character before it; without one it stands on a blank. */
static void add_mark(struct maker *maker, const char *text, size_t bytes, int32_t position)
{
    struct layout *layout = maker->layout;
    struct layout_cell *cell = layout->cell_count ? &layout->cells[layout->cell_count - 1] : NULL;

    if (!cell || cell->mask || cell->line_end)
        cell = add_cell(maker, " ", 1, 1, position);
    if (cell->bytes + bytes > CELL_BYTES)
        return;
    memcpy(layout->text + layout->text_size, text, bytes);
    layout->text_size += bytes;
    cell->bytes = (uint16_t)(cell->bytes + bytes);
}

/* Characters that reorder the text around them. */
static bool is_bidi_control(uint32_t code)
{
    return code == 0x061c || code == 0x200e || code == 0x200f ||
           (code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
}

/* One character of valid UTF-8. */
static void add_character(struct maker *maker, const char *text, size_t bytes, uint32_t code,
                          int32_t position)
{
    int width = code < 0x7f ? 1 : wcwidth((wchar_t)code);

    if (code == '\n')
        add_sign(maker, "\u21b5", " ", position)->line_end = true;
    else if (code == '\t')
        add_cell(maker, "    ", TAB_WIDTH, TAB_WIDTH, position);
    else if (code < 0x20 || (code > 0x7f && !maker->utf8) || width < 0 || is_bidi_control(code))
        add_sign(maker, "\ufffd", "?", position);
    else if (width == 0)
        add_mark(maker, text, bytes, position);
    else
        add_cell(maker, text, bytes, width, position);
}

static void add_run(struct maker *maker)
{
    uint32_t code;

    for (size_t at = 0; at < maker->run;) {
        int length = utf8_text_next(maker->bytes + at, maker->run - at, &code);
        if (length)
            add_character(maker, maker->bytes + at, (size_t)length, code, maker->owners[at]);
        else
            add_sign(maker, "\ufffd", "?", maker->owners[at]);
        at += (size_t)(length ? length : 1);
    }
    maker->run = 0;
}

static void add_token(struct maker *maker, const struct layout_token *token, int32_t position)
{
    struct layout_cell *cell;

    if (!token->text) {
        add_run(maker);
        cell = add_sign(maker, "\u2591", "_", position);
        cell->mask = cell->loose = true;
        return;
    }
    memcpy(maker->bytes + maker->run, token->text, token->size);
    for (size_t i = 0; i < token->size; i++)
        maker->owners[maker->run++] = position;
    if (!token->loose)
        return;
    add_run(maker);
    maker->layout->cells[maker->layout->cell_count - 1].loose = true;
}

/* --- lines --- */

static bool is_blank(const struct layout *layout, const struct layout_cell *cell)
{
    return layout->text[cell->text] == ' ' && !cell->mask && !cell->line_end;
}

static void add_line(struct layout *layout, int first, int end)
{
    struct layout_line *line = &layout->lines[layout->line_count++];

    *line = (struct layout_line){.first = first, .count = end - first};
    for (int i = first; i < end; i++)
        line->width += layout->cells[i].width;
}

static void break_lines(struct layout *layout, int columns)
{
    int first = 0, width = 0, cut = 0; /* cut: where the line may end, the last such place */

    for (int i = 0; i < layout->cell_count; i++) {
        struct layout_cell *cell = &layout->cells[i];
        if (cell->loose)
            cut = i;
        if (width + cell->width > columns && is_blank(layout, cell))
            cell->width = 0; /* it hangs behind the line's end */
        while (width + cell->width > columns && i > first) {
            int end = cut > first ? cut : i;
            add_line(layout, first, end);
            width -= layout->lines[layout->line_count - 1].width;
            first = end;
        }
        width += cell->width;
        if (cell->loose || is_blank(layout, cell))
            cut = i + 1;
        if (cell->line_end) {
            add_line(layout, first, i + 1);
            first = i + 1;
            width = 0;
        }
    }
    if (first < layout->cell_count)
        add_line(layout, first, layout->cell_count);
}

/* --- memory --- */

/* Room for texts of `bytes` bytes and `masks` masks, and a line for each cell. A
 * byte becomes at most four (a tab), a mask three. */
static bool reserve(struct layout *layout, size_t bytes)
{
    char *text;
    struct layout_cell *cells;
    struct layout_line *lines;

    if (bytes <= layout->capacity)
        return true;
    text = realloc(layout->text, bytes * 4);
    layout->text = text ? text : layout->text;
    cells = realloc(layout->cells, bytes * sizeof *cells);
    layout->cells = cells ? cells : layout->cells;
    lines = realloc(layout->lines, bytes * sizeof *lines);
    layout->lines = lines ? lines : layout->lines;
    if (!text || !cells || !lines)
        return false;
    layout->capacity = bytes;
    return true;
}

bool layout_make(struct layout *layout, const struct layout_token *tokens, int first, int count,
                 int columns, bool utf8)
{
    struct maker maker = {.layout = layout, .utf8 = utf8};
    size_t bytes = 1;
    bool done;

    for (int i = 0; i < count; i++)
        bytes += tokens[i].text ? tokens[i].size : 1;
    layout->text_size = 0;
    layout->cell_count = layout->line_count = 0;
    maker.bytes = malloc(bytes);
    maker.owners = malloc(bytes * sizeof *maker.owners);
    done = maker.bytes && maker.owners && reserve(layout, bytes);
    for (int i = 0; done && i < count; i++)
        add_token(&maker, &tokens[i], first + i);
    if (done) {
        add_run(&maker);
        break_lines(layout, columns);
    }
    free(maker.bytes);
    free(maker.owners);
    return done;
}

void layout_free(struct layout *layout)
{
    free(layout->text);
    free(layout->cells);
    free(layout->lines);
    *layout = (struct layout){0};
}
