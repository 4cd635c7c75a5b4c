/*
 * example.c: all of a program that answers a prompt; dllm.h is enough for it.
 *
 *     cc -Iinclude docs/example.c build/libdllm.a -lpcre2-8 -lm -pthread -o example
 *     ./example MODEL.gguf "Your question"
 */
#include "dllm.h"

#include <stdio.h>
#include <string.h>

static int fail(const struct dllm_error *error)
{
    fprintf(stderr, "error: %s\n", error->message);
    return 1;
}

static int answer(struct dllm_engine *engine, struct dllm_session *session, const char *question,
                  struct dllm_error *error)
{
    struct dllm_message message = {"user", {question, strlen(question)}};
    struct dllm_generate_options options;
    struct dllm_result result;
    struct dllm_ids prompt;
    enum dllm_status status = dllm_encode_chat(engine, &message, 1, false, &prompt, error);

    if (status != DLLM_OK)
        return fail(error);
    dllm_generate_defaults(engine, true, &options);
    options.max_tokens = 32;
    status = dllm_generate(session, prompt.ids, prompt.count, &options, &result, error);
    dllm_ids_free(&prompt);
    if (status != DLLM_OK)
        return fail(error);
    fwrite(result.text.data, 1, result.text.size, stdout);
    putchar('\n');
    dllm_result_free(&result);
    return 0;
}

int main(int argc, char **argv)
{
    struct dllm_engine_options options = {.model_path = argc > 1 ? argv[1] : ""};
    struct dllm_session *session = NULL;
    struct dllm_engine *engine = NULL;
    struct dllm_error error;
    int status;

    if (argc != 3) {
        fprintf(stderr, "usage: %s MODEL.gguf QUESTION\n", argv[0]);
        return 2;
    }
    if (dllm_engine_open(&options, &engine, &error) != DLLM_OK)
        return fail(&error);
    if (dllm_session_create(engine, &session, &error) == DLLM_OK)
        status = answer(engine, session, argv[2], &error);
    else
        status = fail(&error);
    dllm_session_destroy(session);
    dllm_engine_close(engine);
    return status;
}
