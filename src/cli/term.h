/*
 * term.h: the terminal on stderr: its size and abilities, the alternate screen,
 * and that it is left as it was found whatever ends the program.
 */
#ifndef TERM_H
#define TERM_H

#include <stdbool.h>
#include <stddef.h>

enum term_colors { TERM_COLORS_NONE = 0, TERM_COLORS_8, TERM_COLORS_256 };

struct term {
    int rows, columns;
    enum term_colors colors; /* none under NO_COLOR */
    bool utf8;               /* by the locale of the environment */
};

/* Whether stderr is a terminal whose cursor can be moved (TERM is set and not
 * dumb). */
bool term_can_draw(void);

/* The width of the terminal on stderr, 80 where it is not known. */
int term_columns(void);

/* Reads size, colours and character set from terminal and environment, and makes
 * wcwidth() follow the environment's locale (numbers stay with a point). */
void term_look(struct term *term);

/* Switches to the alternate screen without a cursor, and back. In between,
 * signals that end or stop the process first switch back; after a stop the
 * screen is taken again and term_changed says so. Calls do not nest. */
void term_enter(void);
void term_leave(void);

/* Switches back if the screen is taken. For signal handlers. */
void term_restore(void);

/* Whether the size may have changed, or the screen was lost, since the last
 * call. */
bool term_changed(void);

/* Bytes for the terminal; data is owned. */
struct term_text {
    char *data;
    size_t size, capacity;
    bool failed; /* memory ran out; what was put since is lost */
};
void term_put(struct term_text *text, const char *data, size_t size);
void term_printf(struct term_text *text, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Writes to stderr in one go, past stdio. */
void term_write(const char *data, size_t size);

#endif
