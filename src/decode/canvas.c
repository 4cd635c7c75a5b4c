/*
 * canvas.c: masks in, tokens out.
 */
#include "canvas.h"

#include <stddef.h>

void canvas_open(struct canvas *canvas)
{
    canvas->masks_left = canvas_masks(canvas, canvas->length, NULL);
    if (canvas->unguided)
        for (int i = 0; i < canvas->length; i++)
            canvas->unguided[i] = canvas->mask_id;
}

int canvas_masks(const struct canvas *canvas, int end, int32_t *positions)
{
    int count = 0;

    for (int i = 0; i < end; i++)
        if (canvas->ids[i] == canvas->mask_id) {
            if (positions)
                positions[count] = i;
            count++;
        }
    return count;
}

void canvas_commit(struct canvas *canvas, int32_t position, int32_t token)
{
    canvas->ids[position] = token;
    if (canvas->unguided)
        canvas->unguided[position] = token;
    canvas->masks_left--;
}

int canvas_end_of(const struct canvas *canvas, int count)
{
    const struct canvas_gap *gap = canvas->gaps;

    while (count > gap->count)
        count -= gap++->count;
    return gap->start + count;
}

/* The first mask or end token of a gap, mask_id or an end token; -1: neither. */
static int32_t first_open(const struct canvas *canvas, const struct canvas_gap *gap)
{
    for (int i = gap->start; i < gap->start + gap->count; i++) {
        int32_t id = canvas->ids[i];
        if (id == canvas->mask_id || id == canvas->eos_id || id == canvas->eot_id)
            return id;
    }
    return -1;
}

bool canvas_answer_is_final(const struct canvas *canvas)
{
    bool ended = false;

    for (int i = 0; i < canvas->gap_count; i++) {
        int32_t id = first_open(canvas, &canvas->gaps[i]);
        if (id == canvas->mask_id)
            return false;
        ended |= id >= 0;
    }
    return ended;
}
