/* fill.c: canvases with masks anywhere. */
#include "generation.h"

#include <stdlib.h>
#include <string.h>

/* Runs of masks in ids [count]; writes them to gaps unless that is NULL. */
static int find_gaps(const int32_t *ids, size_t count, int32_t mask_id, struct canvas_gap *gaps)
{
    int found = 0;

    for (size_t i = 0; i < count; i++) {
        bool begins = i == 0 || ids[i - 1] != mask_id;
        if (ids[i] != mask_id)
            continue;
        if (gaps && begins)
            gaps[found] = (struct canvas_gap){(int)i, 0};
        found += begins;
        if (gaps)
            gaps[found - 1].count++;
    }
    return found;
}

static enum dllm_status lay_out(struct generation *generation, const int32_t *canvas, size_t count,
                                struct dllm_error *error)
{
    int32_t mask_id = generation->model.mask_id;
    int gaps = find_gaps(canvas, count, mask_id, NULL);

    if (gaps == 0)
        return status_fail(error, DLLM_ERROR_USAGE,
                           "the canvas has no gap to fill; expected the mask id %d at least once",
                           (int)mask_id);
    generation->canvas = malloc(count * sizeof *canvas);
    generation->gaps = malloc((size_t)gaps * sizeof *generation->gaps);
    if (!generation->canvas || !generation->gaps)
        return status_no_memory(error, count * sizeof *canvas);
    memcpy(generation->canvas, canvas, count * sizeof *canvas);
    generation->length = (int)count;
    generation->gap_count = find_gaps(canvas, count, mask_id, generation->gaps);
    return DLLM_OK;
}

/* max_tokens and suffix say nothing here; what contradicts the canvas is refused. */
static enum dllm_status count_positions(struct generation *generation, struct dllm_error *error)
{
    struct dllm_generate_options *options = &generation->options;
    int asked = options->max_tokens;

    options->max_tokens = 0;
    for (int i = 0; i < generation->gap_count; i++)
        options->max_tokens += generation->gaps[i].count;
    if (options->suffix_count)
        return status_fail(error, DLLM_ERROR_USAGE,
                           "suffix has no effect on a canvas with gaps: put it into the canvas");
    if (asked == 0 || asked == options->max_tokens)
        return DLLM_OK;
    return status_fail(error, DLLM_ERROR_USAGE,
                       "max_tokens is %d, but the canvas has %d masks; expected that number, or 0",
                       asked, options->max_tokens);
}

static enum dllm_status check(struct generation *generation, const int32_t *canvas, size_t count,
                              struct dllm_error *error)
{
    TRY(session_check_length(generation->session, count, generation->options.allow_long, error));
    return session_check_ids(generation->session, canvas, count, "canvas", error);
}

static enum dllm_status append(struct dllm_text *text, const char *data, size_t size,
                               struct dllm_error *error)
{
    char *grown = realloc(text->data, text->size + size + 1);

    if (!grown)
        return status_no_memory(error, text->size + size + 1);
    text->data = grown;
    if (size)
        memcpy(text->data + text->size, data, size);
    text->size += size;
    text->data[text->size] = 0;
    return DLLM_OK;
}

/* Appends what ids [from, to) of the canvas print. */
static enum dllm_status append_given(const struct generation *generation, size_t from, size_t to,
                                     struct dllm_text *text, struct dllm_error *error)
{
    struct dllm_text piece = {0};
    enum dllm_status status;

    TRY(tokenizer_decode(generation->session->engine->tokenizer, generation->canvas + from,
                         to - from, false, &piece, error));
    status = append(text, piece.data, piece.size, error);
    dllm_text_free(&piece);
    return status;
}

/* The canvas and what it prints. */
static enum dllm_status take_canvas(struct generation *generation, struct dllm_result *result,
                                    struct dllm_error *error)
{
    size_t at = 0, length = (size_t)generation->length;

    for (size_t i = 0; i < result->gap_count; i++) {
        const struct dllm_gap *gap = &result->gaps[i];
        TRY(append_given(generation, at, gap->start, &result->text, error));
        TRY(append(&result->text, gap->text.data, gap->text.size, error));
        at = gap->start + gap->count;
    }
    TRY(append_given(generation, at, length, &result->text, error));
    result->ids = (struct dllm_ids){generation->canvas, length};
    generation->canvas = NULL;
    return DLLM_OK;
}

enum dllm_status dllm_fill(struct dllm_session *session, const int32_t *canvas, size_t count,
                           const struct dllm_generate_options *options, struct dllm_result *result,
                           struct dllm_error *error)
{
    struct generation generation = generation_of(session, options);
    enum dllm_status status;

    *result = (struct dllm_result){0};
    TRY_GOTO(check(&generation, canvas, count, error));
    TRY_GOTO(lay_out(&generation, canvas, count, error));
    TRY_GOTO(count_positions(&generation, error));
    TRY_GOTO(denoise_check(&generation.model, &generation.options, error));
    TRY_GOTO(generation_run(&generation, result, error));
    TRY_GOTO(take_canvas(&generation, result, error));
    status = DLLM_OK;
fail:
    if (status)
        dllm_result_free(result);
    generation_free(&generation);
    return status;
}
