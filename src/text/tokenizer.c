/* tokenizer.c: builds a tokenizer from a vocabulary and answers questions about its tokens. */
#include "tokenizer_parts.h"

#include <stdlib.h>
#include <string.h>

/* The strings to look for when the file names no id, first come first served. */
static const char *const eot_strings[] = {"<|eot_id|>", "<|im_end|>", "<|role_end|>"};
static const char *const mask_strings[] = {"<|mdm_mask|>", "<|mask|>"};

static enum dllm_status check_id(const struct vocab *vocab, const char *key, int32_t id,
                                 struct dllm_error *error)
{
    if (id >= -1 && id < (int64_t)vocab->token_count)
        return DLLM_OK;
    return status_fail(error, DLLM_ERROR_FORMAT,
                       "%s is %d but the vocabulary has %u tokens; expected 0 to %u: the file is "
                       "damaged, convert it again",
                       key, id, vocab->token_count, vocab->token_count - 1);
}

/* The first of the strings that the vocabulary has as a control token, -1: none. */
static int32_t find_control(const struct vocab *vocab, const char *const *strings, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct vocab_key key = vocab_key_of((struct dllm_string){strings[i], strlen(strings[i])});
        int32_t id = vocab_find(vocab, &key);

        if (id >= 0 && vocab->types[id] == TOKEN_CONTROL)
            return id;
    }
    return -1;
}

/* The token that the model's architecture masks with, of whatever type. */
static int32_t find_mask(const struct vocab *vocab, struct dllm_string text)
{
    struct vocab_key key = vocab_key_of(text);
    int32_t id = text.data ? vocab_find(vocab, &key) : -1;

    return id < (int64_t)vocab->token_count ? id : -1;
}

/* So that no text becomes them unless it is asked to. */
static void make_control(struct tokenizer *tokenizer)
{
    const struct tokenizer_specials *ids = &tokenizer->ids;
    const int32_t special[] = {ids->bos_id, ids->eos_id, ids->eot_id, ids->mask_id};

    for (size_t i = 0; i < ARRAY_COUNT(special); i++)
        if (special[i] >= 0)
            vocab_make_control(&tokenizer->vocab, special[i]);
}

static enum dllm_status set_special_ids(struct tokenizer *tokenizer,
                                        const struct vocabulary *source, struct dllm_error *error)
{
    const struct vocab *vocab = &tokenizer->vocab;
    struct tokenizer_specials *ids = &tokenizer->ids;

    TRY(check_id(vocab, "tokenizer.ggml.bos_token_id", source->bos_id, error));
    TRY(check_id(vocab, "tokenizer.ggml.eos_token_id", source->eos_id, error));
    TRY(check_id(vocab, "tokenizer.ggml.eot_token_id", source->eot_id, error));
    TRY(check_id(vocab, "tokenizer.ggml.mask_token_id", source->mask_id, error));
    *ids = (struct tokenizer_specials){source->bos_id, source->eos_id, source->eot_id,
                                       source->mask_id, source->add_bos};
    if (ids->eot_id < 0)
        ids->eot_id = find_control(vocab, eot_strings, ARRAY_COUNT(eot_strings));
    if (ids->mask_id < 0)
        ids->mask_id = find_control(vocab, mask_strings, ARRAY_COUNT(mask_strings));
    if (ids->mask_id < 0)
        ids->mask_id = find_mask(vocab, source->mask_token);
    make_control(tokenizer);
    return DLLM_OK;
}

enum dllm_status tokenizer_create(const struct vocabulary *vocabulary, struct tokenizer **out,
                                  struct dllm_error *error)
{
    struct tokenizer *tokenizer = calloc(1, sizeof *tokenizer);
    enum dllm_status status;

    if (!tokenizer)
        return status_no_memory(error, sizeof *tokenizer);
    TRY_GOTO(vocab_init(vocabulary, &tokenizer->vocab, error));
    TRY_GOTO(set_special_ids(tokenizer, vocabulary, error));
    TRY_GOTO(specials_init(&tokenizer->vocab, &tokenizer->special_strings, error));
    TRY_GOTO(pretok_create(vocabulary->pretokenizer, &tokenizer->pretok, error));
    TRY_GOTO(merges_init(vocabulary->merges, vocabulary->merge_count, &tokenizer->vocab,
                         &tokenizer->merges, error));
    *out = tokenizer;
    return DLLM_OK;
fail:
    tokenizer_destroy(tokenizer);
    return status;
}

void tokenizer_destroy(struct tokenizer *tokenizer)
{
    if (!tokenizer)
        return;
    merges_free(&tokenizer->merges);
    pretok_destroy(tokenizer->pretok);
    specials_free(&tokenizer->special_strings);
    vocab_free(&tokenizer->vocab);
    free(tokenizer);
}

int32_t tokenizer_find(const struct tokenizer *tokenizer, struct dllm_string text)
{
    const struct vocab_key key = vocab_key_of(text);
    const int32_t symbol = vocab_find(&tokenizer->vocab, &key);

    return symbol < (int64_t)tokenizer->vocab.token_count ? symbol : -1;
}

size_t tokenizer_size(const struct tokenizer *tokenizer)
{
    return tokenizer->vocab.token_count;
}

enum token_type tokenizer_type(const struct tokenizer *tokenizer, int32_t id)
{
    return (enum token_type)tokenizer->vocab.types[id];
}

struct tokenizer_specials tokenizer_specials(const struct tokenizer *tokenizer)
{
    return tokenizer->ids;
}
