/* memory_check.c: see memory_check.h. */
#include "memory_check.h"

#include "out.h"

struct memory_need memory_need_of(const struct dllm_engine *engine, size_t canvas,
                                  const struct dllm_generate_options *settings)
{
    return (struct memory_need){
        .canvas = canvas,
        .workspace = dllm_generate_workspace_bytes(engine, canvas, settings),
        .cached = settings->cache != DLLM_CACHE_NONE,
        .guided = settings->cfg_scale > 0,
        .allow_long = settings->allow_long,
    };
}

static uint64_t all_sessions(const struct memory_need *need)
{
    uint64_t bytes, sessions = need->sessions > 1 ? (uint64_t)need->sessions : 1;

    return __builtin_mul_overflow(need->workspace, sessions, &bytes) ? UINT64_MAX : bytes;
}

uint64_t memory_total(const struct memory_need *need, uint64_t weight_bytes)
{
    uint64_t bytes;

    return __builtin_add_overflow(all_sessions(need), weight_bytes, &bytes) ? UINT64_MAX : bytes;
}

/* "148 positions", "4 canvases of 148 positions". */
static const char *describe(const struct memory_need *need, char out[80])
{
    int canvases = (need->sessions > 1 ? need->sessions : 1) * (need->guided ? 2 : 1);

    if (canvases == 1)
        snprintf(out, 80, "a canvas of %zu positions", need->canvas);
    else
        snprintf(out, 80, "%d canvases of %zu positions", canvases, need->canvas);
    return out;
}

int memory_check(const struct dllm_engine *engine, const struct memory_need *need)
{
    struct dllm_machine machine;

    dllm_machine(&machine);
    return memory_check_against(engine, need, machine.memory_available_bytes);
}

int memory_check_against(const struct dllm_engine *engine, const struct memory_need *need,
                         uint64_t available)
{
    struct dllm_model_info info;
    char all[32], work[32], usable[32], canvases[80];
    uint64_t total;

    dllm_engine_info(engine, &info);
    /* A GPU's memory is the library's to check: there is no way around what it has. Of a
     * model that it shares, the CPU's layers count here. */
    if (need->force || info.host_bytes == 0)
        return CLI_OK;
    /* Memory is not what is wrong then, and nothing is allocated. */
    if (!need->allow_long && info.context_length && need->canvas > (size_t)info.context_length)
        return CLI_OK;
    total = memory_total(need, info.host_bytes);
    /* What sessions hold is no longer available, but theirs. */
    if (available == 0 || total <= available + need->held)
        return CLI_OK;
    return cli_fail(
        CLI_FAILURE,
        "%s does not fit: it takes %s, %s of them for %s, and %s of memory are available; "
        "every step would read it from the disk. Take a smaller quantization or a shorter "
        "canvas%s%s%s%s%s, or insist with --force",
        info.device_is_gpu ? "what the CPU has of the model" : "the model",
        out_size_text(total, all), out_size_text(all_sessions(need), work),
        describe(need, canvases), out_size_text(available + need->held, usable),
        need->sessions > 1 ? ", fewer at once (" : "",
        need->sessions > 1 ? need->sessions_option : "", need->sessions > 1 ? ")" : "",
        need->cached ? ", no cache (--cache none)" : "",
        need->guided ? ", no guidance (--cfg-scale 0)" : "");
}
