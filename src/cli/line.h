/*
 * line.h: lines that somebody types: with an editor and a history where the
 * program was built with libedit and runs in a terminal, else as they come.
 */
#ifndef LINE_H
#define LINE_H

#include <stdbool.h>
#include <stddef.h>

struct line_reader;

/* Reads standard input. history is the file that keeps typed lines, NULL for
 * none; it is used in a terminal only. NULL after a message. */
struct line_reader *line_open(const char *history);

/* The next line without its end, owned by the caller, and its size: a line that is not typed
 * may hold zeros. A zero follows it. NULL at the end of the
 * input, or when it cannot be read (line_failed). ctrl-c in the editor gives up the
 * line at hand and starts another. */
char *line_read(struct line_reader *reader, size_t *size);

/* Whether the last line_read ended for want of memory or by a read error, which it
 * printed a message about. */
bool line_failed(const struct line_reader *reader);

/* Writes the history. Takes NULL. */
void line_close(struct line_reader *reader);

/* Whether somebody sits in front of it: standard input is a terminal. */
bool line_is_typed(void);

#endif
