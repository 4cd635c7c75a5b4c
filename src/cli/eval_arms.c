/* eval_arms.c: arms from arguments and files, checked before anything runs. */
#include "eval_arms.h"

#include "out.h"
#include "prompt.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

/* What an arm may say of a run as a whole, and what it may not say of a request: the question is
 * the prompt, and there is one answer. */
static const char *const of_the_run[] = {"model",  "pull",       "force",     "threads",
                                         "device", "gpu-layers", "cpu-level", NULL};
static const char *const not_of_an_arm[] = {"prompt",   "prompt-tokens", "messages",
                                            "template", "num-samples",   NULL};

static bool is_among(const char *const *names, const char *name)
{
    while (*names && strcmp(*names, name) != 0)
        names++;
    return *names != NULL;
}

/* One word from *text into out, quotes left out; false when a quote is not closed. */
static bool copy_word(const char **text, char **out)
{
    char quote = 0;

    for (; **text && (quote || !strchr(" \t\r\n", **text)); (*text)++) {
        if (quote ? **text == quote : **text == '\'' || **text == '"')
            quote = quote ? 0 : **text;
        else
            *(*out)++ = **text;
    }
    *(*out)++ = 0;
    return quote == 0;
}

char **eval_split(const char *text, int *count)
{
    size_t length = strlen(text);
    /* At most a word to two characters; the words' bytes stand behind their addresses. */
    char **words = malloc((length / 2 + 2) * sizeof *words + length + 1);
    char *bytes = words ? (char *)(words + length / 2 + 2) : NULL;

    *count = 0;
    if (!words)
        cli_fail(CLI_FAILURE, "out of memory");
    while (words && *(text += strspn(text, " \t\r\n"))) {
        words[(*count)++] = bytes;
        if (!copy_word(&text, &bytes)) {
            cli_fail(CLI_USAGE, "a quote in the options is not closed");
            free(words);
            return NULL;
        }
    }
    return words;
}

int eval_arm_parse(const struct eval_arm *arm, const char *question, struct opts *out)
{
    char **words = malloc(((size_t)arm->word_count + 2) * sizeof *words);

    *out = (struct opts){0};
    if (!words)
        return cli_fail(CLI_FAILURE, "out of memory");
    memcpy(words, arm->words, (size_t)arm->word_count * sizeof *words);
    words[arm->word_count] = "--prompt";
    words[arm->word_count + 1] = (char *)question;
    opts_parse(&run_option_table, arm->word_count + 2, words, out);
    free(words);
    if (out->problem[0])
        return cli_fail(CLI_USAGE, "arm \"%s\": %s", arm->name, out->problem);
    if (out->help)
        return cli_fail(CLI_USAGE, "arm \"%s\": \"dllm help run\" lists the options", arm->name);
    return run_check_values(out);
}

static bool is_unused(const struct opt *option)
{
    if (option->kind == OPT_OPERAND)
        return false; /* two prompts: found when the options are read with a question */
    return option->once ? !is_among(of_the_run, option->name)
                        : is_among(not_of_an_arm, option->name);
}

static int refuse_unused(const struct eval_arm *arm)
{
    const char *found = NULL;
    struct opts opts;

    opts_parse(&run_option_table, arm->word_count, arm->words, &opts);
    for (int i = 0; i < run_option_table.count; i++)
        if (opts.values[i].given && is_unused(&run_option_table.options[i]))
            found = run_option_table.options[i].name;
    opts_free(&opts);
    if (!found)
        return CLI_OK;
    return cli_fail(CLI_USAGE,
                    "arm \"%s\": --%s has no place in an arm, which gets the questions as prompts "
                    "and keeps the answers",
                    arm->name, found);
}

/* What the options say of the model. */
static int check(struct eval_arm *arm)
{
    struct opts opts;
    int code = refuse_unused(arm);

    if (code)
        return code;
    code = eval_arm_parse(arm, "?", &opts);
    if (!code) {
        arm->model = cli_model_path(&opts.values[RUN_MODEL]);
        arm->pull = opts.values[RUN_PULL].given;
        arm->threads = (int)opts.values[RUN_THREADS].integer;
        arm->device = cli_device_name(&opts.values[RUN_DEVICE], &opts.values[RUN_GPU_LAYERS]);
        arm->gpu_layers = opts.values[RUN_GPU_LAYERS].text;
        arm->cpu_level = opts.values[RUN_CPU_LEVEL].text;
    }
    opts_free(&opts);
    return code;
}

static int add(struct eval_arms *arms, const char *name, size_t length, const char *options,
               const char *common)
{
    struct eval_arm *grown = realloc(arms->list, ((size_t)arms->count + 1) * sizeof *grown), *arm;

    if (!grown)
        return cli_fail(CLI_FAILURE, "out of memory");
    arms->list = grown;
    arm = &grown[arms->count++];
    *arm = (struct eval_arm){.name = strndup(name, length)};
    options += strspn(options, " ");
    if (!arm->name || asprintf(&arm->options, "%s%s%s", common ? common : "",
                               common && *options ? " " : "", options) < 0)
        return cli_fail(CLI_FAILURE, "out of memory");
    for (int i = 0; i + 1 < arms->count; i++)
        if (strcmp(grown[i].name, arm->name) == 0)
            return cli_fail(CLI_USAGE, "two arms are called \"%s\"", arm->name);
    arm->words = eval_split(arm->options, &arm->word_count);
    return arm->words ? check(arm) : CLI_USAGE;
}

/* Whether a word of an arm's name looks like an option: the colon before it was forgotten. */
static bool holds_option(const char *name, size_t length)
{
    for (size_t i = 0; i + 1 < length; i++)
        if (name[i] == '-' && name[i + 1] != ' ' && (i == 0 || name[i - 1] == ' '))
            return true;
    return false;
}

int eval_arms_add(struct eval_arms *arms, const char *text, const char *common)
{
    size_t length = strcspn(text, ":");

    if (length == 0 || holds_option(text, length))
        return cli_fail(CLI_USAGE, "--arm needs \"NAME: OPTIONS\", not \"%s\"", text);
    return add(arms, text, length, text + length + (text[length] == ':'), common);
}

int eval_arms_load(struct eval_arms *arms, const char *path, const char *common)
{
    struct dllm_text text;
    struct dllm_string json;
    json_error_t error;
    json_t *root, *options;
    const char *name;
    int code = prompt_read_file(path, &text);

    if (code)
        return code;
    json = prompt_without_mark(&text);
    root = json_loadb(json.data, json.size, JSON_REJECT_DUPLICATES, &error);
    dllm_text_free(&text);
    if (!root)
        return cli_fail(CLI_FAILURE, "\"%s\" is not valid JSON: line %d, column %d: %s", path,
                        error.line, error.column, out_json_problem(&error));
    if (!json_is_object(root))
        code = cli_fail(CLI_FAILURE, "\"%s\" must hold one object, {\"NAME\": \"OPTIONS\", ...}",
                        path);
    json_object_foreach(root, name, options)
    {
        if (!code && !json_is_string(options))
            code = cli_fail(CLI_FAILURE, "\"%s\": the options of \"%s\" must be text", path, name);
        if (!code)
            code = add(arms, name, strlen(name), json_string_value(options), common);
    }
    json_decref(root);
    return code;
}

void eval_arms_free(struct eval_arms *arms)
{
    for (int i = 0; i < arms->count; i++) {
        free(arms->list[i].name);
        free(arms->list[i].options);
        free(arms->list[i].words);
    }
    free(arms->list);
    *arms = (struct eval_arms){0};
}
