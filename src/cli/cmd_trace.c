/*
 * cmd_trace.c: dllm trace: the steps of a run as one page for a browser, with
 * everything in it.
 */
#include "cli.h"
#include "out.h"
#include "trace_page.h"
#include "trace_read.h"

#include <stdlib.h>
#include <string.h>

enum { TRACE_OPERAND, TRACE_OUT, TRACE_OPTIONS };

static const struct opt options[TRACE_OPTIONS] = {
    [TRACE_OPERAND] = {.name = "FILE",
                       .kind = OPT_OPERAND,
                       .required = true,
                       .help = "what run --trace wrote; - reads it from standard input"},
    [TRACE_OUT] = {.name = "out",
                   .letter = 'o',
                   .kind = OPT_PATH,
                   .required = true,
                   .metavar = "FILE",
                   .help = "the page to write, such as run.html"},
};

static const struct opt_table table = {
    .command = "trace",
    .usage = "FILE --out FILE",
    .summary = "Make a page of a run's steps, to be looked at in a browser",
    .options = options,
    .count = TRACE_OPTIONS,
};

/* JSON for the inside of a script element: "<" stands in strings only, and there
 * it can be written so that no markup begins with it. */
static void write_json(struct out_file *file, const char *json)
{
    while (*json) {
        size_t plain = strcspn(json, "<>&");
        char escaped[16];

        out_file_write(file, json, plain);
        json += plain;
        if (!*json)
            break;
        snprintf(escaped, sizeof escaped, "\\u%04x", (unsigned)*json++);
        out_file_write(file, escaped, strlen(escaped));
    }
}

static int write_page(const char *path, const char *json)
{
    struct dllm_string before, behind;
    struct out_file file;
    int code = out_file_open(&file, path);

    if (code)
        return code;
    trace_page_parts(&before, &behind);
    out_file_write(&file, before.data, before.size);
    write_json(&file, json);
    out_file_write(&file, behind.data, behind.size);
    return out_file_commit(&file);
}

static int run_trace(struct opts *opts)
{
    const char *path = opts->values[TRACE_OPERAND].text;
    bool whole;
    json_t *trace = trace_read(path, &whole);
    char *json;
    int code;

    out_file_keep(path);
    if (!trace)
        return CLI_FAILURE;
    json = json_dumps(trace, JSON_COMPACT | JSON_ENSURE_ASCII | JSON_REAL_PRECISION(6));
    json_decref(trace);
    if (!json)
        return cli_fail(CLI_FAILURE, "out of memory");
    if (!whole)
        fprintf(stderr, "warning: the trace has no end, the run was cut off; the page says so\n");
    code = write_page(opts->values[TRACE_OUT].text, json);
    free(json);
    return code;
}

const struct command command_trace = {&table, run_trace};
