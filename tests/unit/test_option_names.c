/*
 * test_option_names: how a message of the library names settings at a shell.
 *
 * What would break: a setting under a name that no option has; a file or a value of
 * the user's that looks like one.
 */
#include "cli.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void says(const char *message, const char *want)
{
    char out[200];

    cli_name_options(message, out, sizeof out);
    assert_string_equal(out, want);
}

static void test_settings(void **state)
{
    (void)state;
    says("suffix_window has no effect", "--suffix-window has no effect");
    says("give a block_length, or max_tokens", "give a --block-length, or --max-tokens");
    says("(top_p)", "(--top-p)");
    says("steps is 1", "steps is 1");
    says("", "");
}

static void test_what_is_none(void **state)
{
    (void)state;
    says("low_confidence and no_such_thing", "low_confidence and no_such_thing");
    says("/models/max_tokens.gguf: max_tokens_2", "/models/max_tokens.gguf: max_tokens_2");
    says("\"max_tokens\", 'top_p'", "\"max_tokens\", 'top_p'");
    says("\xc3\xa4top_p", "\xc3\xa4top_p");
}

static void test_short_room(void **state)
{
    const char *message = "is max_tokens ok";

    (void)state;
    for (size_t size = 1; size < 25; size++) {
        char out[25] = {0}, want[25] = "is --max-tokens ok";

        want[size - 1] = 0;
        cli_name_options(message, out, size);
        assert_string_equal(out, want);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_settings),
        cmocka_unit_test(test_what_is_none),
        cmocka_unit_test(test_short_room),
    };

    return cmocka_run_group_tests_name("option_names", tests, NULL, NULL);
}
