/*
 * bytemap.h: byte-level BPE writes its tokens in printable characters, one per
 * byte. Bytes 33-126, 161-172 and 174-255 stand for themselves as code points;
 * the other 68, in order, for 256, 257, ... Pure functions.
 */
#ifndef BYTEMAP_H
#define BYTEMAP_H

#include "dllm.h"

/* The code point that stands for a byte. */
uint32_t bytemap_code_point(uint8_t byte);

/* The byte that a code point stands for, -1 if it stands for none. */
int bytemap_byte(uint32_t code_point);

/* Turns a token's string into the bytes that it stands for; characters that
 * stand for no byte, and invalid UTF-8, stay as they are. Writes to out, which
 * may be NULL and needs text.size bytes at most; returns the number of bytes. */
size_t bytemap_decode(struct dllm_string text, char *out);

#endif
