/* cmd_run.c: dllm run: a prompt in, an answer out. */
#include "out.h"
#include "run_view.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What a run holds; cut down in reverse by run_release. */
struct run {
    const struct opts *opts;
    struct prompt prompt;
    struct dllm_engine *engine;
    struct dllm_session *session;
    struct dllm_ids ids, suffix;
    struct dllm_string *stops;
    struct dllm_result result;
    struct run_facts facts;
    struct run_watch watch;
};

static void release(struct run *run)
{
    dllm_result_free(&run->result);
    free(run->stops);
    dllm_ids_free(&run->suffix);
    dllm_ids_free(&run->ids);
    dllm_session_destroy(run->session);
    dllm_engine_close(run->engine);
    prompt_free(&run->prompt);
}

static int open_model(struct run *run)
{
    const struct opt_value *values = run->opts->values;
    struct dllm_engine_options options = {
        .model_path = cli_model_path(&values[RUN_MODEL]),
        .threads = (int)values[RUN_THREADS].integer,
        .cpu_level = values[RUN_CPU_LEVEL].text,
    };
    struct dllm_error error = {0};
    int code = cli_find_model(&options.model_path, values[RUN_PULL].given);

    if (code)
        return code;
    if (dllm_engine_open(&options, &run->engine, &error))
        return cli_fail_error(&error);
    dllm_engine_info(run->engine, &run->facts.model);
    return run_check_effects(run->opts, &run->facts.model);
}

/* Suffix text is text of the user's: parsed for control strings as the prompt
 * is. */
static int encode_suffix(struct run *run)
{
    const struct opt_value *values = run->opts->values;
    const char *text = values[RUN_SUFFIX].text;
    bool special = values[RUN_PARSE_SPECIAL].given || !run->facts.chat;
    struct dllm_error error = {0};

    if (!text)
        return CLI_OK;
    if (dllm_encode(run->engine, (struct dllm_string){text, strlen(text)},
                    DLLM_ENCODE_NO_BOS | (special ? DLLM_ENCODE_SPECIAL : 0), &run->suffix, &error))
        return cli_fail_error(&error);
    run->facts.settings.suffix = run->suffix.ids;
    run->facts.settings.suffix_count = run->suffix.count;
    return CLI_OK;
}

static int collect_stops(struct run *run)
{
    const struct opt_value *stop = &run->opts->values[RUN_STOP];

    if (!stop->given)
        return CLI_OK;
    run->stops = calloc((size_t)stop->given, sizeof *run->stops);
    if (!run->stops)
        return cli_fail(CLI_FAILURE, "out of memory");
    for (int i = 0; i < stop->given; i++)
        run->stops[i] = (struct dllm_string){stop->texts[i], strlen(stop->texts[i])};
    run->facts.settings.stop = run->stops;
    run->facts.settings.stop_count = (size_t)stop->given;
    return CLI_OK;
}

/* From the open model to everything dllm_generate wants. */
static int prepare(struct run *run)
{
    const struct opt_value *values = run->opts->values;
    int code = prompt_encode(&run->prompt, run->engine, &run->ids, &run->facts.chat);

    if (code)
        return code;
    run->facts.prompt_tokens = run->ids.count;
    run->facts.device_auto =
        !values[RUN_DEVICE].given || strcmp(values[RUN_DEVICE].text, "auto") == 0;
    run_settings(run->opts, run->engine, run->facts.chat, &run->facts.settings);
    run->facts.chat_sampling =
        run->facts.chat && run->facts.settings.temperature > 0 && !values[RUN_TEMPERATURE].given;
    run->watch.stats = values[RUN_DUMP_STEP_STATS].given;
    run->watch.bar = !run->watch.stats && !values[RUN_VISUAL].given && isatty(STDERR_FILENO);
    run->facts.settings.on_step = run_on_step;
    run->facts.settings.context = &run->watch;
    if ((code = encode_suffix(run)))
        return code;
    return collect_stops(run);
}

static int print_result(const struct run *run)
{
    const struct dllm_result *result = &run->result;
    int code;

    if (run->opts->values[RUN_JSON].given) {
        code = run_print_json(&run->facts, result);
    } else {
        fwrite(result->text.data, 1, result->text.size, stdout);
        fputc('\n', stdout);
        code = out_finish();
    }
    if (run->opts->values[RUN_VERBOSE].given)
        run_print_end(&run->facts, result);
    return code ? code : result->finish == DLLM_FINISH_INTERRUPTED ? CLI_INTERRUPTED : CLI_OK;
}

/* Refuses what cannot fit before anything is allocated. */
static int check_memory(const struct run *run)
{
    const struct dllm_generate_options *settings = &run->facts.settings;
    size_t region = (size_t)settings->max_tokens;
    size_t rows = settings->block_length ? (size_t)settings->block_length : region;

    return cli_check_memory(run->engine, run->ids.count + region + settings->suffix_count, rows,
                            run->opts->values[RUN_FORCE].given);
}

static int generate_in_view(struct run *run)
{
    struct dllm_error error = {0};
    enum dllm_status status;
    int view_code,
        code = run_view_open(&run->watch, run->opts, run->engine, &run->facts, &run->ids);

    if (code)
        return code;
    status = dllm_generate(run->session, run->ids.ids, run->ids.count, &run->facts.settings,
                           &run->result, &error);
    run_clear_bar(&run->watch);
    view_code = run_view_close(&run->watch, status || run->watch.code ? NULL : &run->result);
    if (status)
        return cli_fail_error(&error);
    if (run->watch.code)
        return run->watch.code;
    code = print_result(run);
    return code ? code : view_code;
}

static int generate(struct run *run)
{
    struct dllm_error error = {0};
    int code = check_memory(run);

    if (code)
        return code;

    if (run->opts->values[RUN_VERBOSE].given)
        run_print_start(&run->facts);
    if (dllm_session_create(run->engine, &run->session, &error))
        return cli_fail_error(&error);
    if (cli_interrupted())
        return CLI_INTERRUPTED;
    return generate_in_view(run);
}

static int run_model(struct run *run)
{
    struct prompt_source source = run_prompt_source(run->opts);
    int code = prompt_read(&run->prompt, &source);

    if (code)
        return code;
    cli_catch_interrupt();
    if ((code = open_model(run)))
        return code;
    if ((code = prepare(run)))
        return code;
    return generate(run);
}

static int run_run(struct opts *opts)
{
    struct run run = {.opts = opts};
    int code = run_check_values(opts);

    if (!code)
        code = run_model(&run);
    release(&run);
    return code;
}

const struct command command_run = {&run_option_table, run_run};
