/* demo_model.h: the built-in model as a GGUF file in memory. */
#ifndef DEMO_MODEL_H
#define DEMO_MODEL_H

#include <stdint.h>

/* The file's bytes, aligned to 64, in static storage; *size is their number. */
const uint8_t *demo_model_bytes(uint64_t *size);

#endif
