/* window.c: when a cache is filled anew, and what is computed between. */
#include "window.h"

#include "compiler.h"

struct windows windows_open(const struct dllm_generate_options *options, bool shift_logits,
                            int length, int answer)
{
    return (struct windows){.options = options,
                            .shift_logits = shift_logits,
                            .length = length,
                            .answer = answer,
                            .since_prompt = -1};
}

/* The first row that scores positions from `position` on. */
static int first_row(const struct windows *windows, int position)
{
    return position - (windows->shift_logits && position > 0);
}

void windows_enter_block(struct windows *windows, int first, int end)
{
    int sight = windows->options->suffix_window;

    windows->steps = 0;
    windows->block.low = first_row(windows, first);
    windows->block.high = end;
    windows->block.length = windows->length;
    if (sight > 0 && sight < windows->length - end)
        windows->block.length = end + sight;
}

static bool refresh_is_due(const struct windows *windows)
{
    const struct dllm_generate_options *options = windows->options;

    if (options->cache == DLLM_CACHE_NONE || windows->steps == 0)
        return true;
    return options->cache_refresh > 0 && windows->steps % options->cache_refresh == 0;
}

/* A refresh leaves the rows before the answer out while their own is not due. */
static int refresh_from(const struct windows *windows)
{
    int interval = windows->options->prompt_refresh;

    if (windows->since_prompt < 0 || windows->since_prompt >= interval)
        return 0;
    return first_row(windows, windows->answer);
}

struct window windows_next(struct windows *windows)
{
    struct window window = windows->block;

    if (refresh_is_due(windows)) {
        window.low = refresh_from(windows);
        window.high = window.length;
    } else if (windows->options->cache == DLLM_CACHE_PREFIX) {
        window.high = window.length;
    }
    if (window.low == 0)
        windows->since_prompt = 0;
    if (windows->since_prompt >= 0)
        windows->since_prompt++;
    windows->steps++;
    return window;
}
