/*
 * tokenizer_encode.c: text to ids. Special strings are taken out first; what is
 * between them is cut into pieces, and each piece goes through BPE.
 */
#include "bpe.h"
#include "tokenizer_parts.h"

#include <stdlib.h>
#include <string.h>

/* One call of tokenizer_encode. */
struct encoding {
    const struct tokenizer *tokenizer;
    struct pretok_walk *walk;
    struct bpe_work *work;
    struct bpe_ids ids;
};

static enum dllm_status encode_plain(struct encoding *encoding, struct dllm_string text,
                                     struct dllm_error *error)
{
    struct dllm_string piece;

    pretok_walk_start(encoding->walk, text);
    for (;;) {
        TRY(pretok_walk_next(encoding->walk, &piece, error));
        if (piece.size == 0)
            return DLLM_OK;
        TRY(bpe_encode(encoding->work, piece, &encoding->ids, error));
    }
}

static enum dllm_status encode_all(struct encoding *encoding, struct dllm_string text,
                                   bool parse_special, struct dllm_error *error)
{
    const struct tokenizer *tokenizer = encoding->tokenizer;
    size_t from = 0;

    while (from < text.size) {
        size_t at = from, end = from;
        int32_t id = specials_next(&tokenizer->special_strings, tokenizer->vocab.types, text,
                                   parse_special, &at, &end);

        TRY(encode_plain(encoding, (struct dllm_string){text.data + from, at - from}, error));
        if (id < 0)
            break;
        TRY(bpe_ids_reserve(&encoding->ids, 1, error));
        encoding->ids.ids[encoding->ids.count++] = id;
        from = end;
    }
    return DLLM_OK;
}

/* Appends count ids at once. */
static enum dllm_status append(const int32_t *ids, size_t count, struct dllm_ids *out,
                               struct dllm_error *error)
{
    const size_t size = (out->count + count) * sizeof *ids;
    int32_t *grown;

    if (count == 0)
        return DLLM_OK;
    grown = realloc(out->ids, size);
    if (!grown)
        return status_no_memory(error, size);
    memcpy(grown + out->count, ids, count * sizeof *ids);
    out->ids = grown;
    out->count += count;
    return DLLM_OK;
}

enum dllm_status tokenizer_append(int32_t id, struct dllm_ids *out, struct dllm_error *error)
{
    return append(&id, 1, out, error);
}

enum dllm_status tokenizer_encode(const struct tokenizer *tokenizer, struct dllm_string text,
                                  bool parse_special, struct dllm_ids *out,
                                  struct dllm_error *error)
{
    struct encoding encoding = {.tokenizer = tokenizer};
    enum dllm_status status;

    TRY_GOTO(pretok_walk_create(tokenizer->pretok, &encoding.walk, error));
    TRY_GOTO(
        bpe_work_create(&tokenizer->vocab, &tokenizer->merges, text.size, &encoding.work, error));
    TRY_GOTO(encode_all(&encoding, text, parse_special, error));
    TRY_GOTO(append(encoding.ids.ids, encoding.ids.count, out, error));
fail:
    free(encoding.ids.ids);
    bpe_work_destroy(encoding.work);
    pretok_walk_destroy(encoding.walk);
    return status;
}

int32_t tokenizer_next_special(const struct tokenizer *tokenizer, struct dllm_string text,
                               size_t *at)
{
    size_t end = *at;
    int32_t id =
        specials_next(&tokenizer->special_strings, tokenizer->vocab.types, text, true, at, &end);

    *at = id >= 0 ? end : text.size;
    return id;
}
