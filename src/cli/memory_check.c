/* memory_check.c: whether a model fits into memory, before it is run. */
#include "cli.h"
#include "out.h"

#include <limits.h>

int cli_check_memory(const struct dllm_engine *engine, size_t canvas, size_t rows, bool force)
{
    struct dllm_model_info info;
    struct dllm_machine machine;
    uint64_t workspace;
    char all[32], work[32], available[32];

    /* A canvas beyond counting is the library's to refuse. */
    if (force || canvas > INT_MAX / 2)
        return CLI_OK;
    dllm_engine_info(engine, &info);
    dllm_machine(&machine);
    workspace = dllm_engine_workspace_bytes(engine, (int)canvas, (int)rows);
    if (machine.memory_available_bytes == 0 ||
        info.file_bytes + workspace <= machine.memory_available_bytes)
        return CLI_OK;
    return cli_fail(CLI_FAILURE,
                    "the model does not fit: it takes %s, %s of them for a canvas of %zu "
                    "positions, and %s of memory are available; every step would read it from the "
                    "disk. Take a smaller quantization or a shorter canvas, or insist with --force",
                    out_size_text(info.file_bytes + workspace, all), out_size_text(workspace, work),
                    canvas, out_size_text(machine.memory_available_bytes, available));
}
