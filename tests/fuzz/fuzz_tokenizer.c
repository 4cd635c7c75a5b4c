/*
 * fuzz_tokenizer.c: text to ids and back, with three vocabularies. The first byte
 * chooses one and whether control strings count; the rest is the text.
 *
 * Whatever the text: its ids decode to it again, and without the control strings'
 * meaning there is no control id among them.
 */
#include "fuzz.h"
#include "test_paths.h"
#include "test_vocabulary.h"

#include <string.h>

enum { VOCABULARIES = 3 };

static struct tokenizer *open_tokenizer(int index)
{
    static const char *const models[VOCABULARIES] = {"tests/data/models/llada-Q4_K_M.gguf",
                                                     "tests/data/models/dream-Q4_K_M.gguf", NULL};
    static const char *const control[] = {"<|eot_id|>", "<role>", "<|mask|>", NULL};
    static const char *const defined[] = {"<think>", "  ", NULL};
    static const char *const merges[] = {"t h", "th e", "\xc4\xa0 the", "< |", NULL};
    static struct test_vocabulary sources[VOCABULARIES];
    static struct tokenizer *tokenizers[VOCABULARIES];

    if (tokenizers[index])
        return tokenizers[index];
    if (models[index]) {
        fuzz_require(!test_vocabulary_open(models[index], &sources[index]), "no vocabulary");
    } else {
        test_vocabulary_small(&sources[index], merges, control, defined);
        sources[index].vocabulary.pretokenizer = (struct dllm_string){"seed-coder", 10};
    }
    fuzz_require(tokenizer_create(&sources[index].vocabulary, &tokenizers[index], NULL) == DLLM_OK,
                 "no tokenizer");
    return tokenizers[index];
}

static void check_ids(const struct tokenizer *tokenizer, const struct dllm_ids *ids,
                      bool parse_special, struct dllm_string text)
{
    struct dllm_text back;

    for (size_t i = 0; i < ids->count && !parse_special; i++)
        fuzz_require(tokenizer_type(tokenizer, ids->ids[i]) != TOKEN_CONTROL,
                     "a control id from text");
    fuzz_require(tokenizer_decode(tokenizer, ids->ids, ids->count, true, &back, NULL) == DLLM_OK,
                 "ids of a text that cannot be decoded");
    fuzz_require(back.size == text.size && memcmp(back.data, text.data, text.size) == 0,
                 "a text that does not come back");
    dllm_text_free(&back);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct tokenizer *tokenizer;
    struct dllm_ids ids = {0};
    struct dllm_string text;
    bool parse_special;

    if (size == 0)
        return 0;
    tokenizer = open_tokenizer(data[0] / 2 % VOCABULARIES);
    parse_special = data[0] % 2;
    text = (struct dllm_string){(const char *)data + 1, size - 1};
    if (tokenizer_encode(tokenizer, text, parse_special, &ids, NULL) == DLLM_OK && text.size)
        check_ids(tokenizer, &ids, parse_special, text);
    dllm_ids_free(&ids);
    return 0;
}
