/*
 * test_bpe.c: merging, against a plain definition of it that works on strings
 * and looks through all pairs for every merge.
 */
#include "bpe.h"
#include "test_vocabulary.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The length of long runs; instrumented code is ten times slower. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { RUN_BYTES = 1000 * 1000 };
#else
enum { RUN_BYTES = 10 * 1000 * 1000 };
#endif

struct coder {
    struct vocab vocab;
    struct merges merges;
    struct bpe_work *work;
};

static void coder_open(struct coder *coder, const struct vocabulary *source)
{
    assert_int_equal(vocab_init(source, &coder->vocab, NULL), DLLM_OK);
    assert_int_equal(
        merges_init(source->merges, source->merge_count, &coder->vocab, &coder->merges, NULL),
        DLLM_OK);
    assert_int_equal(bpe_work_create(&coder->vocab, &coder->merges, 1 << 20, &coder->work, NULL),
                     DLLM_OK);
}

static void coder_close(struct coder *coder)
{
    bpe_work_destroy(coder->work);
    merges_free(&coder->merges);
    vocab_free(&coder->vocab);
}

static struct bpe_ids encode(struct coder *coder, const char *data, size_t size)
{
    struct bpe_ids ids = {0};

    assert_int_equal(bpe_encode(coder->work, (struct dllm_string){data, size}, &ids, NULL),
                     DLLM_OK);
    return ids;
}

/* Ids of text must be those of the tokens named, bars between. Encoded twice:
 * the second time from memory. */
static void check(struct coder *coder, const char *text, const char *expected)
{
    for (int turn = 0; turn < 2; turn++) {
        struct bpe_ids ids = encode(coder, text, strlen(text));
        char got[400] = "";

        for (size_t i = 0; i < ids.count; i++) {
            struct dllm_string token = coder->vocab.strings[ids.ids[i]];

            strcat(got, i ? "|" : "");
            strncat(got, token.data, token.size);
        }
        assert_string_equal(got, expected);
        free(ids.ids);
    }
}

/* Breaks if a later rule wins over an earlier one, or the right pair over the
 * left one of equal rank. */
static void lowest_rank_first_leftmost_on_ties(void **state)
{
    static const char *const rules[] = {"b c", "a b", "ab c", "a a", "aa a", "aa aa", NULL};
    struct test_vocabulary source;
    struct coder coder;

    (void)state;
    test_vocabulary_small(&source, rules, NULL, NULL);
    coder_open(&coder, &source.vocabulary);
    check(&coder, "", "");
    check(&coder, "x", "x");
    check(&coder, "abc", "a|bc");
    check(&coder, "ab", "ab");
    check(&coder, "aaa", "aaa");
    check(&coder, "aaaa", "aaaa");
    check(&coder, "aaaaa", "aa|aaa");
    check(&coder, "aabbc", "a|ab|bc");
    coder_close(&coder);
    test_vocabulary_free(&source);
}

/* Breaks if a merge that gives no token stops later merges, or is printed as
 * anything but the tokens of its bytes. */
static void results_that_are_no_tokens(void **state)
{
    static const char *const rules[] = {"a b", "ab c", "d e", "d e", NULL};
    struct test_vocabulary source;
    struct coder coder;

    (void)state;
    test_vocabulary_small(&source, rules, NULL, NULL);
    source.tokens[256].data = "!";
    source.tokens[256].size = 0;
    source.types[258] = TOKEN_CONTROL;
    source.types[259] = TOKEN_CONTROL;
    coder_open(&coder, &source.vocabulary);
    check(&coder, "ab", "a|b");
    check(&coder, "abc", "abc");
    check(&coder, "xabx", "x|a|b|x");
    /* A control token never comes out of plain text. */
    check(&coder, "de", "d|e");
    coder_close(&coder);
    test_vocabulary_free(&source);
}

/* Breaks if rules that repeat, cannot apply or are odd do any harm. */
static void odd_rules_are_harmless(void **state)
{
    struct dllm_string rules[] = {{"zz y", 4}, {"b a", 3},   {"a b c", 5},    {"  ", 2 + 1},
                                  {"b a", 3},  {"a\0 b", 4}, {"\xFF \xFE", 3}};
    struct test_vocabulary source;
    struct coder coder;

    (void)state;
    test_vocabulary_small(&source, NULL, NULL, NULL);
    source.vocabulary.merges = rules;
    source.vocabulary.merge_count = 3;
    coder_open(&coder, &source.vocabulary);
    check(&coder, "zzyba", "z|z|y|b|a");
    coder_close(&coder);
    rules[3] = (struct dllm_string){"c  d", 4};
    source.vocabulary.merge_count = 7;
    coder_open(&coder, &source.vocabulary);
    check(&coder, "zzyba", "z|z|y|b|a");
    coder_close(&coder);
    test_vocabulary_free(&source);
}

/* Breaks if a rule of one part passes, or the message does not say which. */
static void rules_without_two_parts_are_refused(void **state)
{
    static const char *const bad[] = {"", " ", "ab", "a ", " a", "  "};
    struct test_vocabulary source;
    struct vocab vocab;
    struct merges merges;
    struct dllm_error error;

    (void)state;
    test_vocabulary_small(&source, NULL, NULL, NULL);
    assert_int_equal(vocab_init(&source.vocabulary, &vocab, NULL), DLLM_OK);
    for (size_t i = 0; i < ARRAY_COUNT(bad); i++) {
        struct dllm_string rules[] = {{"a b", 3}, {bad[i], strlen(bad[i])}};

        assert_int_equal(merges_init(rules, 2, &vocab, &merges, &error), DLLM_ERROR_FORMAT);
        assert_non_null(strstr(error.message, "merge 1 "));
    }
    vocab_free(&vocab);
    test_vocabulary_free(&source);
}

/* Breaks if a missing byte goes unnoticed, or <0x41> tokens do not stand in. */
static void bytes_without_a_token(void **state)
{
    struct test_vocabulary source;
    struct coder coder;
    struct bpe_ids ids = {0};
    struct dllm_error error;

    (void)state;
    test_vocabulary_small(&source, NULL, (const char *const[]){"<0x42>", NULL}, NULL);
    source.types['A'] = TOKEN_UNUSED;
    source.types['B'] = TOKEN_UNUSED;
    source.types[256] = TOKEN_BYTE;
    coder_open(&coder, &source.vocabulary);
    check(&coder, "B", "<0x42>");
    assert_int_equal(bpe_encode(coder.work, (struct dllm_string){"CAB", 3}, &ids, &error),
                     DLLM_ERROR_FORMAT);
    assert_non_null(strstr(error.message, "0x41"));
    free(ids.ids);
    coder_close(&coder);
    test_vocabulary_free(&source);
}

enum { LETTERS = 3, RULES = 60, LONGEST = 400 };

static uint32_t next_random(uint32_t *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 8;
}

/* Symbols as strings: the definition of BPE. */
struct plain {
    char symbols[LONGEST][LONGEST + 1];
    int count;
};

static int rank_of(const char rules[RULES][64], const char *left, const char *right)
{
    char pair[2 * LONGEST + 2];

    snprintf(pair, sizeof pair, "%s %s", left, right);
    for (int i = 0; i < RULES; i++)
        if (!strcmp(rules[i], pair))
            return i;
    return RULES;
}

static void merge_plainly(const char rules[RULES][64], const char *text, struct plain *out)
{
    out->count = (int)strlen(text);
    for (int i = 0; i < out->count; i++)
        snprintf(out->symbols[i], 2, "%c", text[i]);
    for (;;) {
        int best = RULES, at = -1;

        for (int i = 0; i + 1 < out->count; i++) {
            int rank = rank_of(rules, out->symbols[i], out->symbols[i + 1]);

            if (rank < best) {
                best = rank;
                at = i;
            }
        }
        if (at < 0)
            return;
        memcpy(out->symbols[at] + strlen(out->symbols[at]), out->symbols[at + 1],
               strlen(out->symbols[at + 1]) + 1);
        memmove(out->symbols[at + 1], out->symbols[at + 2],
                (size_t)(out->count - at - 2) * sizeof *out->symbols);
        out->count--;
    }
}

/* Rules in an order that no training gives: a long symbol's may come before
 * those of its parts, so that a merge can make an earlier rule apply. With few
 * letters several rules give the same symbol. */
static void make_rules(char rules[RULES][64], unsigned letters, uint32_t *seed)
{
    for (int i = 0; i < RULES; i++) {
        char sides[2][32];

        for (int s = 0; s < 2; s++) {
            int length = 1 + (int)(next_random(seed) % (i < RULES / 3 ? 3 : 2));

            for (int k = 0; k < length; k++)
                sides[s][k] = (char)('a' + next_random(seed) % letters);
            sides[s][length] = '\0';
        }
        snprintf(rules[i], sizeof rules[i], "%s %s", sides[0], sides[1]);
    }
}

static void compare_with_definition(struct coder *coder, const char rules[RULES][64],
                                    const char *text, struct plain *plain)
{
    struct bpe_ids ids = encode(coder, text, strlen(text));
    size_t at = 0;

    merge_plainly(rules, text, plain);
    for (int i = 0; i < plain->count; i++) {
        const char *symbol = plain->symbols[i];
        struct vocab_key key = vocab_key_of((struct dllm_string){symbol, strlen(symbol)});
        int32_t id = vocab_find(&coder->vocab, &key);

        if (id >= 0 && (uint32_t)id < coder->vocab.token_count) {
            assert_true(at < ids.count);
            assert_int_equal(ids.ids[at++], id);
            continue;
        }
        for (; *symbol; symbol++) {
            assert_true(at < ids.count);
            assert_int_equal(ids.ids[at++], *symbol);
        }
    }
    assert_int_equal(at, ids.count);
    free(ids.ids);
}

/* Breaks if either way of merging, short or long pieces, takes pairs in an
 * order other than the definition's, whatever the rules are. */
static void random_rules_and_pieces(void **state)
{
    static char rules[RULES][64];
    static struct plain plain;
    uint32_t seed = 7;

    (void)state;
    for (int round = 0; round < 45; round++) {
        const char *list[RULES + 1] = {NULL};
        struct test_vocabulary source;
        struct coder coder;

        make_rules(rules, 1 + (unsigned)round % LETTERS, &seed);
        for (int i = 0; i < RULES; i++)
            list[i] = rules[i];
        test_vocabulary_small(&source, list, NULL, NULL);
        for (int i = 0; i < RULES; i += 1 + round % 5)
            source.tokens[256 + i].size = 0;
        coder_open(&coder, &source.vocabulary);
        for (int k = 0; k < 45; k++) {
            char text[LONGEST] = "";
            int length = (int)(next_random(&seed) % (k % 3 ? 60 : LONGEST - 1));
            int letters = 1 + (int)(next_random(&seed) % LETTERS);

            for (int i = 0; i < length; i++)
                text[i] = (char)('a' + next_random(&seed) % (unsigned)letters);
            compare_with_definition(&coder, rules, text, &plain);
        }
        coder_close(&coder);
        test_vocabulary_free(&source);
    }
}

/* Breaks if the time for one piece grows faster than its length (the alarm
 * would end the program), or ids are lost in it. */
static void a_piece_of_ten_megabytes(void **state)
{
    static const char *const rules[] = {"a a", "aa aa", "aaaa aaaa", "a b", "aaaa b", "b aa", NULL};
    const size_t size = RUN_BYTES;
    char *text = malloc(size);
    struct test_vocabulary source;
    struct coder coder;
    struct bpe_ids ids;

    (void)state;
    test_vocabulary_small(&source, rules, NULL, NULL);
    coder_open(&coder, &source.vocabulary);
    alarm(200);
    memset(text, 'a', size);
    ids = encode(&coder, text, size);
    assert_int_equal(ids.count, size / 8);
    free(ids.ids);
    for (size_t i = 0; i < size; i += 5)
        text[i] = 'b';
    /* "baaaa" again and again: b|aaaa, then aaaa|b pairs up from the left. */
    ids = encode(&coder, text, size);
    assert_int_equal(ids.count, size / 5 + 1);
    free(ids.ids);
    alarm(0);
    free(text);
    coder_close(&coder);
    test_vocabulary_free(&source);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lowest_rank_first_leftmost_on_ties),
        cmocka_unit_test(results_that_are_no_tokens),
        cmocka_unit_test(odd_rules_are_harmless),
        cmocka_unit_test(rules_without_two_parts_are_refused),
        cmocka_unit_test(bytes_without_a_token),
        cmocka_unit_test(random_rules_and_pieces),
        cmocka_unit_test(a_piece_of_ten_megabytes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
