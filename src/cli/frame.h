/*
 * frame.h: what a screen shows, as a list of rows. Of a new frame those rows are
 * written that differ from the last one's, in one piece between marks that tell a
 * terminal to show it at once, so that nothing flickers.
 */
#ifndef FRAME_H
#define FRAME_H

#include "term.h"

/* Rows one after the other in text. Zeroed: empty, of no screen. */
struct frame {
    struct term_text text;
    size_t *ends; /* [capacity] where each row ends */
    int rows, capacity;
};

/* Makes room for the rows of a screen; false without memory. Free with frame_free. */
bool frame_resize(struct frame *frame, int rows);
void frame_free(struct frame *frame);

/* Starts anew, with no row. */
void frame_clear(struct frame *frame);
/* Ends the row whose text was put into frame->text; one too many is dropped. */
void frame_end_row(struct frame *frame);

/* Writes to the terminal what makes next out of last; last NULL: the screen is
 * cleared first. False without memory. */
bool frame_write(const struct frame *last, const struct frame *next);

#endif
