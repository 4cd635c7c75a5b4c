/*
 * chat.h: chat templates as const data, placed as token ids: the template's own
 * text is parsed for control strings, the messages' text is not.
 */
#ifndef CHAT_H
#define CHAT_H

#include "tokenizer.h"

struct chat_template;

/* The template of an architecture; NULL for a base model or an unknown name. */
const struct chat_template *chat_template_find(const char *architecture);

/* A conversation up to the point where the answer starts, appended to out.
 * Message text is trimmed of white space at both ends. Roles other than
 * system, user and assistant, and an empty conversation, are usage errors. */
enum dllm_status chat_encode(const struct chat_template *chat, const struct tokenizer *tokenizer,
                             const struct dllm_message *messages, size_t count, bool parse_special,
                             struct dllm_ids *out, struct dllm_error *error);

/* Whether the Jinja source that a file carries names other control strings
 * than this template (a set comparison; the source is not run). */
bool chat_template_differs(const struct chat_template *chat, const struct tokenizer *tokenizer,
                           struct dllm_string source);

#endif
