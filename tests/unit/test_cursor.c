/* test_cursor.c: values come out in the right byte order, and no read passes
 * the end or moves the cursor when it fails. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "compiler.h"
#include "cursor.h"

/* Breaks when a value is assembled in the wrong order or the cursor advances
 * by the wrong number of bytes. */
static void test_reads_little_endian(void **state)
{
    static const uint8_t bytes[] = {0x01, 0x02, 0x83, 0x04, 0x05, 0x06, 0x87, 0x08,
                                    0x09, 0x0a, 0x0b, 0x0c, 0x0d, 0x0e, 0x8f};
    struct cursor cursor = {bytes, sizeof bytes, 0};
    uint8_t u8;
    uint16_t u16;
    uint32_t u32;
    uint64_t u64;

    (void)state;
    assert_true(cursor_u8(&cursor, &u8));
    assert_int_equal(u8, 0x01);
    assert_true(cursor_u16(&cursor, &u16));
    assert_int_equal(u16, 0x8302);
    assert_true(cursor_u32(&cursor, &u32));
    assert_int_equal(u32, 0x87060504);
    assert_true(cursor_u64(&cursor, &u64));
    assert_true(u64 == 0x8f0e0d0c0b0a0908);
    assert_int_equal(cursor_left(&cursor), 0);
}

/* Breaks when a read of a value that is cut succeeds; the bytes lie at the end
 * of an allocation, so that reading beyond shows under AddressSanitizer. */
static void test_refuses_what_does_not_fit(void **state)
{
    (void)state;
    for (size_t size = 1; size < 8; size++) {
        uint8_t *bytes = calloc(1, size);
        struct cursor cursor = {bytes, size, 0};
        uint64_t u64;
        uint32_t u32;
        uint16_t u16;

        assert_false(cursor_u64(&cursor, &u64));
        assert_int_equal(cursor_u32(&cursor, &u32), size >= 4);
        cursor.at = size - 1;
        assert_false(cursor_u16(&cursor, &u16));
        assert_int_equal(cursor.at, size - 1);
        free(bytes);
    }
}

/* Breaks when the bounds check adds the size to the position and wraps. */
static void test_huge_sizes_do_not_wrap(void **state)
{
    static const uint8_t bytes[16];
    struct cursor cursor = {bytes, sizeof bytes, 5};
    static const uint64_t sizes[] = {12, UINT64_MAX, UINT64_MAX - 4, UINT64_MAX - 5, 1ull << 63};

    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(sizes); i++)
        assert_null(cursor_take(&cursor, sizes[i]));
    assert_int_equal(cursor.at, 5);
    assert_ptr_equal(cursor_take(&cursor, 11), bytes + 5);
    assert_ptr_equal(cursor_take(&cursor, 0), bytes + 16);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reads_little_endian),
        cmocka_unit_test(test_refuses_what_does_not_fit),
        cmocka_unit_test(test_huge_sizes_do_not_wrap),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
