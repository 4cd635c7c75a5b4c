/* score_lines.c: score --input: a request a line, a result a line, in order. */
#include "batch.h"
#include "score_command.h"

#include <errno.h>
#include <stdlib.h>

struct lines {
    const struct opts *opts;
    const struct dllm_engine *engine;
    struct dllm_session *session;
    struct batch_input input;
    struct batch_output output;
    struct batch_progress progress;
};

static bool go_on(void *context)
{
    const struct lines *lines = context;

    return !cli_interrupted() && !lines->output.failure;
}

static int on_samples(void *context, int done, int samples)
{
    struct lines *lines = context;

    (void)done;
    (void)samples;
    batch_progress_draw(&lines->progress,
                        lines->input.total ? (double)lines->input.taken / (double)lines->input.total
                                           : 0);
    return cli_interrupted();
}

/* The result of one object; NULL with a message about its fields. */
static json_t *estimate(struct lines *lines, const struct batch_job *job, char *message)
{
    struct score_watch watch = {on_samples, lines};
    struct score_outcome outcome;
    struct batch_line line;
    json_t *result = NULL;

    if (!job->object) {
        cli_fail(CLI_USAGE, "%s", job->problem);
        return NULL;
    }
    if (batch_line_parse(&line, job->object, lines->opts) == CLI_OK &&
        score_estimate(&line.opts, lines->engine, lines->session, &watch, &outcome) == CLI_OK &&
        !(result = score_json(&outcome)))
        cli_fail(CLI_FAILURE, "out of memory");
    if (!result)
        batch_name_fields(&line.opts, message);
    batch_line_free(&line);
    return result;
}

static int check_result(void *context, const struct batch_job *request)
{
    const struct lines *lines = context;
    const struct batch_command command = {lines->opts, lines->engine, score_settings};

    return batch_resume_check(&lines->output, request, 1, &command);
}

/* Writes the line of a request's result, unless it is there or ctrl-c came first. */
static int answer(void *context, const struct batch_job *request)
{
    struct lines *lines = context;
    struct batch_job job = *request;
    struct cli_capture capture = {0};
    json_t *result;

    job.sample = BATCH_NO_SAMPLE;
    if (batch_output_has(&lines->output, &job, 0)) {
        lines->progress.skipped++;
        return CLI_OK;
    }
    cli_capture_errors(&capture);
    result = estimate(lines, &job, capture.message);
    cli_capture_errors(NULL);
    if (cli_interrupted() && !result)
        return CLI_OK;
    batch_job_finish(&job, result, capture.message);
    if (job.result)
        batch_output_write(&lines->output, job.result);
    else
        lines->output.failure = ENOMEM;
    if (!lines->output.failure)
        *(job.failed ? &lines->progress.failed : &lines->progress.answered) += 1;
    free(job.result);
    return CLI_OK;
}

/* Between the open files; the exit code. */
static int run(struct lines *lines)
{
    struct batch_requests requests = {&lines->input, &lines->output, 1,     1,    go_on,
                                      check_result,  answer,         lines, false};
    int code = batch_requests_check(&requests);

    if (code)
        return code;
    batch_progress_open(&lines->progress);
    code = batch_requests_take(&requests);
    batch_progress_close(&lines->progress);
    if (code || lines->output.failure)
        return code ? code : CLI_FAILURE;
    return batch_exit_code(&lines->progress, &lines->output);
}

int score_lines_run(const struct opts *opts, struct dllm_engine *engine,
                    struct dllm_session *session)
{
    const struct opt_value *values = opts->values;
    struct lines lines = {.opts = opts, .engine = engine, .session = session};
    int code = batch_input_open(&lines.input, values[SCORE_INPUT].text), close_code;

    if (code)
        return code;
    code = batch_output_open(&lines.output, &lines.input, values[SCORE_OUTPUT].text,
                             values[SCORE_RESUME].given);
    if (!code)
        code = run(&lines);
    close_code = batch_output_close(&lines.output);
    batch_input_close(&lines.input);
    return close_code ? close_code : code;
}
