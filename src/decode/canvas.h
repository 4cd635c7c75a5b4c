/*
 * canvas.h: the sequence being written: what was given, the gaps to fill, and
 * which positions are still masks.
 */
#ifndef CANVAS_H
#define CANVAS_H

#include "status.h"

#include <stdbool.h>
#include <stdint.h>

/* Positions [start, start + count) that are to be filled; count is at least 1. */
struct canvas_gap {
    int start, count;
};

struct canvas {
    int32_t *ids;      /* [length] */
    int32_t *unguided; /* [length] the same with mask at all that was no mask at first, or NULL */
    int length;
    const struct canvas_gap *gaps; /* [gap_count] ascending, apart; an ordinary run has one */
    int gap_count;
    int32_t mask_id, eos_id, eot_id;
    int masks_left;
};

/* A usage error unless the gaps lie in the canvas, ascending and apart, and hold
 * max_tokens masks in all; with masks_behind also if anything but a mask stands
 * behind the first gap's start. */
enum dllm_status canvas_check(const struct canvas *canvas, int max_tokens, bool masks_behind,
                              struct dllm_error *error);

/* Counts the masks of ids and, with unguided, fills that: at the start all of
 * it is mask. The other fields are set. */
void canvas_open(struct canvas *canvas);

/* Writes the masked positions below end into positions (ascending) unless that
 * is NULL, and returns their number. */
int canvas_masks(const struct canvas *canvas, int end, int32_t *positions);

/* Puts a token (not the mask) at a masked position, for good. */
void canvas_commit(struct canvas *canvas, int32_t position, int32_t token);

/* The end (one past) of the first `count` positions of the gaps, in order; count
 * is at least 1 and at most their sum. */
int canvas_end_of(const struct canvas *canvas, int count);

/* Whether no later commit can change the answer, because end tokens ended it: in
 * each gap an end token comes before the first mask, or no mask is left, and at
 * least one gap was ended so. */
bool canvas_answer_is_final(const struct canvas *canvas);

#endif
