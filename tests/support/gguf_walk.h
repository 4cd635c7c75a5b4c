/* gguf_walk.h: reads all that an open GGUF file offers. */
#ifndef GGUF_WALK_H
#define GGUF_WALK_H

#include "dllm.h"

/* Reads every byte of every name, value, array element and tensor, and looks
 * each name up. A range that leaves the file shows under AddressSanitizer.
 * Returns a sum of what was read; ends the test program when the file
 * contradicts itself. */
uint64_t gguf_walk(const struct dllm_file *file);

/* A small file with every kind of value and three tensors, as malloc'ed bytes;
 * *header is where its data part starts. */
uint8_t *gguf_sample(size_t *size, size_t *header);

#endif
