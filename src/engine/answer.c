/* answer.c: cuts the answer out of a generated region. */
#include "answer.h"

#include <string.h>

/* Offset of the first stop string in text, text's size if there is none. */
static size_t find_stop(const struct answer_source *source, const struct dllm_text *text)
{
    size_t first = text->size;

    for (size_t i = 0; i < source->stop_count; i++) {
        const struct dllm_string *stop = &source->stop[i];
        const char *at = text->size ? memmem(text->data, text->size, stop->data, stop->size) : NULL;
        if (at && (size_t)(at - text->data) < first)
            first = (size_t)(at - text->data);
    }
    return first;
}

/* Number of tokens that print the first `size` bytes. */
static enum dllm_status count_tokens(const struct answer_source *source, size_t size, int *tokens,
                                     struct dllm_error *error)
{
    size_t printed = 0;

    for (*tokens = 0; printed < size && *tokens < source->count; ++*tokens) {
        struct dllm_text piece = {0};
        TRY(tokenizer_decode(source->tokenizer, source->region + *tokens, 1, false, &piece, error));
        printed += piece.size;
        dllm_text_free(&piece);
    }
    return DLLM_OK;
}

enum dllm_status answer_build(const struct answer_source *source, struct answer *out,
                              struct dllm_error *error)
{
    enum dllm_status status;
    size_t cut;

    *out = (struct answer){0};
    out->tokens = denoise_answer_length(source->model, source->region, source->count, &out->ended);
    TRY(tokenizer_decode(source->tokenizer, source->region, (size_t)out->tokens, false, &out->text,
                         error));
    cut = find_stop(source, &out->text);
    if (cut == out->text.size)
        return DLLM_OK;
    out->ended = false;
    out->stopped = true;
    out->text.size = cut;
    out->text.data[cut] = 0;
    TRY_GOTO(count_tokens(source, cut, &out->tokens, error));
    return DLLM_OK;
fail:
    dllm_text_free(&out->text);
    return status;
}
