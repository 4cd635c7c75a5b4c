/*
 * fuzz_model.c: whole models: opened, described, asked for an answer in two steps.
 * What opens must answer, or fail with a message.
 */
#include "dllm.h"
#include "fuzz.h"
#include "gguf_mutate.h"

#include <string.h>
#include <unistd.h>

/* A hostile file may be large in numbers without being large itself. */
enum { WORKSPACE_MOST = 64 << 20 };

static void generate(struct dllm_engine *engine)
{
    struct dllm_generate_options settings;
    struct dllm_session *session;
    struct dllm_result result = {0};
    struct dllm_error error = {.status = DLLM_OK};
    struct dllm_ids prompt;

    if (dllm_encode(engine, (struct dllm_string){"a b", 3}, 0, &prompt, &error) != DLLM_OK)
        return;
    dllm_generate_defaults(engine, false, &settings);
    settings.max_tokens = 4;
    settings.steps = 2;
    settings.block_length = 0;
    settings.allow_long = true;
    fuzz_require(dllm_session_create(engine, &session, &error) == DLLM_OK, "no session");
    if (dllm_generate(session, prompt.ids, prompt.count, &settings, &result, &error) != DLLM_OK)
        fuzz_require(error.status != DLLM_OK && error.message[0], "a failure without a message");
    else
        fuzz_require(result.ids.count == 4, "an answer of another length");
    dllm_result_free(&result);
    dllm_session_destroy(session);
    dllm_ids_free(&prompt);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[FUZZ_PATH_BYTES];
    int descriptor = fuzz_file(data, size, path);
    struct dllm_engine_options options = {.model_path = path, .threads = 1};
    struct dllm_engine *engine = NULL;
    struct dllm_error error = {.status = DLLM_OK};
    struct dllm_model_info info;

    if (dllm_engine_open(&options, &engine, &error) == DLLM_OK) {
        dllm_engine_info(engine, &info);
        if (dllm_engine_workspace_bytes(engine, 8, 4) <= WORKSPACE_MOST)
            generate(engine);
    } else {
        fuzz_require(error.status != DLLM_OK && error.message[0], "a failure without a message");
    }
    dllm_engine_close(engine);
    close(descriptor);
    return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t limit, unsigned seed)
{
    return gguf_mutate(data, size, limit, seed);
}
