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

bool canvas_answer_is_final(const struct canvas *canvas)
{
    for (int i = 0; i < canvas->region_count; i++) {
        int32_t id = canvas->ids[canvas->region_start + i];
        if (id == canvas->mask_id)
            return false;
        if (id == canvas->eos_id || id == canvas->eot_id)
            return true;
    }
    return false;
}
