/*
 * two_sides.h: one pass over the same canvas through dllm and through llama.cpp
 * (llama_peer_open comes first). A failure sets *why to a message.
 */
#ifndef TWO_SIDES_H
#define TWO_SIDES_H

#include <stdint.h>

enum { SIDES_CANVAS = 24 };

struct sides_canvas {
    int32_t ids[SIDES_CANVAS];
    int vocab;
};

/* A canvas for the model at path: `prompt` ids spread by `step`, then masks.
 * Returns a message on failure. */
const char *sides_canvas_of(const char *path, int prompt, int step, struct sides_canvas *out);

/* Logits [SIDES_CANVAS, vocab] of all rows, which the caller frees; NULL on
 * failure. */
float *sides_own_logits(const char *path, const struct sides_canvas *canvas, const char **why);
float *sides_peer_logits(const char *path, const struct sides_canvas *canvas, const char **why);

#endif
