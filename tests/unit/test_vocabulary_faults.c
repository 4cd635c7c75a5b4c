/* test_vocabulary_faults.c: vocabularies as a damaged or hostile file may give them. */
#include "test_vocabulary.h"
#include "tokenizer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

/* Creation must fail with that status and words in the message. */
static void refused(const struct vocabulary *vocabulary, enum dllm_status status, const char *words)
{
    struct tokenizer *tokenizer = NULL;
    struct dllm_error error;

    assert_int_equal(tokenizer_create(vocabulary, &tokenizer, &error), status);
    assert_null(tokenizer);
    assert_non_null(strstr(error.message, words));
    assert_int_equal(tokenizer_create(vocabulary, &tokenizer, NULL), status);
}

/* Breaks if an id outside the vocabulary is believed. */
static void ids_out_of_range(void **state)
{
    static const struct {
        const char *key;
        size_t offset;
    } ids[] = {{"bos_token_id", offsetof(struct vocabulary, bos_id)},
               {"eos_token_id", offsetof(struct vocabulary, eos_id)},
               {"eot_token_id", offsetof(struct vocabulary, eot_id)},
               {"mask_token_id", offsetof(struct vocabulary, mask_id)}};
    static const int32_t bad[] = {256, INT32_MAX, -2, INT32_MIN};
    struct test_vocabulary source;

    (void)state;
    test_vocabulary_small(&source, NULL, NULL, NULL);
    for (size_t i = 0; i < ARRAY_COUNT(ids); i++) {
        for (size_t k = 0; k < ARRAY_COUNT(bad); k++) {
            memcpy((char *)&source.vocabulary + ids[i].offset, &bad[k], sizeof bad[k]);
            refused(&source.vocabulary, DLLM_ERROR_FORMAT, ids[i].key);
        }
        memset((char *)&source.vocabulary + ids[i].offset, 0xFF, sizeof(int32_t));
    }
    test_vocabulary_free(&source);
}

/* Breaks if types outside the format's list, an empty vocabulary, an endless
 * special string or an unknown expression pass. */
static void other_faults(void **state)
{
    struct test_vocabulary source;
    char *endless = calloc(1002, 1);

    (void)state;
    memset(endless, '<', 1001);
    test_vocabulary_small(&source, NULL, (const char *const[]){endless, NULL}, NULL);
    refused(&source.vocabulary, DLLM_ERROR_FORMAT, "special token 256 is 1001 bytes long");
    source.types[256] = 0;
    refused(&source.vocabulary, DLLM_ERROR_FORMAT, "token 256 has type 0");
    source.types[256] = 7;
    refused(&source.vocabulary, DLLM_ERROR_FORMAT, "token 256 has type 7");
    source.types[256] = TOKEN_UNUSED;
    source.vocabulary.pretokenizer = (struct dllm_string){"gpt-2", 5};
    refused(&source.vocabulary, DLLM_ERROR_UNSUPPORTED, "\"gpt-2\"");
    source.vocabulary.pretokenizer = (struct dllm_string){NULL, 0};
    refused(&source.vocabulary, DLLM_ERROR_UNSUPPORTED, "\"\"");
    source.vocabulary.token_count = 0;
    refused(&source.vocabulary, DLLM_ERROR_FORMAT, "0 tokens");
    test_vocabulary_free(&source);
    free(endless);
}

static void check_he(const struct vocabulary *vocabulary, bool parse_special, int32_t expected)
{
    struct tokenizer *tokenizer;
    struct dllm_ids ids = {0};
    struct dllm_text text;

    assert_int_equal(tokenizer_create(vocabulary, &tokenizer, NULL), DLLM_OK);
    assert_int_equal(
        tokenizer_encode(tokenizer, (struct dllm_string){"he", 2}, parse_special, &ids, NULL),
        DLLM_OK);
    assert_int_equal(ids.count, 1);
    assert_int_equal(ids.ids[0], expected);
    assert_int_equal(tokenizer_decode(tokenizer, ids.ids, 1, true, &text, NULL), DLLM_OK);
    assert_string_equal(text.data, "he");
    dllm_text_free(&text);
    dllm_ids_free(&ids);
    tokenizer_destroy(tokenizer);
}

/* Breaks if repeated strings, empty ones, or no types at all do harm: of equal
 * tokens the first is used. */
static void odd_but_harmless(void **state)
{
    static const char *const rules[] = {"h e", "h e", NULL};
    struct test_vocabulary source;

    (void)state;
    test_vocabulary_small(&source, rules, (const char *const[]){"", "he", NULL}, NULL);
    check_he(&source.vocabulary, false, 256);
    check_he(&source.vocabulary, true, 259);
    source.types[256] = TOKEN_USER_DEFINED;
    check_he(&source.vocabulary, false, 256);
    source.types[256] = TOKEN_NORMAL;
    source.vocabulary.types = NULL;
    check_he(&source.vocabulary, true, 256);
    test_vocabulary_free(&source);
}

static uint32_t next_random(uint32_t *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 8;
}

/* A string of up to five bytes, of any kind or of letters and spaces. */
static struct dllm_string random_string(char *bytes, uint32_t *seed)
{
    const size_t size = next_random(seed) % 6;
    const bool letters = next_random(seed) % 4;

    for (size_t i = 0; i < size; i++)
        bytes[i] = letters ? "abc "[next_random(seed) % 4] : (char)(next_random(seed) % 256);
    return (struct dllm_string){bytes, size};
}

/* Breaks (under the sanitizers) if any mixture of tokens, types and merges makes
 * the tokenizer read or write where it must not, or ids leave the vocabulary. */
static void random_vocabularies(void **state)
{
    enum { TOKENS = 300, MERGES = 200 };
    static char bytes[TOKENS + MERGES + 1][8];
    static struct dllm_string tokens[TOKENS], merges[MERGES];
    static int32_t types[TOKENS];
    uint32_t seed = 3;
    int opened = 0;

    (void)state;
    for (int round = 0; round < 300; round++) {
        struct vocabulary vocabulary = {.tokens = tokens,
                                        .types = types,
                                        .token_count = 1 + next_random(&seed) % TOKENS,
                                        .merges = merges,
                                        .merge_count = next_random(&seed) % MERGES,
                                        .pretokenizer = {"bailingmoe", 10},
                                        .bos_id = -1,
                                        .eos_id = -1,
                                        .eot_id = -1,
                                        .mask_id = -1};
        struct tokenizer *tokenizer;

        for (int i = 0; i < TOKENS; i++) {
            tokens[i] = random_string(bytes[i], &seed);
            types[i] = TOKEN_NORMAL + (int32_t)(next_random(&seed) % (i % 8 ? 1 : 6));
        }
        for (int i = 0; i < MERGES; i++) {
            merges[i] = random_string(bytes[TOKENS + i], &seed);
            if (round % 8 &&
                (merges[i].size < 3 || !memchr(merges[i].data + 1, ' ', merges[i].size - 2)))
                merges[i] = (struct dllm_string){"a b", 3};
        }
        if (tokenizer_create(&vocabulary, &tokenizer, NULL))
            continue;
        opened++;
        for (int k = 0; k < 20; k++) {
            struct dllm_string text = random_string(bytes[TOKENS + MERGES], &seed);
            struct dllm_ids ids = {0};
            struct dllm_text back;

            if (tokenizer_encode(tokenizer, text, k % 2, &ids, NULL) == DLLM_OK) {
                assert_int_equal(tokenizer_decode(tokenizer, ids.ids, ids.count, true, &back, NULL),
                                 DLLM_OK);
                dllm_text_free(&back);
            }
            dllm_ids_free(&ids);
        }
        tokenizer_destroy(tokenizer);
    }
    assert_true(opened > 200);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ids_out_of_range),
        cmocka_unit_test(other_faults),
        cmocka_unit_test(odd_but_harmless),
        cmocka_unit_test(random_vocabularies),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
