/*
 * utf8.h: code points in byte strings, strictly: no overlong forms, no
 * surrogates, nothing above U+10FFFF. Pure functions.
 */
#ifndef UTF8_H
#define UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The code point that starts at data[0]: returns its length in bytes, 1 to 4,
 * or 0 when the bytes up to size do not start with a whole valid one. */
int utf8_decode(const char *data, size_t size, uint32_t *code_point);

/* Writes a valid code point; returns its length in bytes. */
int utf8_write(uint32_t code_point, char out[4]);

/* Length in bytes of the longest valid beginning of data. */
size_t utf8_valid_prefix(const char *data, size_t size);

/* White space as Python's str.strip sees it, which is what published chat
 * templates trim: Unicode's White_Space and U+001C to U+001F. */
bool utf8_is_space(uint32_t code_point);

#endif
