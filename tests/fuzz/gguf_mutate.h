/*
 * gguf_mutate.h: changes a GGUF file where a change means something: one count,
 * length, kind, dimension, offset or value, or one whole entry; all else stays
 * valid, so that what follows the fault in the walk is reached.
 */
#ifndef GGUF_MUTATE_H
#define GGUF_MUTATE_H

#include <stddef.h>
#include <stdint.h>

/* Makes one change to data [size] in place, the same for the same seed; at most
 * limit bytes come out. Returns the new size. */
size_t gguf_mutate(uint8_t *data, size_t size, size_t limit, unsigned seed);

#endif
