/*
 * fuzz_batch.c: lines of run --input, up to the ids of the prompt.
 *
 * Whatever a line says: it makes no request that reads a file or standard input,
 * and its result is one whole line of JSON.
 */
#include "batch.h"
#include "fuzz.h"

#include <string.h>

static void check_request(const struct batch_line *line, const struct dllm_engine *engine)
{
    struct prompt_source source = run_prompt_source(&line->opts);
    struct request request;

    fuzz_require(!source.file && !source.use_stdin && !source.operand, "a request reads a file");
    fuzz_require(!source.messages_file || source.messages_file[0] == '[',
                 "a request reads messages from a file");
    fuzz_require(!line->opts.values[RUN_INFILL].given, "a request reads a template from a file");
    if (request_read(&request, &line->opts) == 0)
        request_prepare(&request, engine);
    request_free(&request);
}

static void check_result(struct batch_job *job, const char *problem)
{
    size_t size;

    batch_job_finish(job, NULL, problem);
    fuzz_require(job->result != NULL, "a result without memory");
    size = strlen(job->result);
    fuzz_require(strchr(job->result, '\n') == job->result + size - 1, "a result of several lines");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct dllm_engine *engine;
    static struct opts base;
    struct cli_capture capture = {0};
    struct batch_line line = {0};
    struct batch_job job;
    json_t *seen = json_object();

    if (!engine) {
        engine = fuzz_text_engine(NULL);
        opts_parse(&run_option_table, 0, NULL, &base);
    }
    cli_capture_errors(&capture);
    batch_job_parse(&job, (const char *)data, size, 1, seen);
    if (job.object && batch_line_parse(&line, job.object, &base) == 0)
        check_request(&line, engine);
    batch_name_fields(&line.opts, capture.message);
    batch_line_free(&line);
    check_result(&job, capture.message);
    batch_job_clear(&job);
    json_decref(seen);
    return 0;
}
