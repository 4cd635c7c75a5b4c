/* eval_ask.c: one model at a time, all its arms question by question. */
#include "eval_ask.h"

#include "progress_line.h"
#include "request.h"

#include <stdlib.h>
#include <string.h>

/* An open model, and the arms that are its. */
struct asking {
    struct eval_log *log;
    struct dllm_engine *engine;
    struct dllm_session **sessions; /* [arms], NULL: an arm of another model */
    int done, todo;                 /* answers of all models: in this call, and still missing */
    double seconds;                 /* generating, of the done */
};

static bool same_text(const char *one, const char *other)
{
    return one == other || (one && other && strcmp(one, other) == 0);
}

static bool same_engine(const struct eval_arm *one, const struct eval_arm *other)
{
    return same_text(one->model, other->model) && one->threads == other->threads &&
           same_text(one->device, other->device) && same_text(one->gpu_layers, other->gpu_layers) &&
           same_text(one->cpu_level, other->cpu_level);
}

static int stop_on_interrupt(void *context, const struct dllm_step *step)
{
    (void)context;
    (void)step;
    return cli_interrupted();
}

/* Generates with the options; the result is the caller's to free. */
static int generate(const struct asking *asking, struct dllm_session *session,
                    const struct opts *opts, struct dllm_result *result)
{
    struct dllm_error error = {0};
    struct request request;
    int code = request_read(&request, opts);

    if (!code)
        code = request_prepare(&request, asking->engine);
    request.facts.settings.on_step = stop_on_interrupt;
    if (!code)
        code = request_check_memory(&request, asking->engine, 1,
                                    dllm_session_workspace_bytes(session));
    if (!code && request_generate(&request, session, result, &error))
        code = cli_fail_error(&error);
    if (!code && result->finish == DLLM_FINISH_INTERRUPTED)
        code = CLI_INTERRUPTED;
    request_free(&request);
    return code;
}

/* One question to one arm, into the log. */
static int ask(struct asking *asking, int arm, int question)
{
    const struct eval_log *log = asking->log;
    struct dllm_result result = {0};
    struct eval_answer answer;
    struct opts opts;
    int code =
        eval_arm_parse(&log->arms->list[arm], log->questions->list[question].question, &opts);

    if (!code)
        code = generate(asking, asking->sessions[arm], &opts, &result);
    opts_free(&opts);
    if (code)
        return code;
    answer = (struct eval_answer){
        .output = strdup(result.text.data),
        .forward_passes = result.forward_passes,
        .tokens = result.answer_tokens,
        .rows = result.rows_computed,
        .seconds = result.timings.generate_seconds,
    };
    dllm_result_free(&result);
    if (!answer.output)
        return cli_fail(CLI_FAILURE, "out of memory");
    asking->done++;
    asking->seconds += answer.seconds;
    return eval_log_add(asking->log, arm, question, &answer);
}

static void show_progress(const struct asking *asking)
{
    int left = asking->todo - asking->done;

    if (asking->done)
        progress_line((double)asking->done / asking->todo, "%d of %d answers, about %.0f s to go",
                      asking->done, asking->todo, left * asking->seconds / asking->done);
}

static int ask_questions(struct asking *asking)
{
    const struct eval_log *log = asking->log;
    int code = CLI_OK;

    for (int question = 0; question < log->questions->count; question++)
        for (int arm = 0; arm < log->arms->count; arm++) {
            if (!asking->sessions[arm] || eval_log_answer(log, arm, question)->output)
                continue;
            show_progress(asking);
            if ((code = cli_interrupted() ? CLI_INTERRUPTED : ask(asking, arm, question)))
                return code;
        }
    return code;
}

/* A session for an arm of the open model. */
static int open_session(struct asking *asking, int arm)
{
    const struct eval_arm *own = &asking->log->arms->list[arm];
    struct dllm_model_info info;
    struct dllm_error error = {0};
    struct opts opts;
    int code = eval_arm_parse(own, "?", &opts);

    dllm_engine_info(asking->engine, &info);
    if (!code)
        code = run_check_effects(&opts, &info);
    opts_free(&opts);
    if (!code && dllm_session_create(asking->engine, &asking->sessions[arm], &error))
        code = cli_fail_error(&error);
    if (code && code != CLI_INTERRUPTED)
        fprintf(stderr, "the arm is \"%s\": %s\n", own->name, own->options);
    return code;
}

static int open_engine(struct asking *asking, const struct eval_arm *arm)
{
    struct dllm_engine_options options = {.model_path = arm->model,
                                          .threads = arm->threads,
                                          .device = arm->device,
                                          .gpu_layers = arm->gpu_layers,
                                          .cpu_level = arm->cpu_level};
    struct dllm_error error = {0};
    int code = cli_find_model(&options.model_path, arm->pull);

    if (code)
        return code;
    return dllm_engine_open(&options, &asking->engine, &error) ? cli_fail_error(&error) : CLI_OK;
}

/* All arms that share the model of arm number first. */
static int ask_model(struct asking *asking, int first)
{
    const struct eval_arms *arms = asking->log->arms;
    int code = open_engine(asking, &arms->list[first]);

    for (int arm = first; !code && arm < arms->count; arm++)
        if (same_engine(&arms->list[arm], &arms->list[first]))
            code = open_session(asking, arm);
    if (!code)
        code = ask_questions(asking);
    for (int arm = first; arm < arms->count; arm++) {
        dllm_session_destroy(asking->sessions[arm]);
        asking->sessions[arm] = NULL;
    }
    dllm_engine_close(asking->engine);
    asking->engine = NULL;
    return code;
}

/* Whether an arm before this one has the same model. */
static bool model_done(const struct eval_arms *arms, int arm)
{
    for (int before = 0; before < arm; before++)
        if (same_engine(&arms->list[before], &arms->list[arm]))
            return true;
    return false;
}

/* A model that cannot be read is told before those in front of it are asked, which may take hours.
 */
static int check_models(const struct eval_arms *arms)
{
    struct dllm_error error = {0};
    int code = CLI_OK;

    for (int arm = 0; !code && arm < arms->count; arm++) {
        const char *path = arms->list[arm].model;
        struct dllm_file *file;

        if (model_done(arms, arm) || (code = cli_find_model(&path, arms->list[arm].pull)))
            continue;
        if (dllm_file_open(path, &file, &error))
            code = cli_fail_error(&error);
        else
            dllm_file_close(file);
    }
    return code;
}

static int count_missing(const struct eval_log *log)
{
    int missing = 0;

    for (int i = 0; i < log->arms->count * log->questions->count; i++)
        missing += log->answers[i].output == NULL;
    return missing;
}

int eval_ask_all(struct eval_log *log)
{
    struct asking asking = {.log = log, .todo = count_missing(log)};
    int code = CLI_OK;

    if (asking.todo == 0)
        return CLI_OK;
    if ((code = check_models(log->arms)))
        return code;
    asking.sessions = calloc((size_t)log->arms->count, sizeof(struct dllm_session *));
    if (!asking.sessions)
        return cli_fail(CLI_FAILURE, "out of memory");
    for (int arm = 0; !code && arm < log->arms->count; arm++)
        if (!model_done(log->arms, arm))
            code = ask_model(&asking, arm);
    progress_line_clear();
    free(asking.sessions);
    return code;
}
