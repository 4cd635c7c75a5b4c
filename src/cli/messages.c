/* messages.c: conversations from JSON files. */
#include "cli.h"
#include "prompt.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

static int fail_shape(const char *path, size_t index)
{
    return cli_fail(CLI_FAILURE,
                    "message %zu of \"%s\" is not of the form {\"role\": \"system\", \"user\" or "
                    "\"assistant\", \"content\": TEXT}",
                    index + 1, path);
}

/* The role as a static string, NULL if it is none. */
static const char *find_role(const json_t *role)
{
    static const char *const roles[] = {"system", "user", "assistant"};
    size_t size = json_string_length(role);

    for (int i = 0; i < 3; i++)
        if (size == strlen(roles[i]) && memcmp(json_string_value(role), roles[i], size) == 0)
            return roles[i];
    return NULL;
}

/* Copies one message; false if it has another shape. */
static bool take_message(const json_t *item, struct dllm_message *out)
{
    const json_t *content = json_object_get(item, "content");
    const char *role = find_role(json_object_get(item, "role"));
    size_t size = json_string_length(content);
    char *copy;

    if (!role || !json_is_string(content) || json_object_size(item) != 2)
        return false;
    copy = malloc(size + 1);
    if (!copy)
        return false;
    memcpy(copy, json_string_value(content), size + 1);
    *out = (struct dllm_message){role, {copy, size}};
    return true;
}

static int take_messages(const char *path, const json_t *array, struct dllm_message **out,
                         size_t *count)
{
    size_t size = json_array_size(array);

    if (size == 0)
        return cli_fail(CLI_FAILURE,
                        "\"%s\" must hold a JSON array of messages, such as [{\"role\": \"user\", "
                        "\"content\": \"Hello\"}]",
                        path);
    *out = calloc(size, sizeof **out);
    if (!*out)
        return cli_fail(CLI_FAILURE, "out of memory");
    for (*count = 0; *count < size; ++*count)
        if (!take_message(json_array_get(array, *count), &(*out)[*count]))
            return fail_shape(path, *count);
    return CLI_OK;
}

int prompt_read_messages(const char *path, struct dllm_message **out, size_t *count)
{
    struct dllm_text text = {0};
    struct dllm_string json = {path, strlen(path)};
    json_error_t where;
    json_t *array;
    bool inlined = path[0] == '[';
    const char *name = inlined ? "messages" : path;
    int code = inlined ? CLI_OK : prompt_read_file(path, &text);

    *out = NULL;
    *count = 0;
    if (code)
        return code;
    if (!inlined)
        json = prompt_without_mark(&text);
    array = json_loadb(json.data, json.size, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &where);
    dllm_text_free(&text);
    if (!array)
        return cli_fail(CLI_FAILURE, "\"%s\" is not valid JSON: line %d, column %d: %s", name,
                        where.line, where.column, where.text);
    code = take_messages(name, array, out, count);
    json_decref(array);
    return code;
}

void prompt_free_messages(struct dllm_message *messages, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free((char *)messages[i].content.data);
    free(messages);
}
