/* test_utf8.c: code points, and the byte map of byte-level BPE. */
#include "bytemap.h"
#include "utf8.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <string.h>

/* Breaks if a code point's length or bits are put together wrongly. */
static void every_code_point_comes_back(void **state)
{
    (void)state;
    for (uint32_t c = 0; c < 0x110000; c++) {
        uint32_t back = UINT32_MAX;
        char bytes[4];
        int length;

        if (c >= 0xD800 && c < 0xE000)
            continue;
        length = utf8_write(c, bytes);
        assert_int_equal(utf8_decode(bytes, (size_t)length, &back), length);
        assert_int_equal(back, c);
        assert_int_equal(utf8_decode(bytes, (size_t)length - 1, &back), 0);
    }
}

/* Breaks if overlong forms, surrogates, values above U+10FFFF, lone
 * continuation bytes or cut sequences pass as characters. */
static void malformed_sequences_are_refused(void **state)
{
    static const char *const bad[] = {
        "\x80",
        "\xBF",
        "\xC0\x80",
        "\xC1\xBF",
        "\xE0\x80\x80",
        "\xE0\x9F\xBF",
        "\xED\xA0\x80",
        "\xED\xBF\xBF",
        "\xF0\x80\x80\x80",
        "\xF0\x8F\xBF\xBF",
        "\xF4\x90\x80\x80",
        "\xF5\x80\x80\x80",
        "\xFF",
        "\xC3",
        "\xE2\x82",
        "\xF0\x9F\x98",
        "\xC3(",
        "\xE2(\xA1",
        "\xE2\x82(",
    };
    uint32_t c;

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(utf8_decode(bad[i], strlen(bad[i]), &c), 0);
    assert_int_equal(utf8_decode("", 0, &c), 0);
}

/* Breaks if the eight-bytes-at-a-time part skips a bad byte or stops early. */
static void valid_prefix_ends_at_the_first_bad_byte(void **state)
{
    char text[64];

    (void)state;
    for (size_t size = 0; size < sizeof text; size++) {
        memset(text, 'a', sizeof text);
        assert_int_equal(utf8_valid_prefix(text, size), size);
        for (size_t at = 0; at < size; at++) {
            text[at] = '\xFF';
            assert_int_equal(utf8_valid_prefix(text, size), at);
            text[at] = 'a';
        }
    }
    assert_int_equal(utf8_valid_prefix("abcdefg\xE2\x82\xACxyzwvuts\xE2\x82", 20), 18);
}

/* Breaks if chat messages are trimmed of the wrong characters. */
static void white_space_is_pythons(void **state)
{
    static const uint32_t spaces[] = {0x09,   0x0D,   0x1C,   0x1F,   ' ',    0x85,   0xA0,  0x1680,
                                      0x2000, 0x200A, 0x2028, 0x2029, 0x202F, 0x205F, 0x3000};
    static const uint32_t others[] = {0,    0x08,   0x0E,   0x1B,   '!',
                                      0x7F, 0x180E, 0x200B, 0x2060, 0xFEFF};

    (void)state;
    for (size_t i = 0; i < sizeof spaces / sizeof *spaces; i++)
        assert_true(utf8_is_space(spaces[i]));
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_false(utf8_is_space(others[i]));
}

/* Breaks if the closed form of the map is off by one anywhere: the expected
 * side counts up as the definition does. */
static void byte_map_follows_its_definition(void **state)
{
    uint32_t next = 256;

    (void)state;
    for (int byte = 0; byte < 256; byte++) {
        bool itself = (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || byte >= 174;
        uint32_t expected = itself ? (uint32_t)byte : next++;

        assert_int_equal(bytemap_code_point((uint8_t)byte), expected);
        assert_int_equal(bytemap_byte(expected), byte);
    }
    assert_int_equal(next, 324);
    assert_int_equal(bytemap_byte(' '), -1);
    assert_int_equal(bytemap_byte(0), -1);
    assert_int_equal(bytemap_byte(173), -1);
    assert_int_equal(bytemap_byte(324), -1);
    assert_int_equal(bytemap_byte(UINT32_MAX), -1);
}

/* Breaks if characters outside the map, which stand for themselves, are lost. */
static void token_strings_become_bytes(void **state)
{
    const struct dllm_string text = {"\xC4\xA0"
                                     "a\xC4\x8A \xE2\x82\xAC\xFFz",
                                     11};
    char out[11];

    (void)state;
    assert_int_equal(bytemap_decode(text, NULL), 9);
    assert_int_equal(bytemap_decode(text, out), 9);
    assert_memory_equal(out, " a\n \xE2\x82\xAC\xFFz", 9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_code_point_comes_back),
        cmocka_unit_test(malformed_sequences_are_refused),
        cmocka_unit_test(valid_prefix_ends_at_the_first_bad_byte),
        cmocka_unit_test(white_space_is_pythons),
        cmocka_unit_test(byte_map_follows_its_definition),
        cmocka_unit_test(token_strings_become_bytes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
