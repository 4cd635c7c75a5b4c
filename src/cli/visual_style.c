/*
 * visual_style.c: colours are backgrounds, light ones under dark letters, so that
 * they look the same on a dark and on a light terminal. From blue (sure) over pale to orange
 * and red (doubtful): an order that colour-blind readers see too.
 */
#include "visual_style.h"

#include <string.h>

enum { LEVELS = 6 };

/* Upper ends of the levels of confidence but the last, and what the legend says. */
static const double level_ends[LEVELS - 1] = {0.3, 0.5, 0.7, 0.9, 0.99};
static const char *const level_names[LEVELS] = {"<.3", "<.5", "<.7", "<.9", "<.99", ">.99"};

/* Escape sequences by scale, level and whether the token is new. */
#define PAIR(code)                                                                                 \
    {                                                                                              \
        "\033[" code "m", "\033[1;4;" code "m"                                                     \
    }
static const char *const confidence_256[LEVELS][2] = {
    PAIR("38;5;231;48;5;124"), PAIR("38;5;16;48;5;208"), PAIR("38;5;16;48;5;215"),
    PAIR("38;5;16;48;5;223"),  PAIR("38;5;16;48;5;152"), PAIR("38;5;16;48;5;110")};
static const char *const step_256[LEVELS][2] = {PAIR("38;5;231;48;5;54"), PAIR("38;5;231;48;5;25"),
                                                PAIR("38;5;231;48;5;30"), PAIR("38;5;16;48;5;72"),
                                                PAIR("38;5;16;48;5;149"), PAIR("38;5;16;48;5;227")};
static const char *const confidence_8[LEVELS][2] = {PAIR("37;41"), PAIR("37;41"), PAIR("30;43"),
                                                    PAIR("30;43"), PAIR("30;46"), PAIR("30;46")};
static const char *const step_8[LEVELS][2] = {PAIR("37;45"), PAIR("37;44"), PAIR("37;44"),
                                              PAIR("30;46"), PAIR("30;46"), PAIR("30;43")};
static const char *const plain[2] = {"", "\033[4m"};

static int level_of(const struct style_scale *scale, const struct style_place *place)
{
    int level = 0;

    if (scale->by_step)
        level = scale->steps > 1 ? place->step * (LEVELS - 1) / (scale->steps - 1) : 0;
    else
        while (level < LEVELS - 1 && !(place->probability < level_ends[level]))
            level++;
    return level < LEVELS ? level : LEVELS - 1;
}

static const char *style_of_level(const struct style_scale *scale, int level, bool fresh)
{
    switch (scale->colors) {
    case TERM_COLORS_256:
        return scale->by_step ? step_256[level][fresh] : confidence_256[level][fresh];
    case TERM_COLORS_8:
        return scale->by_step ? step_8[level][fresh] : confidence_8[level][fresh];
    default:
        return plain[fresh];
    }
}

const char *style_of(const struct style_scale *scale, const struct style_place *place)
{
    if (place->step == STYLE_GIVEN)
        return "";
    return style_of_level(scale, level_of(scale, place), place->step == scale->now);
}

const char *style_of_mask(const struct style_scale *scale)
{
    return scale->colors == TERM_COLORS_NONE ? "" : "\033[2m";
}

struct layout_token style_end_token(bool utf8)
{
    return utf8 ? (struct layout_token){"\u00b7", 2, true} : (struct layout_token){".", 1, true};
}

void style_put_bar(const struct style_scale *scale, struct term_text *text, int columns,
                   double done)
{
    const char *signs[2] = {scale->utf8 ? "\u2500" : "-", scale->utf8 ? "\u2501" : "="};
    int filled = (int)(done * columns);

    for (int i = 0; i < columns; i++) {
        if (i == filled)
            term_printf(text, "%s", style_of_mask(scale));
        term_put(text, signs[i < filled], strlen(signs[i < filled]));
    }
    if (filled < columns && *style_of_mask(scale))
        term_put(text, "\033[0m", 4);
}

int style_put_legend(const struct style_scale *scale, struct term_text *text, int columns)
{
    const char *title = scale->by_step ? "step, early to late:" : "confidence:";
    int used = 0;

    if (scale->colors == TERM_COLORS_NONE)
        return 0;
    for (int level = 0; level < LEVELS; level++)
        used += 3 + (scale->by_step ? 0 : (int)strlen(level_names[level]));
    if (used > columns)
        return 0;
    if (used + (int)strlen(title) <= columns) {
        term_printf(text, "%s", title);
        used += (int)strlen(title);
    }
    for (int level = 0; level < LEVELS; level++)
        term_printf(text, " %s %s \033[0m", style_of_level(scale, level, false),
                    scale->by_step ? "" : level_names[level]);
    return used;
}
