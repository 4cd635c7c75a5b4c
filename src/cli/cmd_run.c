/* cmd_run.c: dllm run: a prompt in, an answer out. */
#include "batch.h"
#include "out.h"
#include "progress_line.h"
#include "request.h"
#include "run_view.h"
#include "term.h"

/* What a run holds; cut down in reverse by release. */
struct run {
    const struct opts *opts;
    struct request request;
    struct dllm_engine *engine;
    struct dllm_session *session;
    struct dllm_result result;
    struct run_watch watch;
};

static void release(struct run *run)
{
    dllm_result_free(&run->result);
    dllm_session_destroy(run->session);
    request_free(&run->request);
    dllm_engine_close(run->engine);
}

static void watch_steps(struct run *run)
{
    run->watch.stats = run->opts->values[RUN_DUMP_STEP_STATS].given;
    run->watch.bar = !run->watch.stats && !run->opts->values[RUN_VISUAL].given && term_can_draw();
    run->request.facts.settings.on_step = run_on_step;
    run->request.facts.settings.context = &run->watch;
}

/* A file with gaps is printed as it is, an answer as a line. */
static int print_text(const struct run *run)
{
    const struct dllm_text *text = &run->result.text;

    fwrite(text->data, 1, text->size, stdout);
    if (!run->opts->values[RUN_INFILL].given)
        fputc('\n', stdout);
    return out_finish();
}

static int print_result(const struct run *run)
{
    const struct dllm_result *result = &run->result;
    int code = run->opts->values[RUN_JSON].given ? run_print_json(&run->request.facts, result)
                                                 : print_text(run);

    if (run->opts->values[RUN_VERBOSE].given)
        run_print_end(&run->request.facts, result);
    return code ? code : result->finish == DLLM_FINISH_INTERRUPTED ? CLI_INTERRUPTED : CLI_OK;
}

static int generate_in_view(struct run *run)
{
    struct request *request = &run->request;
    struct dllm_error error = {0};
    enum dllm_status status;
    int view_code,
        code = run_view_open(&run->watch, run->opts, run->engine, &request->facts, &request->ids);

    if (code)
        return code;
    if (run->watch.bar)
        reading_open(&run->watch.reading);
    status = request_generate(request, run->session, &run->result, &error);
    reading_close(&run->watch.reading);
    progress_line_clear();
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
    int code = request_check_memory(&run->request, run->engine, 1, 0);

    if (code)
        return code;
    if (run->opts->values[RUN_VERBOSE].given)
        run_print_start(&run->request.facts);
    if (dllm_session_create(run->engine, &run->session, &error))
        return cli_fail_error(&error);
    return generate_in_view(run); /* after ctrl-c too: a step, a trace with an end, 130 */
}

/* What --trace must not replace. */
static void keep_files(const struct opt_value *values)
{
    static const enum run_option files[] = {RUN_PROMPT_FILE, RUN_MESSAGES, RUN_INFILL};

    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        if (values[files[i]].given)
            out_file_keep(values[files[i]].text);
}

static int run_model(struct run *run)
{
    int code = request_read(&run->request, run->opts);

    keep_files(run->opts->values);
    if (code)
        return code;
    cli_catch_interrupt();
    if ((code = run_open_engine(run->opts, &run->watch.reading, &run->engine)) ||
        (code = request_prepare(&run->request, run->engine)))
        return code;
    watch_steps(run);
    return generate(run);
}

/* What only a batch listens to. */
static int check_single(const struct opts *opts)
{
    static const enum run_option batch[] = {RUN_OUTPUT, RUN_RESUME, RUN_SHARD, RUN_NUM_SAMPLES,
                                            RUN_PARALLEL};

    for (size_t i = 0; i < sizeof batch / sizeof *batch; i++)
        if (opts->values[batch[i]].given)
            return cli_fail(CLI_USAGE, "--%s has no effect without --input",
                            run_option_table.options[batch[i]].name);
    return CLI_OK;
}

static int run_run(struct opts *opts)
{
    struct run run = {.opts = opts, .watch.reading = READING_INIT};
    int code;

    if (opts->values[RUN_INPUT].given)
        return batch_run(opts);
    code = check_single(opts);
    if (!code)
        code = run_model(&run);
    release(&run);
    return code;
}

const struct command command_run = {&run_option_table, run_run};
