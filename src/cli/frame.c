/* frame.c: see frame.h. */
#include "frame.h"

#include "dllm.h"

#include <stdlib.h>
#include <string.h>

bool frame_resize(struct frame *frame, int rows)
{
    size_t *ends = realloc(frame->ends, (size_t)rows * sizeof *ends);

    if (!ends)
        return false;
    frame->ends = ends;
    frame->capacity = rows;
    return true;
}

void frame_free(struct frame *frame)
{
    free(frame->text.data);
    free(frame->ends);
    *frame = (struct frame){0};
}

void frame_clear(struct frame *frame)
{
    frame->text.size = 0;
    frame->rows = 0;
}

void frame_end_row(struct frame *frame)
{
    if (frame->rows < frame->capacity)
        frame->ends[frame->rows++] = frame->text.size;
}

/* The bytes of a row; an empty one beyond the frame. */
static struct dllm_string row_of(const struct frame *frame, int row)
{
    size_t begin = row > 0 && row <= frame->rows ? frame->ends[row - 1] : 0;

    if (row >= frame->rows)
        return (struct dllm_string){"", 0};
    return (struct dllm_string){frame->text.data + begin, frame->ends[row] - begin};
}

/* Each row is cleared first: clearing behind a full row would take its last column. */
bool frame_write(const struct frame *last, const struct frame *next)
{
    struct term_text out = {0};
    int rows = last && last->rows > next->rows ? last->rows : next->rows;

    term_put(&out, "\033[?2026h", 8);
    if (!last)
        term_put(&out, "\033[2J", 4);
    for (int row = 0; row < rows; row++) {
        struct dllm_string now = row_of(next, row);
        struct dllm_string was = last ? row_of(last, row) : (struct dllm_string){"", 0};
        if (now.size == was.size && memcmp(now.data, was.data, now.size) == 0)
            continue;
        term_printf(&out, "\033[%d;1H\033[K", row + 1);
        term_put(&out, now.data, now.size);
    }
    term_put(&out, "\033[?2026l", 8);
    if (!out.failed)
        term_write(out.data, out.size);
    free(out.data);
    return !out.failed;
}
