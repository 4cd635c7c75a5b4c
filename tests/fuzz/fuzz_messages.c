/*
 * fuzz_messages.c: conversations as JSON, put into the templates of two models.
 *
 * Whatever the messages say: there are exactly as many control ids as in a
 * conversation of the same roles that says nothing, and no mask.
 */
#include "dllm.h"
#include "fuzz.h"
#include "prompt.h"
#include "tokenizer.h"

#include "engine.h"

#include <stdlib.h>
#include <string.h>

static size_t count_controls(const struct dllm_engine *engine, const struct dllm_ids *ids)
{
    struct dllm_model_info info;
    size_t count = 0;

    dllm_engine_info(engine, &info);
    for (size_t i = 0; i < ids->count; i++) {
        fuzz_require(ids->ids[i] != info.mask_id, "a mask from text");
        count += tokenizer_type(engine->tokenizer, ids->ids[i]) == TOKEN_CONTROL;
    }
    return count;
}

static void check(const struct dllm_engine *engine, struct dllm_message *messages, size_t count)
{
    struct dllm_ids said, empty;

    fuzz_require(dllm_encode_chat(engine, messages, count, false, &said, NULL) == DLLM_OK,
                 "messages that cannot be encoded");
    for (size_t i = 0; i < count; i++) {
        free((char *)messages[i].content.data);
        messages[i].content = (struct dllm_string){NULL, 0};
    }
    fuzz_require(dllm_encode_chat(engine, messages, count, false, &empty, NULL) == DLLM_OK,
                 "empty messages that cannot be encoded");
    fuzz_require(count_controls(engine, &said) == count_controls(engine, &empty),
                 "a control id from text");
    dllm_ids_free(&said);
    dllm_ids_free(&empty);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct dllm_engine *engines[2];
    struct dllm_message *messages;
    size_t count;
    char *text;

    fuzz_silence_stderr();
    if (!engines[0]) {
        engines[0] = fuzz_text_engine("tests/data/models/llada-Q4_K_M.gguf");
        engines[1] = fuzz_text_engine("tests/data/models/dream-Q4_K_M.gguf");
    }
    if (size == 0 || data[0] != '[') /* else it is the name of a file */
        return 0;
    text = malloc(size + 1);
    fuzz_require(text != NULL, "out of memory");
    memcpy(text, data, size);
    text[size] = 0;
    if (prompt_read_messages(text, &messages, &count) == 0)
        check(engines[size % 2], messages, count);
    prompt_free_messages(messages, count);
    free(text);
    return 0;
}
