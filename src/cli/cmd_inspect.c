/* cmd_inspect.c: dllm inspect: what a GGUF file holds, supported or not. */
#include "cli.h"
#include "inspect.h"
#include "out.h"

#include <stdlib.h>
#include <string.h>

enum { INSPECT_OPERAND, INSPECT_PULL, INSPECT_FULL, INSPECT_JSON, INSPECT_OPTIONS };
/* The memory line is for a run with default settings and a prompt of this length. */
enum { TYPICAL_PROMPT = 20 };

static const struct opt options[INSPECT_OPTIONS] = {
    [INSPECT_OPERAND] = {.name = "MODEL",
                         .kind = OPT_OPERAND,
                         .required = true,
                         .help = "the GGUF file to look into, or a name as run -m takes it"},
    [INSPECT_PULL] = CLI_OPTION_PULL,
    [INSPECT_FULL] = {.name = "full",
                      .kind = OPT_FLAG,
                      .help = "show long strings and arrays whole"},
    [INSPECT_JSON] = {.name = "json", .kind = OPT_FLAG, .help = "print one JSON object"},
};

static const struct opt_table table = {
    .command = "inspect",
    .usage = "MODEL [options]",
    .summary = "Show the metadata and tensors of any GGUF file",
    .options = options,
    .count = INSPECT_OPTIONS,
};

const char *inspect_kind_name(enum dllm_value_type type)
{
    static const char *const names[] = {"u8",   "i8",     "u16",   "i16", "u32", "i32", "f32",
                                        "bool", "string", "array", "u64", "i64", "f64"};

    return (size_t)type < sizeof names / sizeof *names ? names[type] : "?";
}

struct dllm_string inspect_string(const struct dllm_file *file, const char *key)
{
    const struct dllm_key *found = dllm_file_find_key(file, key);

    if (found && found->value.type == DLLM_VALUE_STRING)
        return found->value.s;
    return (struct dllm_string){"", 0};
}

static int by_bytes(const void *a, const void *b)
{
    const struct inspect_type *left = a, *right = b;

    if (left->bytes != right->bytes)
        return left->bytes < right->bytes ? 1 : -1;
    return (left->type > right->type) - (left->type < right->type);
}

static struct inspect_type *find_type(struct inspect_facts *facts, uint32_t type)
{
    for (size_t i = 0; i < facts->type_count; i++)
        if (facts->types[i].type == type)
            return &facts->types[i];
    facts->types[facts->type_count] = (struct inspect_type){.type = type};
    return &facts->types[facts->type_count++];
}

static int count_types(struct inspect_facts *facts)
{
    size_t count = dllm_file_tensor_count(facts->file);

    facts->types = calloc(count + 1, sizeof *facts->types);
    if (!facts->types)
        return cli_fail(CLI_FAILURE, "out of memory");
    for (size_t i = 0; i < count; i++) {
        const struct dllm_tensor *tensor = dllm_file_tensor(facts->file, i);
        struct inspect_type *type = find_type(facts, tensor->type);
        type->tensors++;
        type->bytes += tensor->size;
    }
    qsort(facts->types, facts->type_count, sizeof *facts->types, by_bytes);
    return CLI_OK;
}

/* Opens the file as a run would, to say what that takes or why it cannot be. 0, or
 * the exit code after a message. */
static int try_model(struct inspect_facts *facts)
{
    struct dllm_engine_options engine_options = {.model_path = facts->path, .threads = 1};
    struct dllm_generate_options defaults;
    struct dllm_engine *engine;
    struct dllm_error error = {0};

    if (dllm_engine_open(&engine_options, &engine, &error)) {
        memcpy(facts->reason, error.message, sizeof facts->reason);
        /* What the machine lacks at the moment says nothing about the file. */
        return error.status == DLLM_ERROR_MEMORY || error.status == DLLM_ERROR_IO
                   ? cli_fail_error(&error)
                   : CLI_OK;
    }
    facts->runnable = true;
    dllm_generate_defaults(engine, true, &defaults);
    facts->canvas = TYPICAL_PROMPT + defaults.max_tokens;
    facts->workspace_bytes =
        dllm_generate_workspace_bytes(engine, (size_t)facts->canvas, &defaults);
    dllm_engine_close(engine);
    return CLI_OK;
}

static int run_inspect(struct opts *opts)
{
    struct inspect_facts facts = {
        .path = opts->values[INSPECT_OPERAND].text,
        .full = opts->values[INSPECT_FULL].given,
    };
    struct dllm_error error = {0};
    struct dllm_file *file;
    int code = cli_find_model(&facts.path, opts->values[INSPECT_PULL].given);

    if (code)
        return code;
    if (dllm_file_open(facts.path, &file, &error))
        return cli_fail_error(&error);
    facts.file = file;
    if ((code = count_types(&facts)) == CLI_OK && (code = try_model(&facts)) == CLI_OK)
        code = opts->values[INSPECT_JSON].given ? inspect_print_json(&facts)
                                                : inspect_print_text(&facts);
    free(facts.types);
    dllm_file_close(file);
    return code;
}

const struct command command_inspect = {&table, run_inspect};
