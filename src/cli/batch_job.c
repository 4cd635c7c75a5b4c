/* batch_job.c: one sample of one request, from its JSON object to the line of its result. */
#include "batch.h"
#include "out.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The first number of a valid object that underflows a double, NULL if there is none: the JSON
 * reader makes a 0 of it, which would switch off what was asked for. */
static const char *find_underflow(const char *line, size_t size)
{
    const char *end = line + size;
    char *behind;
    bool text = false;

    for (const char *at = line; at < end; at++) {
        if (*at == '"')
            text = !text;
        else if (text)
            at += *at == '\\'; /* and what it escapes */
        else if (*at == '-' || (*at >= '0' && *at <= '9')) {
            errno = 0;
            strtod(at, &behind); /* the object's brace ends it at the latest */
            if (errno)
                return at;
            at = behind - 1;
        }
    }
    return NULL;
}

/* The object of a line, and the id it is known by: its own, or its line's number. */
static void parse(struct batch_job *job, const char *line, size_t size)
{
    json_error_t where;
    json_t *object = json_loadb(line, size, JSON_REJECT_DUPLICATES, &where);
    json_t *id = json_object_get(object, "id");
    const char *lost = json_is_object(object) ? find_underflow(line, size) : NULL;
    size_t digits = lost ? strspn(lost, "0123456789+-.eE") : 0;

    if (json_is_null(id)) /* left out, as any field that is null */
        id = NULL;
    if (!object)
        snprintf(job->problem, sizeof job->problem, "the line is not valid JSON: column %d: %s",
                 where.column, out_json_problem(&where));
    else if (!json_is_object(object))
        snprintf(job->problem, sizeof job->problem,
                 "the line is not a JSON object such as {\"id\": 1, \"prompt\": \"Hello\"}");
    else if (lost)
        snprintf(job->problem, sizeof job->problem,
                 "the number %.*s underflows a double; write 0 if that is meant",
                 (int)(digits < 60 ? digits : 60), lost);
    else if (id && !json_is_string(id) && !json_is_integer(id))
        snprintf(job->problem, sizeof job->problem, "the id must be a text or a whole number");
    else
        job->object = json_incref(object);
    job->id = !job->object ? json_null() : id ? json_incref(id) : json_integer(job->line);
    json_decref(object);
}

void batch_job_parse(struct batch_job *job, const char *line, size_t size, long number,
                     json_t *seen)
{
    char *key;

    *job = (struct batch_job){.line = number};
    parse(job, line, size);
    key = batch_key(job->id, job->line, 0);
    if (json_object_get(seen, key)) {
        snprintf(job->problem, sizeof job->problem,
                 "the id is that of an earlier line; each needs its own (without one, a line's "
                 "number counts)");
        json_decref(job->object);
        json_decref(job->id);
        job->object = NULL;
        job->id = json_null();
    } else {
        json_object_set_new(seen, key, json_true());
    }
    free(key);
}

uint64_t batch_sample_seed(uint64_t seed, int sample)
{
    uint64_t z = seed + (uint64_t)sample * UINT64_C(0x9e3779b97f4a7c15);

    if (sample == 0)
        return seed;
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return (z ^ (z >> 31)) >> 1;
}

/* More samples than one of what has no chance in it would be the same again. */
static int check_samples(const struct request *request)
{
    const struct opt_value *samples = &request->opts->values[RUN_NUM_SAMPLES];
    const struct dllm_generate_options *settings = &request->facts.settings;
    bool chance = settings->temperature > 0 || settings->alg_temp > 0 ||
                  settings->remasking == DLLM_REMASKING_RANDOM ||
                  settings->remasking == DLLM_REMASKING_ORIGIN;

    if (!samples->given || samples->integer == 1 || chance)
        return CLI_OK;
    return cli_fail(CLI_USAGE,
                    "--num-samples %lld has no effect at temperature 0: all samples "
                    "would be the same",
                    (long long)samples->integer);
}

/* The result as JSON; NULL after a message. */
static json_t *generate(struct request *request, const struct batch_job *job,
                        const struct batch_worker *worker)
{
    uint64_t before = dllm_session_workspace_bytes(worker->session);
    struct dllm_generate_options *settings = &request->facts.settings;
    struct dllm_error error = {0};
    struct dllm_result result;
    enum dllm_status status;
    json_t *object;

    if (request_prepare(request, worker->engine) || check_samples(request) ||
        request_check_memory(request, worker->engine, worker->sessions, atomic_load(worker->held)))
        return NULL;
    settings->seed = batch_sample_seed(settings->seed, job->sample);
    status = request_generate(request, worker->session, &result, &error);
    /* Unsigned: a smaller workspace takes away. */
    atomic_fetch_add(worker->held, dllm_session_workspace_bytes(worker->session) - before);
    if (status) {
        cli_fail_error(&error);
        return NULL;
    }
    object = run_result_json(&request->facts, &result);
    dllm_result_free(&result);
    if (!object)
        cli_fail(CLI_FAILURE, "out of memory");
    return object;
}

json_t *batch_job_settings(const struct opts *opts, const struct dllm_engine *engine)
{
    struct request request;
    json_t *settings = NULL;

    if (request_read(&request, opts) == CLI_OK && request_prepare(&request, engine) == CLI_OK)
        settings = run_facts_json(&request.facts);
    request_free(&request);
    return settings;
}

/* The result as JSON; NULL with a message about the line's fields. */
static json_t *answer(const struct batch_job *job, const struct batch_worker *worker, char *message)
{
    struct batch_line line;
    struct request request = {0};
    json_t *object = NULL;

    if (!job->object) {
        cli_fail(CLI_USAGE, "%s", job->problem);
        return NULL;
    }
    if (batch_line_parse(&line, job->object, worker->opts) == CLI_OK &&
        request_read(&request, &line.opts) == CLI_OK)
        object = generate(&request, job, worker);
    if (!object)
        batch_name_fields(&line.opts, message);
    request_free(&request);
    batch_line_free(&line);
    return object;
}

void batch_job_finish(struct batch_job *job, json_t *result, const char *problem)
{
    json_t *object = json_pack("{s:O, s:I}", "id", job->id, "line", (json_int_t)job->line);
    char *text = NULL;

    job->failed = result == NULL;
    job->result = NULL;
    if (job->sample != BATCH_NO_SAMPLE)
        json_object_set_new(object, "sample", json_integer(job->sample));
    if (result && json_object_update(object, result) == 0)
        text = json_dumps(object, JSON_REAL_PRECISION(9));
    else if (!result &&
             json_object_set_new(object, "error", out_json_text(problem, strlen(problem))) == 0)
        text = json_dumps(object, 0);
    if (text && asprintf(&job->result, "%s\n", text) < 0)
        job->result = NULL;
    free(text);
    json_decref(object);
    json_decref(result);
}

void batch_job_run(struct batch_job *job, const struct batch_worker *worker)
{
    struct cli_capture capture = {0};
    json_t *result;

    cli_capture_errors(&capture);
    result = answer(job, worker, capture.message);
    cli_capture_errors(NULL);
    batch_job_finish(job, result, capture.message);
}

void batch_job_clear(struct batch_job *job)
{
    json_decref(job->id);
    json_decref(job->object);
    free(job->result);
    *job = (struct batch_job){0};
}
