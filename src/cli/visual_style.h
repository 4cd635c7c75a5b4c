/*
 * visual_style.h: what the picture of a canvas looks like: colours by confidence
 * or by step, the bar, the legend.
 */
#ifndef VISUAL_STYLE_H
#define VISUAL_STYLE_H

#include "layout.h"
#include "term.h"

enum { STYLE_GIVEN = -1 };

/* How a position came about. */
struct style_place {
    int step; /* STYLE_GIVEN: it was there from the start */
    double probability;
};

struct style_scale {
    enum term_colors colors;
    bool utf8;
    bool by_step; /* else by confidence */
    int steps;    /* of the run */
    int now;      /* the step whose tokens stand out, -1: none */
};

/* The escape sequence that a token is printed after; "" for none. */
const char *style_of(const struct style_scale *scale, const struct style_place *place);
const char *style_of_mask(const struct style_scale *scale);

/* How an end-of-text token is shown. */
struct layout_token style_end_token(bool utf8);

/* A bar over the whole width, `done` of it (0 to 1) filled. */
void style_put_bar(const struct style_scale *scale, struct term_text *text, int columns,
                   double done);

/* What the colours mean, on one line if it fits; returns the columns it takes, 0
 * without colours or room. */
int style_put_legend(const struct style_scale *scale, struct term_text *text, int columns);

#endif
