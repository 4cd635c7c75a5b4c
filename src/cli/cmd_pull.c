/* cmd_pull.c: dllm pull: a model from the hub into the cache on this machine. */
#include "cli.h"
#include "model_source.h"
#include "out.h"

enum { PULL_OPERAND, PULL_OFFLINE, PULL_OPTIONS };

static const struct opt options[PULL_OPTIONS] = {
    [PULL_OPERAND] = {.name = "MODEL",
                      .kind = OPT_OPERAND,
                      .required = true,
                      .help = "OWNER/NAME, OWNER/NAME:QUANT, OWNER/NAME/FILE.gguf, llada or dream"},
    [PULL_OFFLINE] = {.name = "offline",
                      .kind = OPT_FLAG,
                      .help = "only look into the cache, as with HF_HUB_OFFLINE=1"},
};

static const struct opt_table table = {
    .command = "pull",
    .usage = "MODEL [options]",
    .summary = "Fetch a model from the Hugging Face hub",
    .notes = "Without QUANT: the Q4_K_M file, else Q8_0, else the first one. The parts of a\n"
             "split model come together. The path of the (first) file goes to stdout. A pull\n"
             "that was cut goes on where it was. The cache is the one other tools use:\n"
             "$HF_HUB_CACHE, $HF_HOME/hub or ~/.cache/huggingface/hub. HF_ENDPOINT is the\n"
             "address of another hub, HF_TOKEN opens private and gated repositories.\n",
    .options = options,
    .count = PULL_OPTIONS,
};

static int find_offline(const char *name, const struct hub_spec *spec, char path[HUB_PATH_BYTES])
{
    struct dllm_error error = {0};
    bool found;

    if (hub_find(spec, &found, path, &error))
        return cli_fail_error(&error);
    if (found)
        return CLI_OK;
    return cli_fail(CLI_FAILURE,
                    "model %s is not in the cache of models, and the hub is not asked: --offline "
                    "or HF_HUB_OFFLINE forbids it",
                    name);
}

static int run_pull(struct opts *opts)
{
    const char *name = opts->values[PULL_OPERAND].text;
    struct dllm_error error = {0};
    struct hub_spec spec;
    char path[HUB_PATH_BYTES];
    int code;

    if (hub_parse(name, &spec, &error))
        return cli_fail_error(&error);
    if (opts->values[PULL_OFFLINE].given || hub_offline())
        code = find_offline(name, &spec, path);
    else
        code = model_pull(&spec, path);
    if (code)
        return code;
    puts(path);
    return out_finish();
}

const struct command command_pull = {&table, run_pull};
