/* open_engine.c: from what a command's options say to a loaded model. */
#include "cli.h"

#include "out.h"

#include <string.h>

const char *cli_device_name(const struct opt_value *device, const struct opt_value *gpu_layers)
{
    const char *name = device->given ? device->text : "auto";

    return gpu_layers->given && strcmp(name, "auto") == 0 ? "gpu" : name;
}

int cli_open_engine(const struct cli_engine_values *values, struct dllm_engine **out)
{
    struct dllm_engine_options options = {
        .model_path = cli_model_path(values->model),
        .threads = (int)values->threads->integer,
        .cpu_level = values->cpu_level->text,
        .device = cli_device_name(values->device, values->gpu_layers),
        .gpu_layers = values->gpu_layers->text,
        .on_read = values->reading ? reading_show : NULL,
        .context = values->reading,
    };
    struct dllm_error error = {0};
    enum dllm_status status;
    int code;

    /* Before a model is fetched for a device that is not there. */
    if (dllm_device_check(options.device, &error))
        return cli_fail_error(&error);
    if ((code = cli_find_model(&options.model_path, values->pull->given)))
        return code;
    if (strcmp(options.model_path, DLLM_DEMO_MODEL) != 0)
        out_file_keep(options.model_path);
    /* A GPU gets the weights before the engine is open. */
    if (values->reading)
        reading_open(values->reading);
    status = dllm_engine_open(&options, out, &error);
    if (values->reading)
        reading_close(values->reading);
    return status ? cli_fail_error(&error) : CLI_OK;
}
