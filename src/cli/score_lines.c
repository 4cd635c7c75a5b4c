/* score_lines.c: score --input: a request a line, a result a line, in order. */
#include "batch.h"
#include "score_command.h"

#include <errno.h>

struct lines {
    const struct opts *opts;
    const struct dllm_engine *engine;
    struct dllm_session *session;
    struct batch_input input;
    struct batch_output output;
    struct batch_progress progress;
    json_t *seen; /* keys of the requests so far */
};

static bool go_on(void *context)
{
    (void)context;
    return !cli_interrupted();
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

/* Writes the line of a request's result, unless it is there or ctrl-c came first. */
static void answer(struct lines *lines, struct batch_job *job)
{
    struct cli_capture capture = {0};
    json_t *result;

    if (batch_output_has(&lines->output, job, 0)) {
        lines->progress.skipped++;
        return;
    }
    cli_capture_errors(&capture);
    result = estimate(lines, job, capture.message);
    cli_capture_errors(NULL);
    if (cli_interrupted() && !result)
        return;
    batch_job_finish(job, result, capture.message);
    if (job->result)
        batch_output_write(&lines->output, job->result);
    else
        lines->output.failure = ENOMEM;
    if (!lines->output.failure)
        *(job->failed ? &lines->progress.failed : &lines->progress.answered) += 1;
}

static int feed(struct lines *lines)
{
    const char *line;
    size_t size;
    int code;

    while (!lines->output.failure && !cli_interrupted()) {
        struct batch_job job;
        if ((code = batch_input_next(&lines->input, go_on, NULL, &line, &size)) || !line)
            return code;
        if (batch_line_is_blank(line, size))
            continue;
        batch_job_parse(&job, line, size, lines->input.line, lines->seen);
        job.sample = BATCH_NO_SAMPLE;
        answer(lines, &job);
        batch_job_clear(&job);
    }
    return CLI_OK;
}

/* Between the open files; the exit code. */
static int run(struct lines *lines)
{
    int code;

    lines->seen = json_object();
    batch_progress_open(&lines->progress);
    code = lines->seen ? feed(lines) : cli_fail(CLI_FAILURE, "out of memory");
    batch_progress_close(&lines->progress);
    json_decref(lines->seen);
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
