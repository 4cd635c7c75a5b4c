/* test_tokenizer.c: special strings, round trips, decoding, threads, long runs. */
#include "test_paths.h"
#include "test_vocabulary.h"
#include "tokenizer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The length of long runs; instrumented code is ten times slower. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { RUN_BYTES = 1000 * 1000 };
#else
enum { RUN_BYTES = 10 * 1000 * 1000 };
#endif

static const char *const rules[] = {"h e", "l l", "he ll", "hell o", "\xC4\xA0 w", NULL};
static const char *const control[] = {"<|a|>", "<|a|><|b|>", "<|im_end|>", "<|mask|>", NULL};
static const char *const user_defined[] = {"<tool>", "<tool>s", "a<", "\xE2\x82\xAC", NULL};

/* Ids of the small vocabulary: 256 bytes, 5 merges, then the strings above. */
enum { HELLO = 259, SPACE_W = 260, A = 261, A_B, IM_END, MASK, TOOL, TOOLS, A_LESS, EURO, SIZE };

static struct test_vocabulary source;
static struct tokenizer *small;

static int open_small(void **state)
{
    (void)state;
    test_vocabulary_small(&source, rules, control, user_defined);
    return tokenizer_create(&source.vocabulary, &small, NULL);
}

static int close_small(void **state)
{
    (void)state;
    tokenizer_destroy(small);
    test_vocabulary_free(&source);
    return 0;
}

static struct dllm_string string_of(const char *text)
{
    return (struct dllm_string){text, strlen(text)};
}

static void check(const char *text, bool parse_special, const int32_t *expected, size_t count)
{
    struct dllm_ids ids = {0};

    assert_int_equal(tokenizer_encode(small, string_of(text), parse_special, &ids, NULL), DLLM_OK);
    assert_int_equal(ids.count, count);
    if (count)
        assert_memory_equal(ids.ids, expected, count * sizeof *expected);
    dllm_ids_free(&ids);
}

#define CHECK(text, special, ...)                                                                  \
    check(text, special, (const int32_t[]){__VA_ARGS__},                                           \
          sizeof(int32_t[]){__VA_ARGS__} / sizeof(int32_t))

/* Breaks if control strings need or ignore parse_special, user-defined ones do
 * not always count, or the match is not the leftmost and longest. */
static void special_strings(void **state)
{
    (void)state;
    check("", true, NULL, 0);
    CHECK("hello w", true, HELLO, SPACE_W);
    CHECK("<|a|>", true, A);
    CHECK("<|a|>", false, '<', '|', 'a', '|', '>');
    CHECK("<|a|><|b|>", true, A_B);
    CHECK("<|a|><|b", true, A, '<', '|', 'b');
    CHECK("<|a|><|a|>hello", true, A, A, HELLO);
    CHECK("x<tool>s<tool>", false, 'x', TOOLS, TOOL);
    /* "a<" starts further left than "<tool>" and takes its first byte. */
    CHECK("a<tool>", false, A_LESS, 't', 'o', 'o', 'l', '>');
    CHECK("a<|a|>", true, A_LESS, '|', 'a', '|', '>');
    /* Control strings that do not count hide no user-defined ones. */
    CHECK("<|<tool>|>", false, '<', '|', TOOL, '|', '>');
    CHECK("1\xE2\x82\xAC", false, '1', EURO);
}

/* Breaks if ids that are looked up by string, or given, come out wrong. */
static void special_ids(void **state)
{
    struct tokenizer_specials ids = tokenizer_specials(small);
    struct tokenizer *given;

    (void)state;
    assert_int_equal(ids.bos_id, -1);
    assert_int_equal(ids.eos_id, -1);
    assert_int_equal(ids.eot_id, IM_END);
    assert_int_equal(ids.mask_id, MASK);
    source.vocabulary.eot_id = 'x';
    source.vocabulary.bos_id = SIZE - 1;
    source.vocabulary.add_bos = true;
    assert_int_equal(tokenizer_create(&source.vocabulary, &given, NULL), DLLM_OK);
    ids = tokenizer_specials(given);
    assert_int_equal(ids.eot_id, 'x');
    assert_int_equal(ids.bos_id, SIZE - 1);
    assert_true(ids.add_bos);
    tokenizer_destroy(given);
    source.vocabulary.eot_id = source.vocabulary.bos_id = -1;
    assert_int_equal(tokenizer_find(small, string_of("<tool>s")), TOOLS);
    assert_int_equal(tokenizer_find(small, string_of("")), -1);
    assert_int_equal(tokenizer_find(small, string_of("<tool")), -1);
    assert_int_equal(tokenizer_size(small), SIZE);
    assert_int_equal(tokenizer_type(small, A), TOKEN_CONTROL);
    assert_true(tokenizer_has_text(small, A));
}

/* Breaks if appended ids replace what was there, or a failure leaves some. */
static void encoding_appends(void **state)
{
    struct dllm_ids ids = {0};
    struct dllm_error error;
    struct test_vocabulary lacking;
    struct tokenizer *tokenizer;

    (void)state;
    assert_int_equal(tokenizer_append(7, &ids, NULL), DLLM_OK);
    assert_int_equal(tokenizer_encode(small, string_of("hello"), false, &ids, NULL), DLLM_OK);
    assert_int_equal(ids.count, 2);
    test_vocabulary_small(&lacking, NULL, NULL, NULL);
    lacking.types['q'] = TOKEN_UNUSED;
    assert_int_equal(tokenizer_create(&lacking.vocabulary, &tokenizer, NULL), DLLM_OK);
    assert_int_equal(tokenizer_encode(tokenizer, string_of("abcq"), false, &ids, &error),
                     DLLM_ERROR_FORMAT);
    assert_non_null(strstr(error.message, "0x71"));
    assert_int_equal(ids.count, 2);
    assert_int_equal(ids.ids[0], 7);
    assert_int_equal(ids.ids[1], HELLO);
    tokenizer_destroy(tokenizer);
    test_vocabulary_free(&lacking);
    dllm_ids_free(&ids);
}

static void decodes_to(const int32_t *ids, size_t count, bool show_control, const char *expected)
{
    struct dllm_text text;

    assert_int_equal(tokenizer_decode(small, ids, count, show_control, &text, NULL), DLLM_OK);
    assert_int_equal(text.size, strlen(expected));
    assert_string_equal(text.data, expected);
    dllm_text_free(&text);
}

/* Breaks if control tokens show uninvited, or an id out of range is read. */
static void decoding(void **state)
{
    static const int32_t ids[] = {A, HELLO, SPACE_W, TOOL, EURO, MASK};
    static const int32_t bad[] = {-1, SIZE, INT32_MAX, INT32_MIN};
    struct dllm_text text;
    struct dllm_error error;

    (void)state;
    decodes_to(NULL, 0, false, "");
    decodes_to(ids, 6, false, "hello w<tool>\xE2\x82\xAC");
    decodes_to(ids, 6, true, "<|a|>hello w<tool>\xE2\x82\xAC<|mask|>");
    for (size_t i = 0; i < ARRAY_COUNT(bad); i++) {
        const int32_t list[] = {A, bad[i]};

        assert_int_equal(tokenizer_decode(small, list, 2, true, &text, &error), DLLM_ERROR_USAGE);
        assert_non_null(strstr(error.message, "number 1"));
    }
}

static void check_round_trip(const struct tokenizer *tokenizer, struct dllm_string text,
                             bool parse_special)
{
    struct dllm_ids ids = {0};
    struct dllm_text back;

    assert_int_equal(tokenizer_encode(tokenizer, text, parse_special, &ids, NULL), DLLM_OK);
    assert_int_equal(tokenizer_decode(tokenizer, ids.ids, ids.count, true, &back, NULL), DLLM_OK);
    assert_int_equal(back.size, text.size);
    assert_memory_equal(back.data, text.data, text.size);
    dllm_text_free(&back);
    dllm_ids_free(&ids);
}

static uint32_t next_random(uint32_t *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 8;
}

/* Fills text with any bytes, with ASCII, or with broken pieces of UTF-8. */
static size_t random_text(char *text, size_t room, uint32_t *seed)
{
    static const char *const parts[] = {
        "hello",        " w",       "<|a|>",        "<tool>",
        "\xED\xA0\x80", "\xE4\xB8", "\xE4\xB8\xAD", "\xF0\x9F\x98\x80",
        "\xF0\x9F",     " ",        "\n",           "\xC2\x85",
        "'s",           "\xC0\x80", "\xFF"};
    const size_t size = next_random(seed) % (room - 8);
    const uint32_t kind = next_random(seed) % 3;
    size_t used = 0;

    while (used < size) {
        const char *part = parts[next_random(seed) % ARRAY_COUNT(parts)];

        if (kind < 2)
            text[used++] = (char)(next_random(seed) % (kind ? 128 : 256));
        else
            for (; *part; part++)
                text[used++] = *part;
    }
    return used;
}

/* Breaks if a byte is lost or changed on the way to ids and back: NUL, lone
 * surrogates, cut sequences and control strings among them. */
static void random_bytes_come_back(void **state)
{
    uint32_t seed = 11;
    char text[208];

    (void)state;
    for (int i = 0; i < 6000; i++) {
        size_t size = random_text(text, i % 10 ? 60 : sizeof text, &seed);

        check_round_trip(small, (struct dllm_string){text, size}, i % 2);
    }
}

struct worker {
    pthread_t thread;
    const struct tokenizer *tokenizer;
    uint32_t seed;
    uint64_t sum;
};

static void *encode_much(void *context)
{
    struct worker *worker = context;
    uint32_t seed = worker->seed;
    char text[2048];

    for (int i = 0; i < 300; i++) {
        struct dllm_ids ids = {0};
        size_t size = random_text(text, sizeof text, &seed);

        if (tokenizer_encode(worker->tokenizer, (struct dllm_string){text, size}, true, &ids, NULL))
            return NULL;
        for (size_t k = 0; k < ids.count; k++)
            worker->sum = worker->sum * 31 + (uint32_t)ids.ids[k];
        dllm_ids_free(&ids);
    }
    return NULL;
}

/* Breaks if two calls share something that changes: sums would differ, and
 * ThreadSanitizer would speak. */
static void threads_share_a_tokenizer(void **state)
{
    struct worker workers[4];

    (void)state;
    for (int i = 0; i < 4; i++) {
        workers[i] = (struct worker){.tokenizer = small, .seed = 5};
        assert_int_equal(pthread_create(&workers[i].thread, NULL, encode_much, &workers[i]), 0);
    }
    for (int i = 0; i < 4; i++)
        pthread_join(workers[i].thread, NULL);
    for (int i = 0; i < 4; i++)
        assert_true(workers[i].sum && workers[i].sum == workers[0].sum);
}

/* Breaks if a run of ten megabytes takes more than linear time (the alarm would
 * end the program), is refused, or loses bytes; with the merges of a real
 * vocabulary when it is there. */
static void ten_megabyte_runs(void **state)
{
    static const char *const units[] = {"a", "7", " ", "\xE4\xB8\xAD\xE6\x96\x87", "<", "\xE4"};
    const char *path = test_shared_path("data/models/llada-Q4_K_M.gguf");
    const size_t size = RUN_BYTES;
    struct test_vocabulary real;
    struct tokenizer *tokenizer = small;
    char *text = malloc(size);

    (void)state;
    if (path) {
        assert_null(test_vocabulary_open(path, &real));
        assert_int_equal(tokenizer_create(&real.vocabulary, &tokenizer, NULL), DLLM_OK);
    }
    alarm(220);
    for (size_t i = 0; i < ARRAY_COUNT(units); i++) {
        const size_t unit = strlen(units[i]), count = size / unit;

        for (size_t k = 0; k < count; k++)
            memcpy(text + k * unit, units[i], unit);
        check_round_trip(tokenizer, (struct dllm_string){text, count * unit}, true);
    }
    alarm(0);
    free(text);
    if (path) {
        tokenizer_destroy(tokenizer);
        test_vocabulary_free(&real);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(special_strings),        cmocka_unit_test(special_ids),
        cmocka_unit_test(encoding_appends),       cmocka_unit_test(decoding),
        cmocka_unit_test(random_bytes_come_back), cmocka_unit_test(threads_share_a_tokenizer),
        cmocka_unit_test(ten_megabyte_runs),
    };

    return cmocka_run_group_tests(tests, open_small, close_small);
}
