/* test_gguf.c: what a well-formed file tells: every kind of key, both versions,
 * tensors, typed access and its messages. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "clock.h"
#include "dtype.h"
#include "gguf.h"
#include "gguf_walk.h"
#include "gguf_writer.h"
#include "model_data.h"
#include "test_paths.h"

static struct dllm_file *open_bytes(const uint8_t *bytes, size_t size)
{
    struct dllm_file *file;
    struct dllm_error error = {0};

    if (gguf_open_bytes("x.gguf", bytes, size, &file, &error) != DLLM_OK)
        fail_msg("%s", error.message);
    return file;
}

static const struct dllm_value *value_of(const struct dllm_file *file, const char *key)
{
    const struct dllm_key *found = dllm_file_find_key(file, key);

    assert_non_null(found);
    return &found->value;
}

/* Breaks when a kind is read with the wrong width or sign. */
static void test_scalars(void **state)
{
    size_t size, header;
    uint8_t *bytes = gguf_sample(&size, &header);
    struct dllm_file *file = open_bytes(bytes, size);

    (void)state;
    assert_int_equal(dllm_file_version(file), 3);
    assert_int_equal(dllm_file_size(file), size);
    assert_int_equal(dllm_file_key_count(file), 18);
    assert_string_equal(gguf_path(file), "x.gguf");
    assert_memory_equal(dllm_file_key(file, 3)->name.data, "key.u8", 6);
    assert_int_equal(value_of(file, "key.u8")->u, 200);
    assert_int_equal(value_of(file, "key.i8")->i, -100);
    assert_int_equal(value_of(file, "key.u16")->u, 60000);
    assert_int_equal(value_of(file, "key.i16")->i, -30000);
    assert_int_equal(value_of(file, "key.u32")->u, 4000000000);
    assert_int_equal(value_of(file, "key.i32")->i, -2000000000);
    assert_true(value_of(file, "key.u64")->u == UINT64_MAX);
    assert_true(value_of(file, "key.i64")->i == INT64_MIN);
    assert_true(value_of(file, "key.f32")->f == 0.25);
    assert_true(value_of(file, "key.f64")->f == -0.5);
    assert_int_equal(value_of(file, "key.bool")->u, 1);
    assert_int_equal(value_of(file, "general.architecture")->s.size, 5);
    assert_null(dllm_file_find_key(file, "key"));
    assert_null(dllm_file_find_key(file, ""));
    dllm_file_close(file);
    free(bytes);
}

/* Breaks when an array loses, repeats or misreads an element, or when walking
 * something else as an array yields anything. */
static void test_arrays(void **state)
{
    size_t size, header;
    uint8_t *bytes = gguf_sample(&size, &header);
    struct dllm_file *file = open_bytes(bytes, size);
    struct dllm_value element;
    uint64_t at = 0;

    (void)state;
    for (uint64_t i = 1; i <= 3; i++) {
        assert_true(dllm_array_next(value_of(file, "key.list"), &at, &element));
        assert_int_equal(element.type, DLLM_VALUE_U32);
        assert_int_equal(element.u, i);
    }
    assert_false(dllm_array_next(value_of(file, "key.list"), &at, &element));
    at = 0;
    assert_true(dllm_array_next(value_of(file, "key.words"), &at, &element));
    assert_true(dllm_array_next(value_of(file, "key.words"), &at, &element));
    assert_int_equal(element.s.size, 2);
    assert_memory_equal(element.s.data, "bc", 2);
    assert_true(dllm_array_next(value_of(file, "key.words"), &at, &element));
    assert_int_equal(element.s.size, 0);
    assert_false(dllm_array_next(value_of(file, "key.words"), &at, &element));
    at = 0;
    assert_false(dllm_array_next(value_of(file, "key.none"), &at, &element));
    assert_false(dllm_array_next(value_of(file, "key.u8"), &at, &element));
    gguf_walk(file);
    dllm_file_close(file);
    free(bytes);
}

/* Breaks when shape, size or place of a tensor is wrong, in either version and
 * with any alignment. */
static void check_tensors(uint32_t version, uint32_t alignment)
{
    static const uint64_t shape[4] = {2, 3, 4, 5};
    const float values[3] = {1, 2, 3};
    struct gguf_writer *writer = gguf_writer_create(version, alignment);
    const struct dllm_tensor *tensor;
    struct dllm_file *file;
    uint8_t *bytes;
    size_t size;

    gguf_write_tensor(writer, "values", DTYPE_F32, 3, 1, values);
    gguf_write_tensor(writer, "matrix", DTYPE_Q6_K, 512, 7, NULL);
    gguf_write_shaped(writer, "four", DTYPE_F16, 4, shape, NULL);
    bytes = gguf_writer_finish(writer, &size);
    file = open_bytes(bytes, size);
    assert_int_equal(dllm_file_version(file), version);
    assert_int_equal(dllm_file_tensor_count(file), 3);
    tensor = dllm_file_find_tensor(file, "values");
    assert_ptr_equal(tensor, dllm_file_tensor(file, 0));
    assert_memory_equal(tensor->data, values, sizeof values);
    assert_ptr_equal(tensor->data, bytes + tensor->offset);
    tensor = dllm_file_find_tensor(file, "matrix");
    assert_int_equal(tensor->dims, 2);
    assert_int_equal(tensor->shape[0], 512);
    assert_int_equal(tensor->shape[1], 7);
    assert_int_equal(tensor->shape[2], 1);
    assert_int_equal(tensor->size, 2 * 210 * 7);
    assert_int_equal(tensor->offset % alignment, 0);
    tensor = dllm_file_find_tensor(file, "four");
    assert_int_equal(tensor->dims, 4);
    assert_int_equal(tensor->size, 2 * 3 * 4 * 5 * 2);
    assert_int_equal(tensor->offset + tensor->size, size);
    assert_null(dllm_file_find_tensor(file, "valuess"));
    gguf_walk(file);
    dllm_file_close(file);
    free(bytes);
}

static void test_tensors(void **state)
{
    (void)state;
    check_tensors(3, 32);
    check_tensors(2, 32);
    check_tensors(3, 1);
    check_tensors(3, 8);
    check_tensors(3, 4096);
    check_tensors(3, 2 << 20);
}

/* Breaks when a file without tensors (a vocabulary) needs the padding that
 * would come before its data, or when an empty one is refused. */
static void test_no_tensors(void **state)
{
    struct gguf_writer *writer = gguf_writer_create(3, 32);
    struct dllm_file *file;
    uint8_t *bytes;
    size_t size;

    (void)state;
    gguf_write_integer(writer, "k", DLLM_VALUE_U8, 1);
    bytes = gguf_writer_finish(writer, &size);
    assert_true(size % 32 != 0);
    file = open_bytes(bytes, size);
    assert_int_equal(dllm_file_tensor_count(file), 0);
    assert_null(dllm_file_find_tensor(file, "k"));
    dllm_file_close(file);
    free(bytes);

    bytes = gguf_writer_finish(gguf_writer_create(3, 32), &size);
    file = open_bytes(bytes, size);
    assert_int_equal(dllm_file_key_count(file), 0);
    dllm_file_close(file);
    free(bytes);
}

/* Breaks when two names of one range are refused: a tied matrix may be stored
 * once. (Any other overlap is in test_gguf_faults.) */
static void test_shared_tensor(void **state)
{
    struct gguf_writer *writer = gguf_writer_create(3, 32);
    struct dllm_file *file;
    uint8_t *bytes;
    size_t size;

    (void)state;
    gguf_write_tensor(writer, "a", DTYPE_F32, 8, 1, NULL);
    gguf_write_tensor(writer, "b", DTYPE_F32, 8, 1, NULL);
    bytes = gguf_writer_finish(writer, &size);
    /* b's entry is the last of the directory: its offset ends at the padding. */
    for (size_t i = 24; i < size - 64; i++)
        if (memcmp(bytes + i, "\x20\0\0\0\0\0\0\0", 8) == 0)
            bytes[i] = 0;
    file = open_bytes(bytes, size);
    assert_ptr_equal(dllm_file_tensor(file, 0)->data, dllm_file_tensor(file, 1)->data);
    dllm_file_close(file);
    free(bytes);
}

/* Breaks when typed access reads a value wrongly or an absent optional key
 * changes the default. */
static void test_getters(void **state)
{
    size_t size, header, count = 77;
    uint8_t *bytes = gguf_sample(&size, &header);
    struct dllm_file *file = open_bytes(bytes, size);
    struct dllm_string text = {"default", 7}, *strings = NULL;
    int64_t integer = 5;
    int32_t *integers = NULL;
    double number = 5;
    bool flag = false;

    (void)state;
    assert_int_equal(gguf_get_integer(file, "none", false, 0, 9, &integer, NULL), DLLM_OK);
    assert_int_equal(integer, 5);
    assert_int_equal(gguf_get_integer(file, "key.u8", true, 0, 200, &integer, NULL), DLLM_OK);
    assert_int_equal(integer, 200);
    assert_int_equal(gguf_get_integer(file, "key.i64", true, INT64_MIN, 0, &integer, NULL),
                     DLLM_OK);
    assert_true(integer == INT64_MIN);
    assert_int_equal(gguf_get_float(file, "key.f32", true, &number, NULL), DLLM_OK);
    assert_true(number == 0.25);
    assert_int_equal(gguf_get_float(file, "key.i16", true, &number, NULL), DLLM_OK);
    assert_true(number == -30000);
    assert_int_equal(gguf_get_bool(file, "key.bool", true, &flag, NULL), DLLM_OK);
    assert_true(flag);
    assert_int_equal(gguf_get_string(file, "general.architecture", true, &text, NULL), DLLM_OK);
    assert_memory_equal(text.data, "llada", 5);
    assert_int_equal(gguf_get_strings(file, "none", false, &strings, &count, NULL), DLLM_OK);
    assert_int_equal(count, 77);
    assert_int_equal(gguf_get_strings(file, "key.words", true, &strings, &count, NULL), DLLM_OK);
    assert_int_equal(count, 3);
    assert_memory_equal(strings[1].data, "bc", 2);
    assert_int_equal(gguf_get_integers(file, "key.list", true, &integers, &count, NULL), DLLM_OK);
    assert_int_equal(count, 3);
    assert_int_equal(integers[2], 3);
    free(integers);
    assert_int_equal(gguf_get_integers(file, "key.none", true, &integers, &count, NULL), DLLM_OK);
    assert_int_equal(count, 0);
    free(integers);
    free(strings);
    dllm_file_close(file);
    free(bytes);
}

/* Breaks when a message of typed access does not name key, kind found and kind
 * expected, or a failing getter succeeds. */
static void test_getter_messages(void **state)
{
    static const uint64_t large[2] = {7, 1ull << 40};
    static const float infinite = 1.0f / 0.0f;
    struct gguf_writer *writer = gguf_writer_create(3, 32);
    struct dllm_string text, *strings;
    struct dllm_error error;
    struct dllm_file *file;
    uint8_t *bytes;
    size_t size, count;
    int64_t integer;
    int32_t *integers;
    double number;
    bool flag;

    (void)state;
    gguf_write_integer(writer, "count", DLLM_VALUE_U64, -1);
    gguf_write_integer(writer, "below", DLLM_VALUE_I32, -3);
    gguf_write_string(writer, "text", "x");
    gguf_write_f32(writer, "inf", infinite);
    gguf_write_array(writer, "large", DLLM_VALUE_U64, large, 2);
    bytes = gguf_writer_finish(writer, &size);
    file = open_bytes(bytes, size);

#define ASSERT_MESSAGE(call, text)                                                                 \
    assert_int_equal(call, DLLM_ERROR_FORMAT);                                                     \
    assert_string_equal(error.message, "x.gguf: key " text "; convert the model again")

    ASSERT_MESSAGE(gguf_get_integer(file, "none", true, 0, 9, &integer, &error),
                   "'none' is missing, expected it in a model of this kind");
    ASSERT_MESSAGE(gguf_get_integer(file, "count", true, 1, 9, &integer, &error),
                   "'count' is 18446744073709551615, expected 1 to 9");
    ASSERT_MESSAGE(gguf_get_integer(file, "count", true, -5, 9, &integer, &error),
                   "'count' is 18446744073709551615, expected -5 to 9");
    ASSERT_MESSAGE(gguf_get_integer(file, "below", false, 1, 9, &integer, &error),
                   "'below' is -3, expected 1 to 9");
    ASSERT_MESSAGE(gguf_get_integer(file, "text", false, 1, 9, &integer, &error),
                   "'text' is of kind string, expected an integer");
    ASSERT_MESSAGE(gguf_get_integer(file, "large", false, 1, 9, &integer, &error),
                   "'large' is an array of u64, expected an integer");
    ASSERT_MESSAGE(gguf_get_integer(file, "inf", false, 1, 9, &integer, &error),
                   "'inf' is of kind f32, expected an integer");
    ASSERT_MESSAGE(gguf_get_float(file, "inf", false, &number, &error),
                   "'inf' is inf, expected a finite number");
    ASSERT_MESSAGE(gguf_get_float(file, "text", false, &number, &error),
                   "'text' is of kind string, expected a number");
    ASSERT_MESSAGE(gguf_get_bool(file, "below", false, &flag, &error),
                   "'below' is of kind i32, expected a bool");
    ASSERT_MESSAGE(gguf_get_string(file, "below", false, &text, &error),
                   "'below' is of kind i32, expected a string");
    ASSERT_MESSAGE(gguf_get_strings(file, "large", false, &strings, &count, &error),
                   "'large' is an array of u64, expected an array of string");
    ASSERT_MESSAGE(gguf_get_integers(file, "text", false, &integers, &count, &error),
                   "'text' is of kind string, expected an array of integers");
    ASSERT_MESSAGE(gguf_get_integers(file, "large", false, &integers, &count, &error),
                   "'large' at element 1 is 1099511627776, expected -2147483648 to 2147483647");
    dllm_file_close(file);
    free(bytes);
}

/* Breaks when a real model cannot be read from disk. */
static void test_real_model(void **state)
{
    char path[PATH_BYTES];
    const struct dllm_tensor *tensor;
    struct dllm_file *file;

    (void)state;
    if (!model_data_find("llada-Q4_K_M.gguf", path))
        skip();
    assert_int_equal(dllm_file_open(path, &file, NULL), DLLM_OK);
    assert_int_equal(dllm_file_tensor_count(file), 21);
    tensor = dllm_file_find_tensor(file, "output.weight");
    assert_non_null(tensor);
    assert_int_equal(tensor->type, DTYPE_Q6_K);
    gguf_walk(file);
    dllm_file_close(file);
}

/* A vocabulary of full size, written to disk and opened. Breaks when reading
 * it needs more than the stated number of passes: with a quadratic one the
 * test runs into its time limit. Prints the time. */
static void test_large_vocabulary(void **state)
{
    enum { TOKENS = 151643 };
    struct dllm_string *tokens = calloc(TOKENS, sizeof *tokens), *read = NULL;
    char *text = calloc(TOKENS, 16), path[TEST_PATH_BYTES];
    struct gguf_writer *writer = gguf_writer_create(3, 32);
    struct dllm_file *file;
    size_t count = 0;
    double began;

    (void)state;
    for (size_t i = 0; i < TOKENS; i++) {
        tokens[i].data = text + 16 * i;
        tokens[i].size = (size_t)snprintf(text + 16 * i, 16, "token %zu", i);
    }
    gguf_write_strings(writer, "tokens", tokens, TOKENS);
    gguf_write_strings(writer, "merges", tokens, TOKENS);
    test_temporary_path(path);
    assert_true(gguf_writer_save(writer, path));
    began = clock_seconds();
    assert_int_equal(dllm_file_open(path, &file, NULL), DLLM_OK);
    print_message("opened 2 x %d strings in %.1f ms\n", TOKENS, 1e3 * (clock_seconds() - began));
    assert_int_equal(gguf_get_strings(file, "tokens", true, &read, &count, NULL), DLLM_OK);
    assert_int_equal(count, TOKENS);
    for (size_t i = 0; i < TOKENS; i++) {
        assert_int_equal(read[i].size, tokens[i].size);
        assert_memory_equal(read[i].data, tokens[i].data, tokens[i].size);
    }
    free(read);
    dllm_file_close(file);
    unlink(path);
    free(tokens);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_scalars),          cmocka_unit_test(test_arrays),
        cmocka_unit_test(test_tensors),          cmocka_unit_test(test_no_tensors),
        cmocka_unit_test(test_shared_tensor),    cmocka_unit_test(test_getters),
        cmocka_unit_test(test_getter_messages),  cmocka_unit_test(test_real_model),
        cmocka_unit_test(test_large_vocabulary),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
