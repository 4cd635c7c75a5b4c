/* run_view.c: the canvas as it stands before the first step, for those who watch. */
#include "run_view.h"

#include <stdlib.h>
#include <string.h>

/* Lays the canvas out as dllm_generate will: prompt, masks, suffix. With a
 * template the ids are the whole canvas already. */
static int32_t *lay_out(const struct run_facts *facts, const struct dllm_ids *prompt, size_t count)
{
    const struct dllm_generate_options *settings = &facts->settings;
    int32_t *canvas = malloc(count * sizeof *canvas), *at = canvas;

    if (!canvas)
        return NULL;
    memcpy(at, prompt->ids, prompt->count * sizeof *at);
    at += prompt->count;
    for (int i = 0; i < settings->max_tokens && !facts->filled; i++)
        *at++ = facts->model.mask_id;
    if (settings->suffix_count)
        memcpy(at, settings->suffix, settings->suffix_count * sizeof *at);
    return canvas;
}

/* From the first mask of a template to the last. */
static void find_region(struct dllm_step *start, int32_t mask_id)
{
    size_t end = start->canvas_count;

    start->region_start = 0;
    while (start->canvas[start->region_start] != mask_id)
        start->region_start++;
    while (start->canvas[end - 1] != mask_id)
        end--;
    start->region_count = end - start->region_start;
}

static struct dllm_step start_of(const struct run_facts *facts, const struct dllm_ids *prompt,
                                 const int32_t *canvas, size_t count)
{
    const struct dllm_generate_options *settings = &facts->settings;
    struct dllm_step start = {
        .steps = settings->steps ? settings->steps : settings->max_tokens,
        .canvas = canvas,
        .canvas_count = count,
        .region_start = prompt->count,
        .region_count = (size_t)settings->max_tokens,
    };

    for (size_t i = 0; i < count; i++)
        start.masks_left += canvas[i] == facts->model.mask_id;
    start.masks_at_start = start.masks_left;
    if (facts->filled)
        find_region(&start, facts->model.mask_id);
    return start;
}

static int open_views(struct run_watch *watch, const struct opts *opts,
                      const struct dllm_engine *engine, const struct run_facts *facts,
                      const struct dllm_step *start)
{
    const struct opt_value *values = opts->values;
    struct visual_options options = {
        .color = (enum visual_color)values[RUN_COLOR_BY].choice,
        .pause_ms = values[RUN_PAUSE].given ? (int)values[RUN_PAUSE].integer : 40,
        .whole = !facts->chat,
    };
    int code = CLI_OK;

    if (values[RUN_TRACE].given)
        code = trace_file_open(&watch->trace, values[RUN_TRACE].text, engine, facts, start);
    if (code || !values[RUN_VISUAL].given)
        return code;
    watch->visual = visual_open(engine, &options, start);
    return watch->visual ? CLI_OK : CLI_FAILURE;
}

int run_view_open(struct run_watch *watch, const struct opts *opts,
                  const struct dllm_engine *engine, struct run_facts *facts,
                  const struct dllm_ids *prompt)
{
    struct dllm_generate_options *settings = &facts->settings;
    size_t count = facts->prompt_tokens + (size_t)settings->max_tokens + settings->suffix_count;
    struct dllm_step start;
    int32_t *canvas;
    int code;

    settings->record_choices = opts->values[RUN_TRACE].given || opts->values[RUN_VISUAL].given;
    if (!settings->record_choices)
        return CLI_OK;
    canvas = lay_out(facts, prompt, count);
    if (!canvas)
        return cli_fail(CLI_FAILURE, "out of memory");
    start = start_of(facts, prompt, canvas, count);
    code = open_views(watch, opts, engine, facts, &start);
    free(canvas);
    if (code)
        run_view_close(watch, NULL);
    return code;
}

int run_view_close(struct run_watch *watch, const struct dllm_result *result)
{
    int code = CLI_OK;

    visual_close(watch->visual, result != NULL);
    if (watch->trace && result)
        code = trace_file_finish(watch->trace, result);
    trace_file_close(watch->trace);
    watch->visual = NULL;
    watch->trace = NULL;
    return code;
}
