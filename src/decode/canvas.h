/*
 * canvas.h: the sequence being written: prompt, generated region, suffix, and
 * which of its positions are still masks.
 */
#ifndef CANVAS_H
#define CANVAS_H

#include <stdbool.h>
#include <stdint.h>

struct canvas {
    int32_t *ids;      /* [length] */
    int32_t *unguided; /* [length] the same with mask at all that was no mask at first, or NULL */
    int length;
    int region_start, region_count; /* what is generated */
    int32_t mask_id, eos_id, eot_id;
    int masks_left;
};

/* Counts the masks of ids and, with unguided, fills that: at the start all of
 * it is mask. The other fields are set. */
void canvas_open(struct canvas *canvas);

/* Writes the masked positions below end into positions (ascending) unless that
 * is NULL, and returns their number. */
int canvas_masks(const struct canvas *canvas, int end, int32_t *positions);

/* Puts a token (not the mask) at a masked position, for good. */
void canvas_commit(struct canvas *canvas, int32_t position, int32_t token);

/* Whether no later commit can change the answer: the first position of the
 * region that is a mask or an end token is an end token. */
bool canvas_answer_is_final(const struct canvas *canvas);

#endif
