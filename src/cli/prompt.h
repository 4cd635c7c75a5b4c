/*
 * prompt.h: where the prompt of run and tokenize comes from: an argument, a
 * file, standard input, a conversation as JSON, or ids.
 */
#ifndef PROMPT_H
#define PROMPT_H

#include "dllm.h"

/* What the command line says. At most one of operand, text, file, use_stdin,
 * messages_file, ids is set. Not owned. */
struct prompt_source {
    const char *operand; /* "-" is standard input */
    const char *text;
    const char *file; /* "-" is standard input */
    bool use_stdin;
    const char *messages_file;
    const int32_t *ids;
    size_t id_count;
    const char *system; /* NULL: the template's default */
    bool raw;           /* no chat template */
    bool parse_special;
    bool may_be_empty; /* a text of no characters is a prompt too */
};

/* A prompt that was read and not yet encoded. */
struct prompt {
    struct prompt_source source;
    struct dllm_text text;         /* owned; when source.text or .operand is not it */
    struct dllm_message *messages; /* owned, with their texts */
    size_t message_count;
};

/* Reads the file or standard input; needs no model. 0, or the exit code after
 * a message. Free with prompt_free, whatever came out. */
int prompt_read(struct prompt *prompt, const struct prompt_source *source);
void prompt_free(struct prompt *prompt);

/* Ids of the prompt for a model: through its chat template unless the source
 * says raw or the model has none. *chat says whether it was. ids is owned by
 * the caller. */
int prompt_encode(const struct prompt *prompt, const struct dllm_engine *engine,
                  struct dllm_ids *ids, bool *chat);

/* A file's whole contents, or standard input's for "-"; of a pipe or device at most
 * a gigabyte. 0, or the exit code after a message. */
int prompt_read_file(const char *path, struct dllm_text *out);

/* A file of JSON without the byte order mark that some editors begin one with. */
struct dllm_string prompt_without_mark(const struct dllm_text *text);

/* A conversation, [{"role": ..., "content": ...}, ...], from a JSON file (or
 * "-"), or given itself: what starts with a bracket is no name; *out and its
 * texts are owned by the caller (prompt_free_messages). (messages.c) */
int prompt_read_messages(const char *path, struct dllm_message **out, size_t *count);
void prompt_free_messages(struct dllm_message *messages, size_t count);

#endif
