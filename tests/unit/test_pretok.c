/* test_pretok.c: the pieces that the published expressions cut text into. */
#include "pretok.h"

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

static const char *const names[] = {"qwen2", "bailingmoe", "llada-moe"};

static struct dllm_string string_of(const char *text)
{
    return (struct dllm_string){text, strlen(text)};
}

/* The pieces of text with bars between, malloc'ed. */
static char *cut(const char *name, struct dllm_string text)
{
    struct pretok *pretok;
    struct pretok_walk *walk;
    struct dllm_string piece;
    char *out = calloc(2 * text.size + 1, 1);
    size_t used = 0;

    assert_int_equal(pretok_create(string_of(name), &pretok, NULL), DLLM_OK);
    assert_int_equal(pretok_walk_create(pretok, &walk, NULL), DLLM_OK);
    pretok_walk_start(walk, text);
    for (;;) {
        assert_int_equal(pretok_walk_next(walk, &piece, NULL), DLLM_OK);
        if (!piece.size)
            break;
        if (used)
            out[used++] = '|';
        memcpy(out + used, piece.data, piece.size);
        used += piece.size;
    }
    pretok_walk_destroy(walk);
    pretok_destroy(pretok);
    return out;
}

static void check(const char *text, const char *expected)
{
    for (size_t i = 0; i < ARRAY_COUNT(names); i++) {
        char *pieces = cut(names[i], string_of(text));

        assert_string_equal(pieces, expected);
        free(pieces);
    }
}

/* Breaks if an alternative of the expressions is mistyped or out of order. */
static void words_digits_and_symbols(void **state)
{
    (void)state;
    check("", "");
    check("Hello world", "Hello| world");
    check("x=1234;", "x|=|1|2|3|4|;");
    check("a  b", "a| | b");
    check("a.b .c !!", "a|.b| .|c| !!");
    check("f(x) -> y\n\n\nz", "f|(x|)| ->| y|\n\n\n|z");
    check("ab//\r\n\r\ncd", "ab|//\r\n\r\n|cd");
    check("caf\xC3\xA9 \xE4\xB8\xAD\xE6\x96\x87", "caf\xC3\xA9| \xE4\xB8\xAD\xE6\x96\x87");
    check("\xC2\xBD\xE2\x85\xA7\xD9\xA3", "\xC2\xBD|\xE2\x85\xA7|\xD9\xA3");
    /* A combining mark is no letter: it opens the next word. */
    check("e\xCC\x81x", "e|\xCC\x81x");
}

static void check_one(const char *name, const char *text, const char *expected)
{
    char *pieces = cut(name, string_of(text));

    assert_string_equal(pieces, expected);
    free(pieces);
}

/* Breaks if seed-coder's expression lets symbols take the line ends after them,
 * which is all that sets it apart from qwen2's. */
static void seed_coder_keeps_line_ends_apart(void **state)
{
    (void)state;
    check_one("seed-coder", "ab//\r\n\r\ncd", "ab|//|\r\n\r\n|cd");
    check_one("seed-coder", "f(x) -> y;\n\n\nz", "f|(x|)| ->| y|;|\n\n\n|z");
    check_one("seed-coder", "it's WE'RE 1234  \n  x", "it|'s| WE|'RE| |1|2|3|4|  \n| | x");
    check_one("seed-coder", "a.b .c !!   ", "a|.b| .|c| !!|   ");
}

/* Breaks if contractions need lower case, or are taken from longer words. */
static void contractions(void **state)
{
    (void)state;
    check("it's WE'RE I'm he'll", "it|'s| WE|'RE| I|'m| he|'ll");
    check("'tis 'x", "'t|is| '|x");
    check("rock'n'roll o'clock", "rock|'n|'roll| o|'clock");
}

/* Breaks if white space before words, at line ends or at the end is cut
 * elsewhere, or if a kind of white space is not known. */
static void white_space(void **state)
{
    (void)state;
    check("   x", "  | x");
    check("  \n  x", "  \n| | x");
    check("x \n\n y", "x| \n\n| y");
    check("x   ", "x|   ");
    check("\t\tif", "\t|\tif");
    check("a\xC2\xA0\xE3\x80\x80"
          "b",
          "a|\xC2\xA0|\xE3\x80\x80"
          "b");
    check("a\xC2\x85 1", "a|\xC2\x85| |1");
    /* U+180E is no white space (PCRE2's own \s says it is). */
    check("1 \xE1\xA0\x8E 1", "1| \xE1\xA0\x8E| |1");
    check("1\xE2\x80\x8B\xEF\xBB\xBF", "1|\xE2\x80\x8B\xEF\xBB\xBF");
}

/* Breaks if NUL ends the text, or bytes that are not UTF-8 stop the walk, are
 * lost, or join their neighbours. */
static void bytes_that_are_not_text(void **state)
{
    char *pieces = cut("qwen2", (struct dllm_string){"a\0b", 3});

    (void)state;
    assert_memory_equal(pieces, "a|\0b", 5);
    free(pieces);
    check("ab\xFF\xFE"
          "cd",
          "ab|\xFF\xFE|cd");
    check("\xED\xA0\x80", "\xED\xA0\x80");
    check("a \xE4\xB8 b", "a| |\xE4\xB8| b");
    check("\xE4\xB8", "\xE4\xB8");
}

/* Breaks if an unknown expression is guessed at, or the message does not help. */
static void unknown_names_are_refused(void **state)
{
    static const char *const bad[] = {"", "qwen", "qwen22", "gpt-2", "QWEN2", "default"};
    struct dllm_error error;
    struct pretok *pretok;

    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(bad); i++) {
        assert_int_equal(pretok_create(string_of(bad[i]), &pretok, &error), DLLM_ERROR_UNSUPPORTED);
        assert_non_null(strstr(error.message, "qwen2, bailingmoe, llada-moe, seed-coder"));
    }
    assert_non_null(strstr(error.message, "\"default\""));
}

/* Breaks if a long run stops at the engine's default limits or takes quadratic
 * time: the alarm would end the program. */
static void ten_megabytes_of_anything(void **state)
{
    static const char *const units[] = {
        "a", "7",    " ", "\n",       "\t ", " \n",         "\xE4\xB8\xAD",
        "!", "\xFF", "'", "\xCC\x81", "a ",  "\xE3\x80\x80"};
    const size_t size = RUN_BYTES;
    char *data = malloc(size + 8);

    (void)state;
    alarm(200);
    for (size_t i = 0; i < ARRAY_COUNT(units); i++) {
        const size_t unit = strlen(units[i]), count = size / unit;
        struct pretok *pretok;
        struct pretok_walk *walk;
        struct dllm_string piece;
        size_t total = 0;

        for (size_t k = 0; k < count; k++)
            memcpy(data + k * unit, units[i], unit);
        assert_int_equal(pretok_create(string_of(names[i % 2]), &pretok, NULL), DLLM_OK);
        assert_int_equal(pretok_walk_create(pretok, &walk, NULL), DLLM_OK);
        pretok_walk_start(walk, (struct dllm_string){data, count * unit});
        do {
            assert_int_equal(pretok_walk_next(walk, &piece, NULL), DLLM_OK);
            total += piece.size;
        } while (piece.size);
        assert_int_equal(total, count * unit);
        pretok_walk_destroy(walk);
        pretok_destroy(pretok);
    }
    alarm(0);
    free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_digits_and_symbols),
        cmocka_unit_test(contractions),
        cmocka_unit_test(seed_coder_keeps_line_ends_apart),
        cmocka_unit_test(white_space),
        cmocka_unit_test(bytes_that_are_not_text),
        cmocka_unit_test(unknown_names_are_refused),
        cmocka_unit_test(ten_megabytes_of_anything),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
