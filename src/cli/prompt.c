/* prompt.c: reads prompts and turns them into ids. */
#include "prompt.h"

#include "cli.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* What a pipe or a device may give at most, which need not have an end: more
 * than fits any canvas. */
enum { STREAM_MOST = 1 << 30 };

static bool has_no_end(FILE *stream)
{
    struct stat info;

    return fstat(fileno(stream), &info) != 0 || !S_ISREG(info.st_mode);
}

/* Reads a stream to its end; false with errno set. */
static bool read_all(FILE *stream, struct dllm_text *out)
{
    bool limited = has_no_end(stream);
    size_t capacity = 0;

    *out = (struct dllm_text){0};
    do {
        if (limited && out->size > STREAM_MOST) {
            errno = EFBIG;
            return false;
        }
        if (out->size + 1 >= capacity) {
            char *grown = realloc(out->data, capacity = capacity ? capacity * 2 : 65536);
            if (!grown)
                return false;
            out->data = grown;
        }
        out->size += fread(out->data + out->size, 1, capacity - 1 - out->size, stream);
        out->data[out->size] = 0;
    } while (!feof(stream) && !ferror(stream));
    return !ferror(stream);
}

int prompt_read_file(const char *path, struct dllm_text *out)
{
    bool from_stdin = strcmp(path, "-") == 0;
    FILE *stream;
    bool done;

    *out = (struct dllm_text){0};
    errno = 0;
    stream = from_stdin ? stdin : fopen(path, "rb");
    done = stream && read_all(stream, out);
    if (!done) {
        cli_fail(CLI_FAILURE, "%s%s%s could not be read: %s", from_stdin ? "" : "\"",
                 from_stdin ? "standard input" : path, from_stdin ? "" : "\"", strerror(errno));
        dllm_text_free(out);
    }
    if (stream && !from_stdin)
        fclose(stream);
    return done ? CLI_OK : CLI_FAILURE;
}

struct dllm_string prompt_without_mark(const struct dllm_text *text)
{
    size_t mark = text->size >= 3 && memcmp(text->data, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;

    return (struct dllm_string){text->data + mark, text->size - mark};
}

/* The file to read the text from, NULL if it is on the command line. */
static const char *text_file(const struct prompt_source *source)
{
    if (source->use_stdin || (source->operand && strcmp(source->operand, "-") == 0))
        return "-";
    return source->file;
}

static struct dllm_string prompt_text(const struct prompt *prompt)
{
    const struct prompt_source *source = &prompt->source;
    const char *given = source->text ? source->text : source->operand;

    if (prompt->text.data)
        return (struct dllm_string){prompt->text.data, prompt->text.size};
    return (struct dllm_string){given, strlen(given)};
}

int prompt_read(struct prompt *prompt, const struct prompt_source *source)
{
    const char *file = text_file(source);
    int code;

    *prompt = (struct prompt){.source = *source};
    if (source->ids)
        return CLI_OK;
    if (source->messages_file)
        return prompt_read_messages(source->messages_file, &prompt->messages,
                                    &prompt->message_count);
    if (file && (code = prompt_read_file(file, &prompt->text)))
        return code;
    if (prompt_text(prompt).size == 0 && !source->may_be_empty)
        return cli_fail(CLI_USAGE, "the prompt is empty; give at least one character");
    return CLI_OK;
}

void prompt_free(struct prompt *prompt)
{
    dllm_text_free(&prompt->text);
    prompt_free_messages(prompt->messages, prompt->message_count);
    *prompt = (struct prompt){0};
}

static enum dllm_status encode_chat(const struct prompt *prompt, const struct dllm_engine *engine,
                                    struct dllm_ids *ids, struct dllm_error *error)
{
    const char *system = prompt->source.system;
    struct dllm_message pair[2] = {{.role = "system"}, {.role = "user"}};

    if (prompt->messages)
        return dllm_encode_chat(engine, prompt->messages, prompt->message_count,
                                prompt->source.parse_special, ids, error);
    if (system)
        pair[0].content = (struct dllm_string){system, strlen(system)};
    pair[1].content = prompt_text(prompt);
    return dllm_encode_chat(engine, system ? pair : pair + 1, system ? 2 : 1,
                            prompt->source.parse_special, ids, error);
}

static enum dllm_status copy_ids(const struct prompt_source *source, struct dllm_ids *ids,
                                 struct dllm_error *error)
{
    ids->ids = malloc(source->id_count * sizeof *ids->ids);
    if (!ids->ids) {
        error->status = DLLM_ERROR_MEMORY;
        strcpy(error->message, "out of memory");
        return DLLM_ERROR_MEMORY;
    }
    memcpy(ids->ids, source->ids, source->id_count * sizeof *ids->ids);
    ids->count = source->id_count;
    return DLLM_OK;
}

/* What only a chat template gives a meaning to, when there is none. */
static int refuse_without_template(const struct prompt_source *source,
                                   const struct dllm_model_info *info)
{
    const char *option = source->messages_file                   ? "--messages"
                         : source->system                        ? "--system"
                         : source->parse_special && !source->raw ? "--parse-special"
                                                                 : NULL;

    if (!option)
        return CLI_OK;
    return cli_fail(CLI_USAGE,
                    "%s has no effect with this model: no chat template is known for architecture "
                    "\"%s\", text is fed as it is, control strings included",
                    option, info->architecture);
}

int prompt_encode(const struct prompt *prompt, const struct dllm_engine *engine,
                  struct dllm_ids *ids, bool *chat)
{
    const struct prompt_source *source = &prompt->source;
    struct dllm_model_info info;
    struct dllm_error error = {0};
    enum dllm_status status;
    int code;

    dllm_engine_info(engine, &info);
    *ids = (struct dllm_ids){0};
    *chat = !source->ids && !source->raw && info.has_chat;
    if (!source->ids && !info.has_chat && (code = refuse_without_template(source, &info)))
        return code;
    if (source->ids)
        status = copy_ids(source, ids, &error);
    else if (*chat)
        status = encode_chat(prompt, engine, ids, &error);
    else
        status = dllm_encode(engine, prompt_text(prompt), DLLM_ENCODE_SPECIAL, ids, &error);
    return status ? cli_fail_error(&error) : CLI_OK;
}
