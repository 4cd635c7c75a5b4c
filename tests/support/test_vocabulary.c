/* test_vocabulary.c: vocabularies for tests. */
#include "test_vocabulary.h"

#include "bytemap.h"
#include "gguf.h"
#include "utf8.h"

#include <stdlib.h>
#include <string.h>

static enum dllm_status read_id(const struct dllm_file *file, const char *key, int32_t *out,
                                struct dllm_error *error)
{
    int64_t id = -1;

    TRY(gguf_get_integer(file, key, false, -1, INT32_MAX, &id, error));
    *out = (int32_t)id;
    return DLLM_OK;
}

static enum dllm_status read_keys(struct test_vocabulary *out, struct dllm_error *error)
{
    struct vocabulary *vocabulary = &out->vocabulary;
    size_t types = 0;

    TRY(gguf_get_strings(out->file, "tokenizer.ggml.tokens", true, &out->tokens,
                         &vocabulary->token_count, error));
    TRY(gguf_get_strings(out->file, "tokenizer.ggml.merges", true, &out->merges,
                         &vocabulary->merge_count, error));
    TRY(gguf_get_integers(out->file, "tokenizer.ggml.token_type", true, &out->types, &types,
                          error));
    if (types != vocabulary->token_count)
        return status_fail(error, DLLM_ERROR_FORMAT, "%zu types for %zu tokens", types,
                           vocabulary->token_count);
    TRY(gguf_get_string(out->file, "tokenizer.ggml.pre", true, &vocabulary->pretokenizer, error));
    TRY(gguf_get_bool(out->file, "tokenizer.ggml.add_bos_token", false, &vocabulary->add_bos,
                      error));
    TRY(read_id(out->file, "tokenizer.ggml.bos_token_id", &vocabulary->bos_id, error));
    TRY(read_id(out->file, "tokenizer.ggml.eos_token_id", &vocabulary->eos_id, error));
    TRY(read_id(out->file, "tokenizer.ggml.eot_token_id", &vocabulary->eot_id, error));
    return read_id(out->file, "tokenizer.ggml.mask_token_id", &vocabulary->mask_id, error);
}

const char *test_vocabulary_open(const char *path, struct test_vocabulary *out)
{
    static struct dllm_error error;

    *out = (struct test_vocabulary){0};
    if (dllm_file_open(path, &out->file, &error) || read_keys(out, &error)) {
        test_vocabulary_free(out);
        return error.message;
    }
    out->vocabulary.tokens = out->tokens;
    out->vocabulary.types = out->types;
    out->vocabulary.merges = out->merges;
    return NULL;
}

static size_t length_of(const char *const *list)
{
    size_t count = 0;

    while (list && list[count])
        count++;
    return count;
}

static void add_tokens(struct test_vocabulary *out, const char *const *list, enum token_type type)
{
    struct vocabulary *vocabulary = &out->vocabulary;

    for (size_t i = 0; list && list[i]; i++) {
        out->types[vocabulary->token_count] = type;
        out->tokens[vocabulary->token_count++] = (struct dllm_string){list[i], strlen(list[i])};
    }
}

/* The token of a merge is its rule without the space. */
static void add_merge(struct test_vocabulary *out, const char *rule, char *joined)
{
    struct vocabulary *vocabulary = &out->vocabulary;
    const size_t size = strlen(rule), left = (size_t)(strchr(rule, ' ') - rule);

    memcpy(joined, rule, left);
    memcpy(joined + left, rule + left + 1, size - left - 1);
    out->types[vocabulary->token_count] = TOKEN_NORMAL;
    out->tokens[vocabulary->token_count++] = (struct dllm_string){joined, size - 1};
    out->merges[vocabulary->merge_count++] = (struct dllm_string){rule, size};
}

void test_vocabulary_small(struct test_vocabulary *out, const char *const *merges,
                           const char *const *control, const char *const *user_defined)
{
    const size_t merge_count = length_of(merges);
    const size_t count = 256 + merge_count + length_of(control) + length_of(user_defined);
    size_t used = 0, bytes = 256 * 4;
    struct vocabulary *vocabulary = &out->vocabulary;

    *out = (struct test_vocabulary){0};
    for (size_t i = 0; i < merge_count; i++)
        bytes += strlen(merges[i]);
    out->tokens = calloc(count, sizeof *out->tokens);
    out->types = calloc(count, sizeof *out->types);
    out->merges = calloc(merge_count + 1, sizeof *out->merges);
    out->bytes = malloc(bytes);
    if (!out->tokens || !out->types || !out->merges || !out->bytes)
        abort();
    for (int byte = 0; byte < 256; byte++) {
        char *text = out->bytes + used;
        size_t size = (size_t)utf8_write(bytemap_code_point((uint8_t)byte), text);

        out->types[vocabulary->token_count] = TOKEN_NORMAL;
        out->tokens[vocabulary->token_count++] = (struct dllm_string){text, size};
        used += size;
    }
    for (size_t i = 0; i < merge_count; i++) {
        add_merge(out, merges[i], out->bytes + used);
        used += strlen(merges[i]);
    }
    add_tokens(out, control, TOKEN_CONTROL);
    add_tokens(out, user_defined, TOKEN_USER_DEFINED);
    vocabulary->tokens = out->tokens;
    vocabulary->types = out->types;
    vocabulary->merges = out->merges;
    vocabulary->pretokenizer = (struct dllm_string){"qwen2", 5};
    vocabulary->bos_id = vocabulary->eos_id = vocabulary->eot_id = vocabulary->mask_id = -1;
}

void test_vocabulary_free(struct test_vocabulary *vocabulary)
{
    free(vocabulary->tokens);
    free(vocabulary->merges);
    free(vocabulary->types);
    free(vocabulary->bytes);
    dllm_file_close(vocabulary->file);
    *vocabulary = (struct test_vocabulary){0};
}
