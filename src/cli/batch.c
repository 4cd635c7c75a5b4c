/* batch.c: reads requests, hands them to workers, writes results in order. */
#include "batch.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

/* Jobs that may wait or be done ahead of the one to be written, for each worker. */
enum { JOBS_PER_WORKER = 4, MOST_WORKERS = 1024 };

/* Shared by the main thread and the workers; what is below `mutex` under it. */
struct batch {
    const struct opts *opts;
    struct dllm_engine *engine;
    struct batch_input input; /* the main thread's */
    int workers;
    pthread_t threads[MOST_WORKERS];
    struct dllm_session *sessions[MOST_WORKERS];
    int started;
    atomic_uint_least64_t held; /* bytes of the sessions' workspaces */

    pthread_mutex_t mutex;
    pthread_cond_t ready, space; /* a job is to be run; a slot is free */
    struct batch_job *jobs;      /* [job_count], a ring */
    int job_count;
    long put, taken, written; /* jobs so far; slot = number % job_count */
    bool over;                /* no more jobs come */
    double share;             /* of the input that was taken; 0: unknown */
    struct batch_output output;
    struct batch_progress progress;
};

/* --- workers --- */

/* After ctrl-c or a failed write no further job is begun. */
static bool must_end(const struct batch *batch)
{
    return cli_interrupted() || batch->output.failure;
}

/* Writes what is done, in the order of the input. */
static void write_done(struct batch *batch)
{
    while (batch->written < batch->taken) {
        struct batch_job *job = &batch->jobs[batch->written % batch->job_count];
        if (job->state != BATCH_DONE)
            break;
        if (job->result)
            batch_output_write(&batch->output, job->result);
        else
            batch->output.failure = ENOMEM;
        if (!batch->output.failure)
            *(job->failed ? &batch->progress.failed : &batch->progress.answered) += 1;
        batch_job_clear(job);
        batch->written++;
        pthread_cond_signal(&batch->space);
    }
    batch_progress_draw(&batch->progress, batch->share);
}

/* The next job, NULL when there is none any more. */
static struct batch_job *take_job(struct batch *batch)
{
    struct batch_job *job;

    while (batch->taken == batch->put && !batch->over && !must_end(batch))
        pthread_cond_wait(&batch->ready, &batch->mutex);
    if (batch->taken == batch->put || must_end(batch))
        return NULL;
    job = &batch->jobs[batch->taken++ % batch->job_count];
    job->state = BATCH_RUNNING;
    return job;
}

static void *work(void *context)
{
    struct batch_worker *worker = context;
    struct batch *batch = worker->batch;
    struct batch_job *job;

    pthread_mutex_lock(&batch->mutex);
    while ((job = take_job(batch))) {
        pthread_mutex_unlock(&batch->mutex);
        batch_job_run(job, worker);
        pthread_mutex_lock(&batch->mutex);
        job->state = BATCH_DONE;
        write_done(batch);
    }
    pthread_cond_signal(&batch->space);
    pthread_mutex_unlock(&batch->mutex);
    free(worker);
    return NULL;
}

static int start_worker(struct batch *batch, int threads)
{
    struct batch_worker *worker = malloc(sizeof *worker);
    struct dllm_error error = {0};
    struct dllm_session **session = &batch->sessions[batch->started];

    if (!worker)
        return cli_fail(CLI_FAILURE, "out of memory");
    if (batch->workers == 1 ? dllm_session_create(batch->engine, session, &error)
                            : dllm_session_create_apart(batch->engine, threads, session, &error)) {
        free(worker);
        return cli_fail_error(&error);
    }
    *worker = (struct batch_worker){batch,    batch->opts,    batch->engine,
                                    *session, batch->workers, &batch->held};
    if (pthread_create(&batch->threads[batch->started], NULL, work, worker) != 0) {
        free(worker);
        dllm_session_destroy(*session);
        return cli_fail(CLI_FAILURE, "a thread could not be started");
    }
    batch->started++;
    return CLI_OK;
}

/* Workers leave ctrl-c to the main thread, which waits for input with it. */
static int start_workers(struct batch *batch)
{
    struct dllm_model_info info;
    sigset_t interrupt, before;
    int code = CLI_OK, threads;

    dllm_engine_info(batch->engine, &info);
    batch->workers = batch->opts->values[RUN_PARALLEL].given
                         ? (int)batch->opts->values[RUN_PARALLEL].integer
                         : info.parallel;
    threads = info.threads / batch->workers;
    batch->job_count = batch->workers * JOBS_PER_WORKER;
    batch->jobs = calloc((size_t)batch->job_count, sizeof *batch->jobs);
    if (!batch->jobs)
        return cli_fail(CLI_FAILURE, "out of memory");
    sigemptyset(&interrupt);
    sigaddset(&interrupt, SIGINT);
    pthread_sigmask(SIG_BLOCK, &interrupt, &before);
    while (!code && batch->started < batch->workers)
        code = start_worker(batch, threads > 0 ? threads : 1);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return code;
}

static void join_workers(struct batch *batch)
{
    pthread_mutex_lock(&batch->mutex);
    batch->over = true;
    pthread_cond_broadcast(&batch->ready);
    pthread_mutex_unlock(&batch->mutex);
    for (int i = 0; i < batch->started; i++) {
        pthread_join(batch->threads[i], NULL);
        dllm_session_destroy(batch->sessions[i]);
    }
    for (int i = 0; i < batch->job_count && batch->jobs; i++)
        batch_job_clear(&batch->jobs[i]);
    free(batch->jobs);
}

/* --- requests --- */

static bool go_on(void *context)
{
    struct batch *batch = context;
    bool end;

    pthread_mutex_lock(&batch->mutex);
    end = must_end(batch);
    pthread_mutex_unlock(&batch->mutex);
    return !end;
}

/* Waits for a free slot and puts the job there; false when the batch must end. */
static bool put_job(struct batch *batch, const struct batch_job *job)
{
    bool ended;

    pthread_mutex_lock(&batch->mutex);
    while (batch->put - batch->written == batch->job_count && !must_end(batch))
        pthread_cond_wait(&batch->space, &batch->mutex);
    ended = must_end(batch);
    if (!ended) {
        batch->jobs[batch->put++ % batch->job_count] = *job;
        if (batch->input.total)
            batch->share = (double)batch->input.taken / (double)batch->input.total;
        pthread_cond_signal(&batch->ready);
    }
    pthread_mutex_unlock(&batch->mutex);
    return !ended;
}

/* How many samples the line asks for; a wrong number shows when it is parsed. */
static int samples_of(const struct batch *batch, const json_t *object)
{
    const struct opt *option = &run_option_table.options[RUN_NUM_SAMPLES];
    const json_t *number = json_object_get(object, "num_samples");

    if (!number)
        number = json_object_get(object, option->name);
    if (json_is_integer(number))
        return json_integer_value(number) >= option->low &&
                       json_integer_value(number) <= option->high
                   ? (int)json_integer_value(number)
                   : 1;
    return batch->opts->values[RUN_NUM_SAMPLES].given && object
               ? (int)batch->opts->values[RUN_NUM_SAMPLES].integer
               : 1;
}

static int check_results(void *context, const struct batch_job *request)
{
    const struct batch *batch = context;
    const struct batch_command command = {batch->opts, batch->engine, batch_job_settings};

    return batch_resume_check(&batch->output, request, samples_of(batch, request->object),
                              &command);
}

/* One job a sample, but for those that are answered already. Each has objects of
 * its own: counting references is not for several threads. */
static int put_samples(void *context, const struct batch_job *request)
{
    struct batch *batch = context;
    int samples = samples_of(batch, request->object);

    for (int sample = 0; sample < samples; sample++) {
        struct batch_job job = *request;
        if (batch_output_has(&batch->output, request, sample)) {
            batch->progress.skipped++;
            continue;
        }
        job.state = BATCH_READY;
        job.sample = sample;
        job.id = json_deep_copy(request->id);
        job.object = json_deep_copy(request->object);
        if (!put_job(batch, &job)) {
            batch_job_clear(&job);
            break;
        }
    }
    return CLI_OK;
}

/* --- the command --- */

/* What has no meaning beside --input, or is said by each line. */
static int check_options(struct batch *batch)
{
    static const enum run_option without[] = {
        RUN_OPERAND, RUN_PROMPT, RUN_PROMPT_FILE,     RUN_PROMPT_TOKENS, RUN_MESSAGES, RUN_TEMPLATE,
        RUN_INFILL,  RUN_JSON,   RUN_DUMP_STEP_STATS, RUN_VERBOSE,       RUN_VISUAL,   RUN_TRACE,
    };
    const struct opt_value *values = batch->opts->values;
    const char *output = values[RUN_OUTPUT].text;

    for (size_t i = 0; i < sizeof without / sizeof *without; i++)
        if (values[without[i]].given)
            return cli_fail(CLI_USAGE,
                            "%s%s and --input exclude each other: the requests are the lines of "
                            "the input, the results those of the output",
                            without[i] == RUN_OPERAND ? "" : "--",
                            run_option_table.options[without[i]].name);
    if (values[RUN_RESUME].given && (!output || strcmp(output, "-") == 0))
        return cli_fail(CLI_USAGE, "--resume needs --output FILE: what is answered already is read "
                                   "from there");
    return run_check_values(batch->opts);
}

static int read_shard(const struct opt_value *shard, struct batch_requests *requests)
{
    char end;

    if (!shard->given)
        return CLI_OK;
    if (strspn(shard->text, "0123456789/") == strlen(shard->text) && strlen(shard->text) < 20 &&
        sscanf(shard->text, "%ld/%ld%c", &requests->shard, &requests->shards, &end) == 2 &&
        requests->shard >= 1 && requests->shard <= requests->shards)
        return CLI_OK;
    return cli_fail(CLI_USAGE,
                    "--shard needs I/N, part I (1 to N) of N, such as 1/4, not \"%.40s\"",
                    shard->text);
}

static int open_engine(struct batch *batch)
{
    struct dllm_model_info info;
    int code = run_open_engine(batch->opts, NULL, &batch->engine);

    if (code)
        return code;
    dllm_engine_info(batch->engine, &info);
    return run_check_effects(batch->opts, &info);
}

/* Everything between the open files; the exit code. */
static int run(struct batch *batch, struct batch_requests *requests)
{
    int code = batch_requests_check(requests);

    if (code)
        return code;
    batch_progress_open(&batch->progress);
    code = start_workers(batch);
    if (!code)
        code = batch_requests_take(requests);
    join_workers(batch);
    batch_progress_close(&batch->progress);
    if (code || (code = batch->output.failure ? CLI_FAILURE : CLI_OK))
        return code;
    return batch_exit_code(&batch->progress, &batch->output);
}

int batch_run(const struct opts *opts)
{
    static struct batch batch; /* large; a process runs one */
    const struct opt_value *values = opts->values;
    struct batch_requests requests = {&batch.input,  &batch.output, 1,      1,    go_on,
                                      check_results, put_samples,   &batch, false};
    int code, close_code;

    batch = (struct batch){.opts = opts,
                           .mutex = PTHREAD_MUTEX_INITIALIZER,
                           .ready = PTHREAD_COND_INITIALIZER,
                           .space = PTHREAD_COND_INITIALIZER};
    if ((code = check_options(&batch)) || (code = read_shard(&values[RUN_SHARD], &requests)))
        return code;
    if ((code = batch_input_open(&batch.input, values[RUN_INPUT].text)) == CLI_OK &&
        (code = open_engine(&batch)) == CLI_OK) {
        cli_catch_interrupt();
        code = batch_output_open(&batch.output, &batch.input, values[RUN_OUTPUT].text,
                                 values[RUN_RESUME].given);
        if (!code)
            code = run(&batch, &requests);
        close_code = batch_output_close(&batch.output);
        code = close_code ? close_code : code;
    }
    dllm_engine_close(batch.engine);
    batch_input_close(&batch.input);
    return code;
}
