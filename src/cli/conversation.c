/* conversation.c: a growing list of messages. */
#include "conversation.h"

#include "cli.h"
#include "out.h"

#include <stdlib.h>
#include <string.h>

static bool is_role(const struct dllm_message *message, const char *role)
{
    return strcmp(message->role, role) == 0;
}

static void free_message(struct dllm_message *message)
{
    free((char *)message->content.data);
}

bool conversation_add(struct conversation *conversation, const char *role, struct dllm_string text)
{
    char *copy = malloc(text.size + 1);

    if (conversation->count == conversation->capacity) {
        size_t capacity = conversation->capacity * 2 + 8;
        struct dllm_message *grown =
            realloc(conversation->messages, capacity * sizeof *conversation->messages);
        if (!grown) {
            free(copy);
            return false;
        }
        conversation->messages = grown;
        conversation->capacity = capacity;
    }
    if (!copy)
        return false;
    if (text.size)
        memcpy(copy, text.data, text.size);
    copy[text.size] = 0;
    conversation->messages[conversation->count++] = (struct dllm_message){role, {copy, text.size}};
    return true;
}

void conversation_pop(struct conversation *conversation)
{
    if (conversation->count)
        free_message(&conversation->messages[--conversation->count]);
}

/* Removes messages [first, end). */
static void remove_range(struct conversation *conversation, size_t first, size_t end)
{
    for (size_t i = first; i < end; i++)
        free_message(&conversation->messages[i]);
    memmove(conversation->messages + first, conversation->messages + end,
            (conversation->count - end) * sizeof *conversation->messages);
    conversation->count -= end - first;
}

static size_t first_turn(const struct conversation *conversation)
{
    return conversation->count && is_role(&conversation->messages[0], "system") ? 1 : 0;
}

bool conversation_drop_oldest(struct conversation *conversation)
{
    size_t first = first_turn(conversation), end = first + 1;

    while (end < conversation->count && !is_role(&conversation->messages[end], "user"))
        end++;
    if (end >= conversation->count)
        return false;
    remove_range(conversation, first, end);
    return true;
}

void conversation_reset(struct conversation *conversation)
{
    if (conversation->count)
        remove_range(conversation, first_turn(conversation), conversation->count);
}

int conversation_save(const struct conversation *conversation, const char *path)
{
    json_t *array = json_array();
    struct out_file file;
    char *text = NULL;
    int code = out_file_open(&file, path);

    if (code)
        goto done;
    for (size_t i = 0; array && i < conversation->count; i++) {
        const struct dllm_message *message = &conversation->messages[i];
        json_array_append_new(
            array, json_pack("{s:s, s:o}", "role", message->role, "content",
                             out_json_text(message->content.data, message->content.size)));
    }
    text = array && json_array_size(array) == conversation->count
               ? json_dumps(array, JSON_INDENT(1))
               : NULL;
    if (text) {
        out_file_write(&file, text, strlen(text));
        out_file_write(&file, "\n", 1);
        code = out_file_commit(&file);
    } else {
        out_file_discard(&file);
        code = cli_fail(CLI_FAILURE, "out of memory");
    }
done:
    free(text);
    json_decref(array);
    return code;
}

void conversation_free(struct conversation *conversation)
{
    for (size_t i = 0; i < conversation->count; i++)
        free_message(&conversation->messages[i]);
    free(conversation->messages);
    *conversation = (struct conversation){0};
}
