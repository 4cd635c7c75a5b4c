/* visual.c: pictures of the canvas: what a frame shows, and when it is drawn. */
#include "visual.h"

#include "cli.h"
#include "frame.h"
#include "layout.h"
#include "out.h"
#include "term.h"
#include "visual_style.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ASIDE_ROWS = 5, MIN_COLUMNS = 4 };

struct visual {
    const struct dllm_engine *engine;
    struct visual_options options;
    struct term term;
    bool drawing;                /* a terminal, and its screen is taken */
    struct dllm_text *texts;     /* [count] of resolved positions, else empty */
    struct layout_token *tokens; /* [count] */
    struct style_place *places;  /* [count] */
    int32_t mask_id, eos_id;
    int first, count; /* positions that are shown */
    struct layout layout;
    struct frame frames[2]; /* on the screen, and the next */
    int top;                /* first line of the canvas that is shown */
    int focus;              /* the last line that changed */
    struct style_scale scale;
    int step;
    size_t masks, masks_left; /* at first, and now */
    double seconds;
    struct timespec shown; /* when the last frame was */
};

static void use_term(struct visual *visual)
{
    term_look(&visual->term);
    visual->scale.colors = visual->term.colors;
    visual->scale.utf8 = visual->term.utf8;
}

/* --- the canvas --- */

/* Takes the text of a position that is no mask (any more). */
static int take_token(struct visual *visual, const struct dllm_step *step, int position)
{
    int index = position - visual->first;
    struct dllm_text *text = &visual->texts[index];
    int32_t id = step->canvas[position];
    struct dllm_error error = {0};

    dllm_text_free(text);
    if (dllm_decode(visual->engine, &id, 1, true, text, &error))
        return cli_fail_error(&error);
    visual->tokens[index] = (struct layout_token){text->data ? text->data : "", text->size, false};
    if (id == visual->eos_id)
        visual->tokens[index] = style_end_token(visual->term.utf8);
    return CLI_OK;
}

static int take_start(struct visual *visual, const struct dllm_step *start)
{
    int code;

    for (int i = 0; i < visual->count; i++)
        if (start->canvas[visual->first + i] != visual->mask_id &&
            (code = take_token(visual, start, visual->first + i)))
            return code;
    for (int i = 0; i < visual->count; i++)
        visual->places[i].step = STYLE_GIVEN;
    visual->masks = visual->masks_left = start->masks_left;
    visual->scale.steps = start->steps;
    return CLI_OK;
}

static int take_step(struct visual *visual, const struct dllm_step *step)
{
    int code;

    for (size_t i = 0; i < step->committed; i++) {
        int index = step->positions[i] - visual->first;
        if (index < 0 || index >= visual->count)
            continue;
        visual->places[index] = (struct style_place){step->step, step->choices[i].probability};
        if ((code = take_token(visual, step, step->positions[i])))
            return code;
    }
    visual->step = step->step + 1;
    visual->masks_left = step->masks_left;
    visual->seconds += step->seconds;
    visual->scale.steps = step->steps;
    visual->scale.now = step->step;
    return CLI_OK;
}

/* --- frames --- */

static void put_line(struct visual *visual, struct term_text *text, int number)
{
    const struct layout *layout = &visual->layout;
    const struct layout_line *line = &layout->lines[number];
    const char *style = "";

    for (int i = line->first; i < line->first + line->count; i++) {
        const struct layout_cell *cell = &layout->cells[i];
        const char *next =
            cell->mask ? style_of_mask(&visual->scale)
                       : style_of(&visual->scale, &visual->places[cell->position - visual->first]);
        if (!cell->width)
            continue;
        if (strcmp(style, next) != 0)
            term_printf(text, "%s%s", *style ? "\033[0m" : "", next);
        style = next;
        term_put(text, layout->text + cell->text, cell->bytes);
    }
    if (*style)
        term_put(text, "\033[0m", 4);
}

static void put_header(const struct visual *visual, struct frame *frame)
{
    char line[160];
    size_t left = visual->masks_left;

    snprintf(line, sizeof line, "step %d of %d, %zu mask%s left, %.1f s", visual->step,
             visual->scale.steps, left, left == 1 ? "" : "s", visual->seconds);
    term_printf(&frame->text, "%.*s", visual->term.columns, line);
    frame_end_row(frame);
    style_put_bar(&visual->scale, &frame->text, visual->term.columns,
                  1 - (double)left / (double)visual->masks);
    frame_end_row(frame);
    frame_end_row(frame);
}

static void put_footer(const struct visual *visual, struct frame *frame, int shown)
{
    int lines = visual->layout.line_count;
    int used;

    frame_end_row(frame);
    used = style_put_legend(&visual->scale, &frame->text, visual->term.columns);
    if (shown < lines && used + 30 < visual->term.columns)
        term_printf(&frame->text, "%slines %d to %d of %d", used ? "   " : "", visual->top + 1,
                    visual->top + shown, lines);
    frame_end_row(frame);
}

/* Moves the window of `room` lines no further than it must to show the focus. */
static void scroll(struct visual *visual, int room)
{
    int last = visual->layout.line_count - room;

    if (visual->focus < visual->top)
        visual->top = visual->focus;
    if (visual->focus >= visual->top + room)
        visual->top = visual->focus - room + 1;
    if (visual->top > last)
        visual->top = last;
    if (visual->top < 0)
        visual->top = 0;
}

/* The lowest line with something of this step; else the focus stays. */
static void find_focus(struct visual *visual)
{
    const struct layout *layout = &visual->layout;

    for (int line = layout->line_count - 1; line >= 0; line--)
        for (int i = 0; i < layout->lines[line].count; i++) {
            const struct layout_cell *cell = &layout->cells[layout->lines[line].first + i];
            if (!cell->mask &&
                visual->places[cell->position - visual->first].step == visual->scale.now) {
                visual->focus = line;
                return;
            }
        }
}

static bool make_layout(struct visual *visual)
{
    int columns = visual->term.columns;

    return layout_make(&visual->layout, visual->tokens, visual->first, visual->count,
                       columns < MIN_COLUMNS ? MIN_COLUMNS : columns, visual->term.utf8);
}

static bool make_frame(struct visual *visual, struct frame *frame)
{
    bool aside = visual->term.rows > ASIDE_ROWS + 2;
    int room = visual->term.rows - (aside ? ASIDE_ROWS : 0), shown;

    frame_clear(frame);
    if (!make_layout(visual))
        return false;
    find_focus(visual);
    scroll(visual, room);
    if (aside)
        put_header(visual, frame);
    shown = visual->layout.line_count - visual->top;
    shown = shown < room ? shown : room;
    for (int i = 0; i < shown; i++) {
        put_line(visual, &frame->text, visual->top + i);
        frame_end_row(frame);
    }
    if (aside)
        put_footer(visual, frame, shown);
    return !frame->text.failed;
}

/* --- the screen --- */

static bool resize_frames(struct visual *visual)
{
    return frame_resize(&visual->frames[0], visual->term.rows) &&
           frame_resize(&visual->frames[1], visual->term.rows);
}

static int draw(struct visual *visual)
{
    struct frame done;
    bool all = term_changed();

    if (all) {
        use_term(visual);
        if (!resize_frames(visual))
            goto fail;
    }
    if (!make_frame(visual, &visual->frames[1]) ||
        !frame_write(all ? NULL : &visual->frames[0], &visual->frames[1]))
        goto fail;
    done = visual->frames[0];
    visual->frames[0] = visual->frames[1];
    visual->frames[1] = done;
    clock_gettime(CLOCK_MONOTONIC, &visual->shown);
    return CLI_OK;
fail:
    return cli_fail(CLI_FAILURE, "out of memory");
}

/* Lets the frame stay; redraws it in another size meanwhile. */
static int pause_frame(struct visual *visual)
{
    struct timespec until = visual->shown;
    int code = CLI_OK;

    until.tv_nsec += (long)(visual->options.pause_ms % 1000) * 1000000;
    until.tv_sec += visual->options.pause_ms / 1000 + until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    while (!cli_interrupted() &&
           clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR)
        if ((code = draw(visual)))
            break;
    return code;
}

/* --- without a terminal --- */

static int print_plain(struct visual *visual)
{
    struct term_text text = {0};

    for (int i = 0; i < visual->count; i++)
        if (visual->tokens[i].text)
            term_put(&text, visual->tokens[i].text, visual->tokens[i].size);
        else
            term_put(&text, "_", 1);
    if (text.failed) {
        free(text.data);
        return cli_fail(CLI_FAILURE, "out of memory");
    }
    fprintf(stderr, "step %d of %d: ", visual->step, visual->scale.steps);
    out_print_quoted(stderr, text.data ? text.data : "", text.size, 0);
    fputc('\n', stderr);
    free(text.data);
    return CLI_OK;
}

/* --- from outside --- */

static bool make_room(struct visual *visual, const struct dllm_step *start)
{
    size_t count;

    visual->first = visual->options.whole ? 0 : (int)start->region_start;
    visual->count = (int)start->canvas_count - visual->first;
    count = (size_t)visual->count;
    visual->texts = calloc(count, sizeof *visual->texts);
    visual->tokens = calloc(count, sizeof *visual->tokens);
    visual->places = calloc(count, sizeof *visual->places);
    return visual->texts && visual->tokens && visual->places;
}

struct visual *visual_open(const struct dllm_engine *engine, const struct visual_options *options,
                           const struct dllm_step *start)
{
    struct visual *visual = calloc(1, sizeof *visual);
    struct dllm_model_info info;

    if (visual)
        visual->options = *options;
    if (!visual || !make_room(visual, start)) {
        cli_fail(CLI_FAILURE, "out of memory");
        goto fail;
    }
    dllm_engine_info(engine, &info);
    visual->engine = engine;
    visual->mask_id = info.mask_id;
    visual->eos_id = info.eos_id;
    visual->scale.by_step = options->color == VISUAL_COLOR_STEP;
    visual->scale.now = -1;
    use_term(visual);
    if (take_start(visual, start))
        goto fail;
    if (!term_can_draw())
        return visual;
    visual->drawing = true;
    term_enter();
    if (draw(visual) == CLI_OK)
        return visual;
fail:
    visual_close(visual, false);
    return NULL;
}

int visual_step(struct visual *visual, const struct dllm_step *step)
{
    int code;

    if (visual->drawing && step->computed && (code = pause_frame(visual)))
        return code;
    if ((code = take_step(visual, step)))
        return code;
    return visual->drawing ? draw(visual) : print_plain(visual);
}

static void print_last(struct visual *visual)
{
    struct term_text text = {0};

    visual->scale.now = -1;
    use_term(visual);
    if (!make_layout(visual))
        return;
    for (int line = 0; line < visual->layout.line_count; line++) {
        put_line(visual, &text, line);
        term_put(&text, "\n", 1);
    }
    if (style_put_legend(&visual->scale, &text, visual->term.columns))
        term_put(&text, "\n", 1);
    term_put(&text, "\n", 1);
    if (!text.failed)
        term_write(text.data, text.size);
    free(text.data);
}

void visual_close(struct visual *visual, bool keep)
{
    if (!visual)
        return;
    if (visual->drawing) {
        pause_frame(visual);
        term_leave();
        if (keep)
            print_last(visual);
    }
    for (int i = 0; i < visual->count && visual->texts; i++)
        dllm_text_free(&visual->texts[i]);
    for (int i = 0; i < 2; i++)
        frame_free(&visual->frames[i]);
    layout_free(&visual->layout);
    free(visual->texts);
    free(visual->tokens);
    free(visual->places);
    free(visual);
}
