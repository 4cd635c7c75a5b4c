/*
 * cmd_chat.c: dllm chat: a conversation, a line in, an answer out. Its options
 * are run's, less those that are about a single prompt.
 */
#include "conversation.h"
#include "line.h"
#include "memory_check.h"
#include "out.h"
#include "progress_line.h"
#include "run_view.h"
#include "term.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct chat {
    const struct opts *opts;
    struct dllm_engine *engine;
    struct dllm_session *session;
    struct run_facts facts;
    struct run_watch watch;
    struct conversation conversation;
    struct line_reader *reader;
    size_t used;  /* tokens of the last prompt and its answer */
    int problems; /* messages that got no answer, commands that failed */
};

static void release(struct chat *chat)
{
    line_close(chat->reader);
    conversation_free(&chat->conversation);
    dllm_session_destroy(chat->session);
    dllm_engine_close(chat->engine);
}

/* --- the start --- */

static int open_model(struct chat *chat)
{
    struct dllm_model_info *model = &chat->facts.model;
    struct dllm_error error = {0};
    int code = run_open_engine(chat->opts, &chat->watch.reading, &chat->engine);

    if (code)
        return code;
    if (dllm_session_create(chat->engine, &chat->session, &error))
        return cli_fail_error(&error);
    dllm_engine_info(chat->engine, model);
    if (!model->has_chat)
        return cli_fail(CLI_USAGE,
                        "no chat template is known for architecture \"%s\"; dllm run feeds it "
                        "text as it is",
                        model->architecture);
    if ((code = run_check_effects(chat->opts, model)))
        return code;
    run_settings(chat->opts, chat->engine, true, &chat->facts.settings);
    chat->facts.chat = true;
    chat->watch.bar = !chat->opts->values[RUN_VISUAL].given && term_can_draw();
    chat->facts.settings.on_step = run_on_step;
    chat->facts.settings.context = &chat->watch;
    return CLI_OK;
}

static int no_memory(void)
{
    return cli_fail(CLI_FAILURE, "out of memory");
}

static int add(struct chat *chat, const char *role, const char *data, size_t size)
{
    if (conversation_add(&chat->conversation, role, (struct dllm_string){data, size}))
        return CLI_OK;
    return no_memory();
}

/* The conversation to go on with, or the system message. */
static int open_conversation(struct chat *chat)
{
    const struct opt_value *values = chat->opts->values;
    const char *system = values[RUN_SYSTEM].text;
    struct dllm_message *messages;
    size_t count;
    int code;

    if (system)
        return add(chat, "system", system, strlen(system));
    if (!values[RUN_MESSAGES].given)
        return CLI_OK;
    if ((code = prompt_read_messages(values[RUN_MESSAGES].text, &messages, &count)) == CLI_OK)
        for (size_t i = 0; i < count && !code; i++)
            code = add(chat, messages[i].role, messages[i].content.data, messages[i].content.size);
    prompt_free_messages(messages, count);
    return code;
}

/* Where typed lines are kept: --history, or the user's folder for such things. */
static char *history_path(const struct opts *opts)
{
    const char *given = opts->values[RUN_HISTORY].text, *state = getenv("XDG_STATE_HOME");
    const char *home = getenv("HOME");
    char *path = NULL;

    if (given)
        return strdup(given);
    if (state && *state == '/')
        return asprintf(&path, "%s/dllm/history", state) < 0 ? NULL : path;
    if (home && *home == '/')
        return asprintf(&path, "%s/.local/state/dllm/history", home) < 0 ? NULL : path;
    return NULL;
}

static int open_reader(struct chat *chat)
{
    char *path = history_path(chat->opts);

    chat->reader = line_open(path);
    free(path);
    return chat->reader ? CLI_OK : CLI_FAILURE;
}

/* --- a turn --- */

static void tell_use(const struct chat *chat)
{
    if (chat->facts.model.context_length)
        fprintf(stderr, "context: %zu of %d tokens\n", chat->used,
                chat->facts.model.context_length);
    else
        fprintf(stderr, "context: %zu tokens\n", chat->used);
}

static size_t room(const struct chat *chat)
{
    size_t context = (size_t)chat->facts.model.context_length;
    size_t answer = (size_t)chat->facts.settings.max_tokens;

    if (!context)
        return SIZE_MAX;
    return context > answer ? context - answer : 0;
}

/* The conversation as ids that leave room for an answer; the oldest turns are
 * dropped for that. A last message that does not fit by itself is an error. */
static int encode(struct chat *chat, struct dllm_ids *ids)
{
    const struct conversation *conversation = &chat->conversation;
    size_t before = conversation->count;
    struct dllm_error error = {0};

    for (;;) {
        if (dllm_encode_chat(chat->engine, conversation->messages, conversation->count,
                             chat->opts->values[RUN_PARSE_SPECIAL].given, ids, &error))
            return cli_fail_error(&error);
        if (ids->count <= room(chat))
            break;
        if (!conversation_drop_oldest(&chat->conversation))
            return cli_fail(CLI_USAGE,
                            "this message makes a prompt of %zu tokens, but the model's context "
                            "of %d leaves %zu beside an answer of %d; shorten it or lower "
                            "--max-tokens",
                            ids->count, chat->facts.model.context_length, room(chat),
                            chat->facts.settings.max_tokens);
        dllm_ids_free(ids);
    }
    if (conversation->count < before)
        fprintf(stderr, "note: the context is full; the oldest %zu messages were dropped\n",
                before - conversation->count);
    return CLI_OK;
}

static int generate(struct chat *chat, const struct dllm_ids *ids, struct dllm_result *result)
{
    struct dllm_generate_options *settings = &chat->facts.settings;
    struct dllm_error error = {0};
    enum dllm_status status;
    struct memory_need need =
        memory_need_of(chat->engine, ids->count + (size_t)settings->max_tokens, settings);
    int code;

    need.held = dllm_session_workspace_bytes(chat->session);
    need.force = chat->opts->values[RUN_FORCE].given;
    if ((code = memory_check(chat->engine, &need)))
        return code;
    chat->facts.prompt_tokens = ids->count;
    chat->watch.seconds = 0;
    if ((code = run_view_open(&chat->watch, chat->opts, chat->engine, &chat->facts, ids)))
        return code;
    if (chat->watch.bar)
        reading_open(&chat->watch.reading);
    status = dllm_generate(chat->session, ids->ids, ids->count, settings, result, &error);
    reading_close(&chat->watch.reading);
    progress_line_clear();
    run_view_close(&chat->watch, NULL);
    return status ? cli_fail_error(&error) : chat->watch.code;
}

static int print_answer(struct chat *chat, const struct dllm_result *result)
{
    int code;

    fwrite(result->text.data, 1, result->text.size, stdout);
    fputc('\n', stdout);
    if ((code = out_finish()))
        return code;
    if (result->finish == DLLM_FINISH_INTERRUPTED)
        fputs("(stopped)\n", stderr);
    chat->used = chat->facts.prompt_tokens + (size_t)result->answer_tokens;
    if (line_is_typed())
        tell_use(chat);
    return add(chat, "assistant", result->text.data, result->text.size);
}

/* Answers the last message; without an answer it is taken back. */
static int answer(struct chat *chat)
{
    struct dllm_ids ids = {0};
    struct dllm_result result = {0};
    int code;

    cli_catch_interrupt();
    code = encode(chat, &ids);
    if (!code)
        code = generate(chat, &ids, &result);
    if (!code)
        code = print_answer(chat, &result);
    else
        conversation_pop(&chat->conversation);
    cli_release_interrupt();
    dllm_result_free(&result);
    dllm_ids_free(&ids);
    return code;
}

/* --- commands --- */

static void print_help(void)
{
    fputs("/reset      forget the conversation, but for the system message\n"
          "/save FILE  write the conversation, for --messages\n"
          "/tokens     how much of the model's context is used\n"
          "/quit       end; so does ctrl-d\n"
          "//TEXT      a message that starts with a slash\n"
          "ctrl-c stops the answer at hand, or gives up the line\n",
          stderr);
}

/* Whether the line is this command, with a word behind it if there is to be one;
 * that is in *rest. */
static bool is_command(const char *line, const char *name, const char **rest)
{
    size_t size = strlen(name);

    if (strncmp(line, name, size) != 0 || (line[size] && line[size] != ' '))
        return false;
    *rest = line + size + strspn(line + size, " ");
    return true;
}

static int run_command(struct chat *chat, const char *line, bool *over)
{
    const char *rest;

    if (is_command(line, "/quit", &rest) && !*rest)
        *over = true;
    else if (is_command(line, "/help", &rest) && !*rest)
        print_help();
    else if (is_command(line, "/tokens", &rest) && !*rest)
        tell_use(chat);
    else if (is_command(line, "/reset", &rest) && !*rest) {
        conversation_reset(&chat->conversation);
        chat->used = 0;
    } else if (is_command(line, "/save", &rest) && *rest)
        return conversation_save(&chat->conversation, rest);
    else if (is_command(line, "/save", &rest))
        return cli_fail(CLI_USAGE, "/save needs the name of a file");
    else
        return cli_fail(CLI_USAGE, "\"%s\" is no command; /help lists them, // sends a slash",
                        line);
    return CLI_OK;
}

static int take_line(struct chat *chat, const char *line, size_t size, bool *over)
{
    size_t slash = line[0] == '/';
    int code;

    if (strspn(line, " \t\r") == size)
        return CLI_OK;
    if (line[0] == '/' && line[1] != '/')
        return run_command(chat, line, over);
    if ((code = add(chat, "user", line + slash, size - slash)))
        return code;
    return answer(chat);
}

static void converse(struct chat *chat)
{
    const struct conversation *conversation = &chat->conversation;
    bool over = false;
    size_t size;
    char *line;

    if (line_is_typed())
        fprintf(stderr, "%s; /help lists the commands\n", chat->facts.model.name);
    /* A saved conversation that ends with a question gets its answer first. */
    if (conversation->count &&
        strcmp(conversation->messages[conversation->count - 1].role, "user") == 0)
        chat->problems += answer(chat) != CLI_OK;
    while (!over && (line = line_read(chat->reader, &size))) {
        chat->problems += take_line(chat, line, size, &over) != CLI_OK;
        free(line);
    }
    chat->problems += line_failed(chat->reader);
    if (line_is_typed() && !over)
        fputc('\n', stderr);
}

static int run_chat(struct opts *opts)
{
    struct chat chat = {.opts = opts, .watch.reading = READING_INIT};
    int code = run_check_values(opts);

    if (!code)
        code = open_model(&chat);
    if (!code)
        code = open_conversation(&chat);
    if (!code)
        code = open_reader(&chat);
    if (!code)
        converse(&chat);
    release(&chat);
    return code ? code : chat.problems ? CLI_FAILURE : CLI_OK;
}

const struct command command_chat = {&chat_option_table, run_chat};
