/* score_estimate.c: from the options of score to a likelihood. */
#include "memory_check.h"
#include "out.h"
#include "prompt.h"
#include "score_command.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What is scored: ids of the prompt and of the answer. */
struct task {
    struct prompt prompt;
    struct dllm_ids prompt_ids, answer_ids;
};

static struct prompt_source source_of(const struct opts *opts)
{
    const struct opt_value *values = opts->values;

    return (struct prompt_source){
        .text = values[SCORE_PROMPT].text,
        .messages_file = values[SCORE_MESSAGES].text,
        .ids = values[SCORE_PROMPT_TOKENS].ids,
        .id_count = values[SCORE_PROMPT_TOKENS].id_count,
        .system = values[SCORE_SYSTEM].text,
        .raw = values[SCORE_NO_CHAT].given,
        .parse_special = values[SCORE_PARSE_SPECIAL].given,
        .may_be_empty = true,
    };
}

/* Text behind the prompt: parsed for control strings as the prompt is. */
static int encode_answer(struct task *task, const struct opts *opts,
                         const struct dllm_engine *engine, bool chat)
{
    const struct opt_value *values = opts->values;
    const char *text = values[SCORE_ANSWER].text;
    bool special = !chat || values[SCORE_PARSE_SPECIAL].given;
    unsigned flags = DLLM_ENCODE_NO_BOS | (special ? DLLM_ENCODE_SPECIAL : 0);
    struct dllm_error error = {0};

    if (!text)
        return CLI_OK;
    if (dllm_encode(engine, (struct dllm_string){text, strlen(text)}, flags, &task->answer_ids,
                    &error))
        return cli_fail_error(&error);
    return CLI_OK;
}

static int encode(struct task *task, const struct opts *opts, const struct dllm_engine *engine)
{
    struct prompt_source source = source_of(opts);
    bool chat;
    int code;

    if (!source.text && !source.messages_file && !source.ids)
        return cli_fail(CLI_USAGE,
                        "a prompt is missing: give --prompt, --prompt-tokens or --messages");
    if (!opts->values[SCORE_ANSWER].given && !opts->values[SCORE_ANSWER_TOKENS].given)
        return cli_fail(CLI_USAGE, "an answer is missing: give --answer or --answer-tokens");
    if ((code = prompt_read(&task->prompt, &source)) ||
        (code = prompt_encode(&task->prompt, engine, &task->prompt_ids, &chat)))
        return code;
    return encode_answer(task, opts, engine, chat);
}

static struct dllm_score_options options_of(const struct opts *opts)
{
    const struct opt_value *values = opts->values;
    struct dllm_score_options options;

    dllm_score_defaults(&options);
    if (values[SCORE_SAMPLES].given)
        options.samples = (int)values[SCORE_SAMPLES].integer;
    if (values[SCORE_BATCH].given)
        options.batch = (int)values[SCORE_BATCH].integer;
    if (values[SCORE_SEED].given)
        options.seed = (uint64_t)values[SCORE_SEED].integer;
    options.cfg_scale = values[SCORE_CFG_SCALE].number;
    options.allow_long = values[SCORE_ALLOW_LONG].given;
    return options;
}

static struct dllm_score_query query_of(const struct task *task, const struct opts *opts)
{
    const struct opt_value *ids = &opts->values[SCORE_ANSWER_TOKENS];
    bool text = opts->values[SCORE_ANSWER].given;

    return (struct dllm_score_query){.prompt = task->prompt_ids.ids,
                                     .prompt_count = task->prompt_ids.count,
                                     .answer = text ? task->answer_ids.ids : ids->ids,
                                     .answer_count = text ? task->answer_ids.count : ids->id_count};
}

static int check_memory(const struct opts *opts, const struct dllm_engine *engine,
                        const struct dllm_session *session, const struct dllm_score_query *query,
                        const struct dllm_score_options *options)
{
    const struct memory_need need = {
        .canvas = query->prompt_count + query->answer_count,
        .workspace = dllm_score_workspace_bytes(engine, query, options),
        .held = dllm_session_workspace_bytes(session),
        .guided = options->cfg_scale > 0,
        .force = opts->values[SCORE_FORCE].given,
        .allow_long = options->allow_long,
    };

    return memory_check(engine, &need);
}

static struct score_facts facts_of(const struct dllm_engine *engine,
                                   const struct dllm_score_query *query,
                                   const struct dllm_score_options *options)
{
    struct score_facts facts = {
        .options = *options, .tokens = query->answer_count, .prompt_tokens = query->prompt_count};

    dllm_engine_info(engine, &facts.model);
    return facts;
}

static void free_task(struct task *task)
{
    dllm_ids_free(&task->answer_ids);
    dllm_ids_free(&task->prompt_ids);
    prompt_free(&task->prompt);
}

int score_estimate(const struct opts *opts, const struct dllm_engine *engine,
                   struct dllm_session *session, const struct score_watch *watch,
                   struct score_outcome *outcome)
{
    struct dllm_score_options options = options_of(opts);
    struct dllm_score_query query;
    struct dllm_error error = {0};
    struct task task = {0};
    int code = encode(&task, opts, engine);

    options.on_samples = watch->on_samples;
    options.context = watch->context;
    query = query_of(&task, opts);
    if (!code)
        code = check_memory(opts, engine, session, &query, &options);
    if (!code && dllm_score(session, &query, &options, &outcome->likelihood, &error))
        code = error.status == DLLM_INTERRUPTED ? CLI_INTERRUPTED : cli_fail_error(&error);
    outcome->facts = facts_of(engine, &query, &options);
    free_task(&task);
    return code;
}

static json_t *facts_json(const struct score_facts *facts)
{
    const struct dllm_score_options *options = &facts->options;

    return json_pack("{s:I, s:i, s:i, s:f, s:I, s:I, s:o, s:s}", "tokens",
                     (json_int_t)facts->tokens, "samples", options->samples, "batch",
                     options->batch, "cfg_scale", options->cfg_scale, "seed",
                     (json_int_t)options->seed, "prompt_tokens", (json_int_t)facts->prompt_tokens,
                     "model", out_json_text(facts->model.name, strlen(facts->model.name)),
                     "quantization", facts->model.quantization);
}

json_t *score_settings(const struct opts *opts, const struct dllm_engine *engine)
{
    struct dllm_score_options options = options_of(opts);
    struct score_facts facts;
    struct dllm_score_query query;
    struct task task = {0};
    int code = encode(&task, opts, engine);

    query = query_of(&task, opts);
    facts = facts_of(engine, &query, &options);
    free_task(&task);
    return code ? NULL : facts_json(&facts);
}

json_t *score_json(const struct score_outcome *outcome)
{
    const struct dllm_likelihood *likelihood = &outcome->likelihood;
    json_t *spread =
        isnan(likelihood->standard_error) ? json_null() : json_real(likelihood->standard_error);
    json_t *object = json_pack("{s:f, s:o}", "log_likelihood", likelihood->log_likelihood,
                               "standard_error", spread);
    json_t *facts = facts_json(&outcome->facts);
    json_t *costs = json_pack("{s:i, s:f}", "forwards", likelihood->forward_passes, "seconds",
                              likelihood->seconds);

    json_object_update(object, facts);
    json_object_update(object, costs);
    json_decref(facts);
    json_decref(costs);
    return object;
}
