/* request.c: from the options of run to a result. */
#include "request.h"

#include "memory_check.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool request_has_prompt(const struct opts *opts)
{
    static const enum run_option sources[] = {RUN_OPERAND, RUN_PROMPT, RUN_PROMPT_FILE,
                                              RUN_PROMPT_TOKENS, RUN_MESSAGES};

    for (size_t i = 0; i < sizeof sources / sizeof *sources; i++)
        if (opts->values[sources[i]].given)
            return true;
    return false;
}

static bool has_template(const struct opts *opts)
{
    return opts->values[RUN_TEMPLATE].given || opts->values[RUN_INFILL].given;
}

static bool is_dash(const struct opt_value *value)
{
    return value->given && strcmp(value->text, "-") == 0;
}

/* What a template that stands alone makes of the other options. */
static int check_alone(const struct opts *opts)
{
    const char *option = opts->values[RUN_SYSTEM].given          ? "--system"
                         : opts->values[RUN_PARSE_SPECIAL].given ? "--parse-special"
                                                                 : NULL;

    if (!has_template(opts) && opts->values[RUN_INPUT].given)
        return cli_fail(CLI_USAGE, "a prompt is missing: give --prompt, --messages, "
                                   "--prompt-tokens or, as text with gaps, --template");
    if (!has_template(opts))
        return cli_fail(CLI_USAGE, "a prompt is missing: give PROMPT, - for standard input, "
                                   "--prompt, --prompt-file, --prompt-tokens or --messages, or "
                                   "text with gaps: --template or --infill");
    if (!option)
        return CLI_OK;
    return cli_fail(CLI_USAGE,
                    "%s has no effect without a prompt: a template alone is raw text, control "
                    "strings in it become control tokens",
                    option);
}

static int check_sources(const struct opts *opts)
{
    const struct opt_value *values = opts->values;

    if (!request_has_prompt(opts))
        return check_alone(opts);
    if (is_dash(&values[RUN_INFILL]) &&
        (is_dash(&values[RUN_OPERAND]) || is_dash(&values[RUN_PROMPT_FILE]) ||
         is_dash(&values[RUN_MESSAGES])))
        return cli_fail(CLI_USAGE, "prompt and --infill cannot both be standard input");
    return CLI_OK;
}

static int read_template(struct request *request)
{
    const struct opt_value *text = &request->opts->values[RUN_TEMPLATE];
    const struct opt_value *file = &request->opts->values[RUN_INFILL];
    struct dllm_text content;
    int code;

    if (text->given)
        return template_parse(&request->template, text->text, strlen(text->text));
    if (!file->given)
        return CLI_OK;
    if ((code = prompt_read_file(file->text, &content)))
        return code;
    code = template_parse(&request->template, content.data, content.size);
    dllm_text_free(&content);
    return code;
}

/* A model's file in the place of the prompt, which the built-in model would answer. */
static int check_prompt_is_no_model(const struct opts *opts)
{
    const struct opt_value *prompt = &opts->values[RUN_OPERAND];
    size_t length = prompt->given ? strlen(prompt->text) : 0;

    if (opts->values[RUN_MODEL].given || length < 5 ||
        strcmp(prompt->text + length - 5, ".gguf") != 0 || access(prompt->text, F_OK))
        return CLI_OK;
    return cli_fail(CLI_USAGE,
                    "\"%s\" is a model's file where the prompt belongs; give the file with -m, and "
                    "a prompt (or such a prompt with --prompt)",
                    prompt->text);
}

int request_read(struct request *request, const struct opts *opts)
{
    struct prompt_source source = run_prompt_source(opts);
    int code;

    *request = (struct request){.opts = opts};
    if ((code = run_check_values(opts)) || (code = check_sources(opts)) ||
        (code = check_prompt_is_no_model(opts)) || (code = read_template(request)))
        return code;
    return request_has_prompt(opts) ? prompt_read(&request->prompt, &source) : CLI_OK;
}

void request_free(struct request *request)
{
    free(request->stops);
    dllm_ids_free(&request->suffix);
    dllm_ids_free(&request->ids);
    template_free(&request->template);
    prompt_free(&request->prompt);
    *request = (struct request){0};
}

/* Text that goes on behind the prompt is text of the user's: parsed for control
 * strings as the prompt is. */
static unsigned text_flags(const struct request *request)
{
    bool special = request->opts->values[RUN_PARSE_SPECIAL].given || !request->facts.chat;

    return special ? DLLM_ENCODE_SPECIAL : 0;
}

static int encode_suffix(struct request *request, const struct dllm_engine *engine)
{
    const char *text = request->opts->values[RUN_SUFFIX].text;
    struct dllm_error error = {0};

    if (!text)
        return CLI_OK;
    if (dllm_encode(engine, (struct dllm_string){text, strlen(text)},
                    DLLM_ENCODE_NO_BOS | text_flags(request), &request->suffix, &error))
        return cli_fail_error(&error);
    request->facts.settings.suffix = request->suffix.ids;
    request->facts.settings.suffix_count = request->suffix.count;
    return CLI_OK;
}

/* A mask in the prompt would be one more gap. */
static int check_prompt_masks(const struct request *request)
{
    for (size_t i = 0; i < request->ids.count; i++)
        if (request->ids.ids[i] == request->facts.model.mask_id)
            return cli_fail(CLI_USAGE, "the prompt holds the model's mask, beside a template; mark "
                                       "gaps as [[N]] in the template");
    return CLI_OK;
}

/* Puts the template behind the prompt; ids are the canvas then. */
static int encode_template(struct request *request, const struct dllm_engine *engine)
{
    unsigned flags = text_flags(request) | (request->ids.count ? DLLM_ENCODE_NO_BOS : 0);
    int positions = template_positions(&request->template), code;

    if (request->template.mark_count == 0)
        return CLI_OK;
    if ((code = check_prompt_masks(request)) ||
        (code = template_encode(&request->template, engine, flags, &request->ids)))
        return code;
    request->facts.filled = true;
    request->facts.prompt_tokens = request->ids.count - (size_t)positions;
    request->facts.settings.max_tokens = positions;
    return CLI_OK;
}

static int collect_stops(struct request *request)
{
    const struct opt_value *stop = &request->opts->values[RUN_STOP];

    if (!stop->given)
        return CLI_OK;
    request->stops = calloc((size_t)stop->given, sizeof *request->stops);
    if (!request->stops)
        return cli_fail(CLI_FAILURE, "out of memory");
    for (int i = 0; i < stop->given; i++)
        request->stops[i] = (struct dllm_string){stop->texts[i], strlen(stop->texts[i])};
    request->facts.settings.stop = request->stops;
    request->facts.settings.stop_count = (size_t)stop->given;
    return CLI_OK;
}

int request_prepare(struct request *request, const struct dllm_engine *engine)
{
    const struct opt_value *values = request->opts->values;
    struct run_facts *facts = &request->facts;
    int code;

    dllm_engine_info(engine, &facts->model);
    if ((code = run_check_effects(request->opts, &facts->model)))
        return code;
    if (request_has_prompt(request->opts) &&
        (code = prompt_encode(&request->prompt, engine, &request->ids, &facts->chat)))
        return code;
    facts->prompt_tokens = request->ids.count;
    run_settings(request->opts, engine, facts->chat, &facts->settings);
    facts->chat_sampling =
        facts->chat && facts->settings.temperature > 0 && !values[RUN_TEMPERATURE].given;
    if ((code = encode_suffix(request, engine)) || (code = encode_template(request, engine)))
        return code;
    return collect_stops(request);
}

int request_check_memory(const struct request *request, const struct dllm_engine *engine,
                         int sessions, uint64_t held)
{
    const struct dllm_generate_options *settings = &request->facts.settings;
    size_t canvas =
        request->facts.prompt_tokens + (size_t)settings->max_tokens + settings->suffix_count;
    struct memory_need need = memory_need_of(engine, canvas, settings);

    need.sessions = sessions;
    need.sessions_option = "--parallel";
    need.held = held;
    need.force = request->opts->values[RUN_FORCE].given;
    return memory_check(engine, &need);
}

/* The gaps' ids alone, in place of the whole canvas. */
static void keep_gap_ids(struct dllm_result *result)
{
    int32_t *ids = result->ids.ids;
    size_t count = 0;

    for (size_t i = 0; i < result->gap_count; i++) {
        memmove(ids + count, ids + result->gaps[i].start, result->gaps[i].count * sizeof *ids);
        count += result->gaps[i].count;
    }
    result->ids.count = count;
}

enum dllm_status request_generate(const struct request *request, struct dllm_session *session,
                                  struct dllm_result *result, struct dllm_error *error)
{
    const struct dllm_ids *ids = &request->ids;
    const struct dllm_generate_options *settings = &request->facts.settings;
    enum dllm_status status;

    if (!request->facts.filled)
        return dllm_generate(session, ids->ids, ids->count, settings, result, error);
    status = dllm_fill(session, ids->ids, ids->count, settings, result, error);
    if (status)
        return status;
    dllm_text_free(&result->text);
    result->text = template_fill(&request->template, result->gaps);
    keep_gap_ids(result);
    if (result->text.data)
        return DLLM_OK;
    dllm_result_free(result);
    strcpy(error->message, "out of memory");
    return error->status = DLLM_ERROR_MEMORY;
}
