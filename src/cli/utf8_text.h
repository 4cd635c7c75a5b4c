/* utf8_text.h: steps through bytes that may or may not be UTF-8. */
#ifndef UTF8_TEXT_H
#define UTF8_TEXT_H

#include <stddef.h>
#include <stdint.h>

/* Length of the valid UTF-8 sequence at the start of data [size], 0 if there
 * is none; size is at least 1. *code gets its code point. */
int utf8_text_next(const char *data, size_t size, uint32_t *code);

#endif
