/* test_hub.c: names of models, and which of a repository's files they mean. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "hub_parts.h"

static void assert_spec(const char *text, const char *repo, const char *quant, const char *file)
{
    struct hub_spec spec;
    struct dllm_error error;

    assert_int_equal(hub_parse(text, &spec, &error), DLLM_OK);
    assert_string_equal(spec.repo, repo);
    assert_string_equal(spec.quant, quant);
    assert_string_equal(spec.file, file);
}

static void names_are_taken_apart(void **state)
{
    (void)state;
    assert_spec("a/b", "a/b", "", "");
    assert_spec("a.b/c-d_e:Q4_K_M", "a.b/c-d_e", "Q4_K_M", "");
    assert_spec("a/b/c.gguf", "a/b", "", "c.gguf");
    assert_spec("a/b/c d/e:f.gguf", "a/b", "", "c d/e:f.gguf");
    assert_spec("a/b/1/2/3/4/5/6/7/8/c..d.gguf", "a/b", "", "1/2/3/4/5/6/7/8/c..d.gguf");
    /* Bytes of letters, the same as those of control characters: U+1E9B, U+00E9. */
    assert_spec("a/b/\341\272\233\303\251.gguf", "a/b", "", "\341\272\233\303\251.gguf");
    assert_spec("llada", "mradermacher/LLaDA-8B-Instruct-GGUF", "", "");
    assert_spec("dream:Q8_0", "bartowski/Dream-org_Dream-v0-Instruct-7B-GGUF", "Q8_0", "");
}

/* What could leave the cache's folder, or is a path that leads nowhere. */
static void other_names_are_refused(void **state)
{
    static const char *const names[] = {
        "",
        "a",
        "a/",
        "/a/b",
        "a/b/",
        "a/b:",
        "a/b:/",
        "../b",
        "a/..",
        "a/../c.gguf",
        "a/b/../c.gguf",
        "a/b//c.gguf",
        "a/b/c",
        "a--b/c",
        "-a/b",
        "a/b.",
        "a/c.gguf",
        "llada:",
        "llada2",
        "a b/c",
        "a/b/.gguf",
        "a/b/c\n.gguf",
        /* A terminal would obey these, U+009B and a bare byte of that value among them. */
        "a/b/\033[31m.gguf",
        "a/b/\302\23331m.gguf",
        "a/b/\23331m.gguf",
        "a/b/c\177.gguf",
        "a/b/.git/c.gguf",
        "a/b/1/2/3/4/5/6/7/8/9/c.gguf",
    };
    struct hub_spec spec;
    struct dllm_error error;

    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        assert_int_equal(hub_parse(names[i], &spec, &error), DLLM_ERROR_USAGE);
}

/* Files of a made-up repository; NULL ends the list. */
static void list(const char *const *names, struct hub_listing *listing)
{
    struct dllm_error error;

    *listing = (struct hub_listing){0};
    for (; *names; names++) {
        struct hub_file file = {.name = (char *)*names, .size = 1};

        assert_int_equal(hub_listing_add(listing, &file, &error), DLLM_OK);
    }
    hub_listing_sort(listing);
}

static const char *choose(const char *const *names, const char *text)
{
    static char chosen[HUB_FILE_BYTES + 20];
    struct hub_listing listing;
    struct hub_spec spec;
    struct dllm_error error;
    size_t first, count;

    list(names, &listing);
    assert_int_equal(hub_parse(text, &spec, &error), DLLM_OK);
    if (hub_choose(&spec, &listing, "it", &first, &count, &error) != DLLM_OK)
        snprintf(chosen, sizeof chosen, "%s", error.message);
    else
        snprintf(chosen, sizeof chosen, "%s x %zu", listing.files[first].name, count);
    hub_listing_free(&listing);
    return chosen;
}

static void a_quant_is_a_whole_word_of_the_name(void **state)
{
    static const char *const names[] = {"m.IQ4_XS.gguf", "m.Q4_K_M.gguf", "m.Q4_K_S.gguf",
                                        "m.Q8_0.gguf",   "m.bf16.gguf",   NULL};

    (void)state;
    assert_string_equal(choose(names, "a/b"), "m.Q4_K_M.gguf x 1");
    assert_string_equal(choose(names, "a/b:q4_k_s"), "m.Q4_K_S.gguf x 1");
    assert_string_equal(choose(names, "a/b:BF16"), "m.bf16.gguf x 1");
    assert_string_equal(choose(names, "a/b:Q4_K"),
                        "it has no GGUF file for Q4_K; it has IQ4_XS, Q4_K_M, Q4_K_S, Q8_0, bf16");
    assert_string_equal(choose(names, "a/b:F16"),
                        "it has no GGUF file for F16; it has IQ4_XS, Q4_K_M, Q4_K_S, Q8_0, bf16");
    assert_string_equal(choose(names + 2, "a/b"), "m.Q8_0.gguf x 1");
}

static void without_a_usual_quant_the_first_file_is_taken(void **state)
{
    static const char *const names[] = {"z-Q5_0.gguf", "b.gguf", NULL};

    (void)state;
    assert_string_equal(choose(names, "a/b"), "b.gguf x 1");
}

static void parts_come_together(void **state)
{
    static const char *const names[] = {
        "d/m-Q4_K_M-00002-of-00003.gguf", "d/m-Q4_K_M-00003-of-00003.gguf",
        "d/m-Q4_K_M-00001-of-00003.gguf", "d/n-Q8_0-00002-of-00002.gguf",
        "d/n-00001-of-0002.gguf",         NULL};

    (void)state;
    assert_string_equal(choose(names, "a/b"), "d/m-Q4_K_M-00001-of-00003.gguf x 3");
    assert_string_equal(choose(names, "a/b/d/m-Q4_K_M-00003-of-00003.gguf"),
                        "d/m-Q4_K_M-00001-of-00003.gguf x 3");
    /* Without its first part it is no match. */
    assert_string_equal(choose(names, "a/b:Q8_0"),
                        "it has no GGUF file for Q8_0; it has Q4_K_M, d/n-00001-of-0002.gguf");
}

/* The first bytes decide; where they end before they tell, nothing is said. */
static void the_start_of_a_file_tells_its_architecture(void **state)
{
    static const char start[] = "GGUF\3\0\0\0"
                                "\0\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0"
                                "\24\0\0\0\0\0\0\0general.architecture\10\0\0\0"
                                "\5\0\0\0\0\0\0\0llama";
    struct dllm_error error;

    (void)state;
    assert_int_equal(dllm_check_start("x", NULL, 0, &error), DLLM_OK);
    for (size_t size = 0; size < sizeof start - 1; size++)
        assert_int_equal(dllm_check_start("x", start, size, &error), DLLM_OK);
    assert_int_equal(dllm_check_start("x", start, sizeof start - 1, &error),
                     DLLM_ERROR_UNSUPPORTED);
    assert_int_equal(dllm_check_start("x", "<html>", 6, &error), DLLM_ERROR_FORMAT);
    assert_int_equal(dllm_check_start("x", "GO", 2, &error), DLLM_ERROR_FORMAT);
    assert_int_equal(dllm_check_start("x", "GGUF\x09\0\0", 7, &error), DLLM_OK);
    assert_int_equal(dllm_check_start("x", "GGUF\x09\0\0\0", 8, &error), DLLM_ERROR_UNSUPPORTED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_taken_apart),
        cmocka_unit_test(other_names_are_refused),
        cmocka_unit_test(a_quant_is_a_whole_word_of_the_name),
        cmocka_unit_test(without_a_usual_quant_the_first_file_is_taken),
        cmocka_unit_test(parts_come_together),
        cmocka_unit_test(the_start_of_a_file_tells_its_architecture),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
