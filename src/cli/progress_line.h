/*
 * progress_line.h: one line on stderr that says how far something is, drawn again and again in its
 * place. It is never wider than the terminal, where it would leave its beginnings behind; where
 * stderr is no terminal that can go back in a line there is none.
 */
#ifndef PROGRESS_LINE_H
#define PROGRESS_LINE_H

/* Draws it in place of the one before. share, 0 to 1: a bar stands in front, if the text leaves
 * room; below 0: none. From several threads only one at a time. */
void progress_line(double share, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Removes it if it is there. */
void progress_line_clear(void);

#endif
