/* chat.c: the templates, and conversations put into them. */
#include "chat.h"

#include "utf8.h"

#include <string.h>

enum role { ROLE_SYSTEM, ROLE_USER, ROLE_ASSISTANT, ROLES };

static const char *const role_names[ROLES] = {"system", "user", "assistant"};

/* A message is before_role, role, after_role, text, after_text; the answer
 * starts after the same with the assistant's role and no text. */
struct chat_template {
    const char *architecture;
    const char *start; /* once, before the first message */
    const char *before_role, *after_role, *after_text;
    const char *roles[ROLES];
    const char *default_system; /* when the first message is not the system's; NULL: none */
};

static const struct chat_template templates[] = {
    {
        .architecture = "llada",
        .start = "<|startoftext|>",
        .before_role = "<|start_header_id|>",
        .after_role = "<|end_header_id|>\n\n",
        .after_text = "<|eot_id|>",
        .roles = {"system", "user", "assistant"},
    },
    {
        .architecture = "dream",
        .start = "",
        .before_role = "<|im_start|>",
        .after_role = "\n",
        .after_text = "<|im_end|>\n",
        .roles = {"system", "user", "assistant"},
        .default_system = "You are a helpful assistant.",
    },
    {
        .architecture = "llada-moe",
        .start = "",
        .before_role = "<role>",
        .after_role = "</role>",
        .after_text = "<|role_end|>",
        .roles = {"SYSTEM", "HUMAN", "ASSISTANT"},
        .default_system = "detailed thinking off",
    },
};

static struct dllm_string string_of(const char *text)
{
    return (struct dllm_string){text, strlen(text)};
}

const struct chat_template *chat_template_find(const char *architecture)
{
    for (size_t i = 0; i < ARRAY_COUNT(templates); i++)
        if (!strcmp(templates[i].architecture, architecture))
            return &templates[i];
    return NULL;
}

/* Length of the last code point, or 1 if the text does not end in one. */
static size_t last_length(struct dllm_string text, uint32_t *code_point)
{
    for (size_t length = 1; length <= 4 && length <= text.size; length++)
        if ((size_t)utf8_decode(text.data + text.size - length, length, code_point) == length)
            return length;
    *code_point = UINT32_MAX;
    return 1;
}

static struct dllm_string trim(struct dllm_string text)
{
    uint32_t c;
    int length;

    while ((length = utf8_decode(text.data, text.size, &c)) > 0 && utf8_is_space(c)) {
        text.data += length;
        text.size -= (size_t)length;
    }
    while (text.size > 0) {
        size_t last = last_length(text, &c);

        if (!utf8_is_space(c))
            break;
        text.size -= last;
    }
    return text;
}

/* One conversation being encoded. */
struct conversation {
    const struct chat_template *chat;
    const struct tokenizer *tokenizer;
    bool parse_special;
    struct dllm_ids *out;
};

/* A string of the template: a control string, which the vocabulary must have,
 * then line feeds. */
static enum dllm_status encode_markup(const struct conversation *to, const char *markup,
                                      struct dllm_error *error)
{
    const struct dllm_string text = string_of(markup);
    const size_t control_size = strcspn(markup, "\n");
    size_t at = 0;

    if (control_size &&
        (tokenizer_next_special(to->tokenizer, text, &at) < 0 || at != control_size))
        return status_fail(error, DLLM_ERROR_FORMAT,
                           "the vocabulary has no control token \"%.*s\", which the chat template "
                           "needs; expected the vocabulary of a chat model: use the text without a "
                           "template (--no-chat)",
                           (int)control_size, markup);
    return tokenizer_encode(to->tokenizer, text, true, to->out, error);
}

static enum dllm_status encode_header(const struct conversation *to, enum role role,
                                      struct dllm_error *error)
{
    TRY(encode_markup(to, to->chat->before_role, error));
    TRY(tokenizer_encode(to->tokenizer, string_of(to->chat->roles[role]), false, to->out, error));
    return encode_markup(to, to->chat->after_role, error);
}

static enum dllm_status encode_message(const struct conversation *to, enum role role,
                                       struct dllm_string text, struct dllm_error *error)
{
    TRY(encode_header(to, role, error));
    TRY(tokenizer_encode(to->tokenizer, trim(text), to->parse_special, to->out, error));
    return encode_markup(to, to->chat->after_text, error);
}

static enum dllm_status find_role(const char *name, enum role *role, struct dllm_error *error)
{
    for (int i = 0; i < ROLES; i++) {
        if (name && !strcmp(role_names[i], name)) {
            *role = (enum role)i;
            return DLLM_OK;
        }
    }
    return status_fail(error, DLLM_ERROR_USAGE,
                       "a message has the role \"%.60s\"; expected system, user or assistant",
                       name ? name : "");
}

static enum dllm_status encode_conversation(const struct conversation *to,
                                            const struct dllm_message *messages, size_t count,
                                            struct dllm_error *error)
{
    enum role role = ROLE_USER;

    TRY(encode_markup(to, to->chat->start, error));
    for (size_t i = 0; i < count; i++) {
        TRY(find_role(messages[i].role, &role, error));
        if (i == 0 && role != ROLE_SYSTEM && to->chat->default_system)
            TRY(encode_message(to, ROLE_SYSTEM, string_of(to->chat->default_system), error));
        TRY(encode_message(to, role, messages[i].content, error));
    }
    return encode_header(to, ROLE_ASSISTANT, error);
}

enum dllm_status chat_encode(const struct chat_template *chat, const struct tokenizer *tokenizer,
                             const struct dllm_message *messages, size_t count, bool parse_special,
                             struct dllm_ids *out, struct dllm_error *error)
{
    const struct conversation to = {chat, tokenizer, parse_special, out};
    const size_t before = out->count;
    enum dllm_status status;

    if (count == 0)
        return status_fail(error, DLLM_ERROR_USAGE,
                           "the conversation is empty; expected at least one message");
    status = encode_conversation(&to, messages, count, error);
    if (status != DLLM_OK)
        out->count = before;
    return status;
}

/* Whether the first control string of markup (if any) occurs in the source, in
 * itself or as the variable that stands for it. */
static bool source_has(const struct tokenizer *tokenizer, struct dllm_string source,
                       const char *markup)
{
    const size_t size = strcspn(markup, "\n");
    const int32_t id = tokenizer_find(tokenizer, (struct dllm_string){markup, size});
    const struct tokenizer_specials ids = tokenizer_specials(tokenizer);

    if (size == 0 || memmem(source.data, source.size, markup, size))
        return true;
    if (id >= 0 && id == ids.bos_id)
        return memmem(source.data, source.size, "bos_token", 9) != NULL;
    return id >= 0 && id == ids.eos_id && memmem(source.data, source.size, "eos_token", 9);
}

bool chat_template_differs(const struct chat_template *chat, const struct tokenizer *tokenizer,
                           struct dllm_string source)
{
    const char *const markup[] = {chat->start, chat->before_role, chat->after_role,
                                  chat->after_text};
    int32_t known[ARRAY_COUNT(markup)];
    int32_t id;

    for (size_t i = 0; i < ARRAY_COUNT(markup); i++) {
        known[i] =
            tokenizer_find(tokenizer, (struct dllm_string){markup[i], strcspn(markup[i], "\n")});
        if (!source_has(tokenizer, source, markup[i]))
            return true;
    }
    for (size_t at = 0; (id = tokenizer_next_special(tokenizer, source, &at)) >= 0;) {
        bool found = tokenizer_type(tokenizer, id) != TOKEN_CONTROL;

        for (size_t i = 0; i < ARRAY_COUNT(known); i++)
            found = found || known[i] == id;
        if (!found)
            return true;
    }
    return false;
}
