/*
 * fuzz_vocabulary.c: vocabularies as a hostile file may give them. The input is
 * cut at zero bytes: flags (four bytes), then tokens (the first byte is the type),
 * up to an empty piece; then merges, up to an empty piece; then text.
 */
#include "fuzz.h"
#include "tokenizer.h"

#include <stdlib.h>
#include <string.h>

enum { PIECES_MOST = 2000 };

struct input {
    const uint8_t *at, *end;
};

/* Up to the next zero byte. */
static struct dllm_string next_piece(struct input *input)
{
    const uint8_t *zero = memchr(input->at, 0, (size_t)(input->end - input->at));
    struct dllm_string piece = {(const char *)input->at,
                                (size_t)((zero ? zero : input->end) - input->at)};

    input->at = zero ? zero + 1 : input->end;
    return piece;
}

/* Pieces up to an empty one; with types their first byte is one. */
static size_t read_pieces(struct input *input, struct dllm_string *pieces, int32_t *types)
{
    size_t count = 0;

    while (count < PIECES_MOST && input->at < input->end) {
        struct dllm_string piece = next_piece(input);

        if (piece.size == 0)
            break;
        if (types) {
            types[count] = piece.data[0] & 7;
            piece = (struct dllm_string){piece.data + 1, piece.size - 1};
        }
        pieces[count++] = piece;
    }
    return count;
}

static void use(const struct tokenizer *tokenizer, struct dllm_string text, bool parse_special)
{
    struct dllm_ids ids = {0};
    struct dllm_text back;

    if (tokenizer_encode(tokenizer, text, parse_special, &ids, NULL) == DLLM_OK) {
        for (size_t i = 0; i < ids.count; i++) {
            fuzz_require(ids.ids[i] >= 0 && (size_t)ids.ids[i] < tokenizer_size(tokenizer),
                         "an id outside the vocabulary");
            fuzz_require(parse_special || tokenizer_type(tokenizer, ids.ids[i]) != TOKEN_CONTROL,
                         "a control id from text");
            fuzz_require(parse_special || ids.ids[i] != tokenizer_specials(tokenizer).mask_id,
                         "a mask from text");
        }
        fuzz_require(tokenizer_decode(tokenizer, ids.ids, ids.count, true, &back, NULL) == DLLM_OK,
                     "ids of a text that cannot be decoded");
        dllm_text_free(&back);
    }
    dllm_ids_free(&ids);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const names[] = {"qwen2", "bailingmoe", "llada-moe", "seed-coder"};
    static struct dllm_string tokens[PIECES_MOST], merges[PIECES_MOST];
    static int32_t types[PIECES_MOST];
    struct input input = {data + 4, data + size};
    struct vocabulary vocabulary = {.tokens = tokens, .types = types, .merges = merges};
    struct tokenizer *tokenizer;

    if (size < 5)
        return 0;
    vocabulary.token_count = read_pieces(&input, tokens, types);
    vocabulary.merge_count = read_pieces(&input, merges, NULL);
    vocabulary.pretokenizer = (struct dllm_string){names[data[0] % 4], strlen(names[data[0] % 4])};
    vocabulary.bos_id = (int8_t)data[1];
    vocabulary.eos_id = (int8_t)data[2];
    vocabulary.eot_id = -1;
    vocabulary.mask_id = (int8_t)data[3];
    if (tokenizer_create(&vocabulary, &tokenizer, NULL) != DLLM_OK)
        return 0;
    use(tokenizer, (struct dllm_string){(const char *)input.at, (size_t)(input.end - input.at)},
        data[0] & 128);
    tokenizer_destroy(tokenizer);
    return 0;
}
