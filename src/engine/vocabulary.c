/* vocabulary.c: the tokenizer's arrays out of a GGUF file. */
#include "engine.h"

#include "gguf.h"

#include <stdlib.h>
#include <string.h>

#define KEY(name) "tokenizer.ggml." name

/* Arrays that live until the tokenizer has been built from them. */
struct arrays {
    struct dllm_string *tokens, *merges;
    int32_t *types;
};

static enum dllm_status check_model(const struct dllm_file *file, struct dllm_error *error)
{
    struct dllm_string model;

    TRY(gguf_get_string(file, KEY("model"), true, &model, error));
    if (model.size == 4 && memcmp(model.data, "gpt2", 4) == 0)
        return DLLM_OK;
    return status_fail(error, DLLM_ERROR_UNSUPPORTED,
                       "key " KEY("model") " is \"%.*s\"; only byte-level BPE, \"gpt2\", is "
                                           "supported",
                       (int)MIN(model.size, 40), model.data);
}

static enum dllm_status read_id(const struct dllm_file *file, const char *key, size_t token_count,
                                int32_t *out, struct dllm_error *error)
{
    int64_t id = -1;

    TRY(gguf_get_integer(file, key, false, 0, (int64_t)token_count - 1, &id, error));
    *out = (int32_t)id;
    return DLLM_OK;
}

static enum dllm_status read_types(const struct dllm_file *file, size_t token_count,
                                   struct arrays *arrays, struct dllm_error *error)
{
    size_t count = token_count;

    TRY(gguf_get_integers(file, KEY("token_type"), false, &arrays->types, &count, error));
    if (count == token_count)
        return DLLM_OK;
    return status_fail(error, DLLM_ERROR_FORMAT,
                       "key " KEY("token_type") " has %zu entries, but there are %zu tokens; equal "
                                                "numbers were expected",
                       count, token_count);
}

static enum dllm_status read_tokens(const struct dllm_file *file, struct arrays *arrays,
                                    struct vocabulary *out, struct dllm_error *error)
{
    TRY(gguf_get_strings(file, KEY("tokens"), true, &arrays->tokens, &out->token_count, error));
    if (out->token_count == 0 || out->token_count > INT32_MAX)
        return status_fail(error, DLLM_ERROR_FORMAT,
                           "key " KEY("tokens") " has %zu entries; from 1 to %d were expected",
                           out->token_count, INT32_MAX);
    out->tokens = arrays->tokens;
    TRY(read_types(file, out->token_count, arrays, error));
    out->types = arrays->types;
    TRY(gguf_get_strings(file, KEY("merges"), true, &arrays->merges, &out->merge_count, error));
    out->merges = arrays->merges;
    return DLLM_OK;
}

/* What the file's architecture masks with, if it is one that is built in. */
static enum dllm_status read_mask_token(const struct dllm_file *file, struct dllm_string *out,
                                        struct dllm_error *error)
{
    struct dllm_string name = {"", 0};
    const struct arch *arch;

    TRY(gguf_get_string(file, "general.architecture", false, &name, error));
    arch = arch_find(name);
    if (arch)
        *out = (struct dllm_string){arch->mask_token, strlen(arch->mask_token)};
    return DLLM_OK;
}

static enum dllm_status read_vocabulary(const struct dllm_file *file, struct arrays *arrays,
                                        struct vocabulary *out, struct dllm_error *error)
{
    TRY(check_model(file, error));
    TRY(gguf_get_string(file, KEY("pre"), true, &out->pretokenizer, error));
    TRY(read_tokens(file, arrays, out, error));
    TRY(read_id(file, KEY("bos_token_id"), out->token_count, &out->bos_id, error));
    TRY(read_id(file, KEY("eos_token_id"), out->token_count, &out->eos_id, error));
    TRY(read_id(file, KEY("eot_token_id"), out->token_count, &out->eot_id, error));
    TRY(read_id(file, KEY("mask_token_id"), out->token_count, &out->mask_id, error));
    TRY(read_mask_token(file, &out->mask_token, error));
    return gguf_get_bool(file, KEY("add_bos_token"), false, &out->add_bos, error);
}

enum dllm_status engine_load_tokenizer(const struct dllm_file *file, struct tokenizer **out,
                                       struct dllm_error *error)
{
    struct arrays arrays = {0};
    struct vocabulary vocabulary = {0};
    enum dllm_status status = read_vocabulary(file, &arrays, &vocabulary, error);

    if (status == DLLM_OK)
        status = tokenizer_create(&vocabulary, out, error);
    free(arrays.tokens);
    free(arrays.merges);
    free(arrays.types);
    return status;
}
