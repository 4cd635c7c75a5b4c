/*
 * layout.h: the tokens of a canvas as cells of a terminal, in lines of its
 * width: wide and combining characters measured, nothing in them that a terminal
 * would obey.
 */
#ifndef LAYOUT_H
#define LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The text of one position; not owned. */
struct layout_token {
    const char *text; /* any bytes; NULL: a mask */
    size_t size;
    bool loose; /* no part of a word: a line may end before and behind it; so for masks */
};

/* What is drawn in one place: a character with the marks that combine with it. */
struct layout_cell {
    size_t text; /* offset in the layout's text */
    uint16_t bytes;
    uint8_t width;    /* columns */
    bool mask;        /* a mask stands here */
    bool loose;       /* from its token */
    bool line_end;    /* a line feed of the text: the next cell starts a line */
    int32_t position; /* of the token that its first byte belongs to */
};

struct layout_line {
    int first, count; /* cells */
    int width;        /* columns */
};

/* Arrays are owned; zeroed at first, reused by each layout_make. */
struct layout {
    char *text;
    struct layout_cell *cells;
    struct layout_line *lines;
    size_t text_size;
    int cell_count, line_count;
    size_t capacity; /* of cells and lines; text holds four times as many bytes */
};

/* Lays out tokens [count], the first of them position `first`, in lines of at
 * most `columns` (at least 4), broken at blanks where there are any. Without
 * utf8 everything outside ASCII is "?". Call term_look first: it decides how wide
 * characters are. false without memory. */
bool layout_make(struct layout *layout, const struct layout_token *tokens, int first, int count,
                 int columns, bool utf8);

/* Accepts a zeroed one. */
void layout_free(struct layout *layout);

#endif
