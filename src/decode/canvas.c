/*
 * canvas.c: masks in, tokens out.
 */
#include "canvas.h"

#include <stddef.h>

/* Gap `index` lies inside the canvas, behind the one before, and is masks. */
static enum dllm_status check_gap(const struct canvas *canvas, int index, struct dllm_error *error)
{
    struct canvas_gap gap = canvas->gaps[index];
    int least = index ? canvas->gaps[index - 1].start + canvas->gaps[index - 1].count : 0;

    if (gap.start < least || gap.count < 1 || gap.count > canvas->length - gap.start)
        return status_fail(error, DLLM_ERROR_USAGE,
                           "a gap of %d positions from %d on does not fit into a canvas of %d",
                           gap.count, gap.start, canvas->length);
    for (int i = gap.start; i < gap.start + gap.count; i++)
        if (canvas->ids[i] != canvas->mask_id)
            return status_fail(error, DLLM_ERROR_USAGE,
                               "position %d of the region to generate holds id %d; expected the "
                               "mask id %d",
                               i, (int)canvas->ids[i], (int)canvas->mask_id);
    return DLLM_OK;
}

/* A suffix window hides what it does not reach: only masks may be hidden. */
static enum dllm_status check_rest(const struct canvas *canvas, struct dllm_error *error)
{
    for (int i = canvas->gaps[0].start; i < canvas->length; i++)
        if (canvas->ids[i] != canvas->mask_id)
            return status_fail(error, DLLM_ERROR_USAGE,
                               "suffix_window leaves out what stands far behind a block, but "
                               "position %d holds id %d; expected masks alone from the first gap "
                               "on: leave suffix_window out",
                               i, (int)canvas->ids[i]);
    return DLLM_OK;
}

enum dllm_status canvas_check(const struct canvas *canvas, int max_tokens, bool masks_behind,
                              struct dllm_error *error)
{
    int total = 0;

    for (int i = 0; i < canvas->gap_count; i++) {
        TRY(check_gap(canvas, i, error));
        total += canvas->gaps[i].count;
    }
    if (total != max_tokens)
        return status_fail(error, DLLM_ERROR_USAGE,
                           "the gaps hold %d positions, but max_tokens is %d; expected the same",
                           total, max_tokens);
    return masks_behind ? check_rest(canvas, error) : DLLM_OK;
}

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
