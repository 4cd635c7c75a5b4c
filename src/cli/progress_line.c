/* progress_line.c: see progress_line.h. */
#include "progress_line.h"

#include "term.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

enum { BAR_MOST = 30, BAR_LEAST = 6, BAR_ENDS = 3, TEXT_MOST = 200 };

static atomic_bool drawn;

/* A bar and a blank in at most `room` columns, "" where that is too little. */
static void make_bar(double share, int room, char out[BAR_MOST + BAR_ENDS + 1])
{
    int width = room - BAR_ENDS < BAR_MOST ? room - BAR_ENDS : BAR_MOST;
    int filled = (int)(share * width);

    *out = 0;
    if (share < 0 || width < BAR_LEAST)
        return;
    out[0] = '[';
    memset(out + 1, '#', (size_t)filled);
    memset(out + 1 + filled, '.', (size_t)(width - filled));
    strcpy(out + 1 + width, "] ");
}

void progress_line(double share, const char *format, ...)
{
    char text[TEXT_MOST], bar[BAR_MOST + BAR_ENDS + 1];
    int room = term_columns() - 1; /* a cursor behind the last column may be on the next line */
    va_list args;

    if (!term_can_draw())
        return;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    make_bar(share, room - (int)strlen(text), bar);
    fprintf(stderr, "\r\033[K%s%.*s", bar, room - (int)strlen(bar), text);
    fflush(stderr);
    atomic_store(&drawn, true);
}

void progress_line_clear(void)
{
    if (atomic_exchange(&drawn, false))
        fputs("\r\033[K", stderr);
}
