/*
 * test_quantize.c: dllm_quantize on small files: types, keys and values of the new
 * file, threads, and every way to fail.
 */
#include "compiler.h"
#include "dllm.h"
#include "dtype.h"
#include "encode.h"
#include "gguf.h"
#include "gguf_writer.h"
#include "kernels.h"
#include "test_paths.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { LAYERS = 8, ROWS = 5 };

/* The new file; at most `limit` bytes are taken (0: all), `calls` reports. */
struct sink {
    uint8_t *data;
    size_t size, limit;
    int calls;
    uint64_t bytes_to_write; /* by the last report */
};

static bool take(void *user, const void *data, size_t size)
{
    struct sink *sink = user;

    if (sink->limit && sink->size + size > sink->limit)
        return false;
    sink->data = realloc(sink->data, sink->size + size + 1);
    assert_non_null(sink->data);
    memcpy(sink->data + sink->size, data, size);
    sink->size += size;
    return true;
}

static bool keep_on(void *user, const struct dllm_quantize_progress *progress)
{
    struct sink *sink = user;

    assert_true(progress->tensor < progress->tensors);
    assert_true(progress->bytes_read <= progress->bytes_to_read);
    assert_int_equal(progress->bytes_written, sink->size);
    sink->bytes_to_write = progress->bytes_to_write;
    return --sink->calls != 0;
}

static void put_matrix(struct gguf_writer *writer, const char *name, uint32_t type, int width)
{
    float values[ROWS * 512];

    for (int i = 0; i < ROWS * width; i++)
        values[i] = sinf((float)i * 0.37f) * (float)(1 + i % 11);
    gguf_write_tensor(writer, name, type, (uint64_t)width, ROWS, values);
}

/* A file of a few layers; writes it to path. extra: of this name and type. */
static void make_file(char path[TEST_PATH_BYTES], const char *extra, uint32_t type)
{
    struct gguf_writer *writer = gguf_writer_create(3, 64);
    float norm[256] = {1};
    char name[64];

    gguf_write_string(writer, "general.architecture", "llada");
    gguf_write_integer(writer, "general.file_type", DLLM_VALUE_U32, 0);
    gguf_write_integer(writer, "llada.block_count", DLLM_VALUE_U16, LAYERS);
    gguf_write_f32(writer, "llada.eps", 1.25f);
    gguf_write_array(writer, "some.array", DLLM_VALUE_I16, (int16_t[]){-1, 2, 3}, 3);
    put_matrix(writer, "token_embd.weight", DTYPE_F32, 256);
    put_matrix(writer, "output.weight", DTYPE_F32, 256);
    gguf_write_tensor(writer, "output_norm.weight", DTYPE_F32, 256, 1, norm);
    for (int i = 0; i < LAYERS; i++) {
        snprintf(name, sizeof name, "blk.%d.attn_v.weight", i);
        put_matrix(writer, name, DTYPE_F32, 256);
        snprintf(name, sizeof name, "blk.%d.attn_q.weight", i);
        put_matrix(writer, name, DTYPE_F32, i == 0 ? 96 : 512);
    }
    put_matrix(writer, "blk.0.ffn_gate_inp.weight", DTYPE_F32, 256);
    if (extra)
        put_matrix(writer, extra, type, 256);
    test_temporary_path(path);
    assert_true(gguf_writer_save(writer, path));
}

static enum dllm_status quantize(const char *path, const char *type, int threads, struct sink *sink,
                                 struct dllm_error *error)
{
    struct dllm_quantize_options options = {
        .type = type, .threads = threads, .write = take, .on_progress = keep_on, .user = sink};

    return dllm_quantize(path, &options, NULL, error);
}

static uint32_t type_of(const struct dllm_file *file, const char *name)
{
    const struct dllm_tensor *tensor = dllm_file_find_tensor(file, name);

    assert_non_null(tensor);
    return tensor->type;
}

/* Breaks if a mix gives a tensor another type, a vector or router is encoded, or a
 * row of no whole super-blocks is. */
static void test_types(void **state)
{
    char path[TEST_PATH_BYTES], name[64];
    struct sink sink = {0};
    struct dllm_file *file;

    (void)state;
    make_file(path, NULL, 0);
    assert_int_equal(quantize(path, "Q4_K_M", 2, &sink, NULL), DLLM_OK);
    assert_int_equal(sink.size, sink.bytes_to_write);
    assert_int_equal(gguf_open_bytes("new", sink.data, sink.size, &file, NULL), DLLM_OK);
    assert_int_equal(type_of(file, "token_embd.weight"), DTYPE_Q4_K);
    assert_int_equal(type_of(file, "output.weight"), DTYPE_Q6_K);
    assert_int_equal(type_of(file, "output_norm.weight"), DTYPE_F32);
    assert_int_equal(type_of(file, "blk.0.ffn_gate_inp.weight"), DTYPE_F32);
    assert_int_equal(type_of(file, "blk.0.attn_q.weight"), DTYPE_Q5_0); /* 96 wide */
    assert_int_equal(type_of(file, "blk.1.attn_q.weight"), DTYPE_Q4_K);
    for (int i = 0; i < LAYERS; i++) {
        bool better = i == 0 || i == 3 || i == 6 || i == 7;

        snprintf(name, sizeof name, "blk.%d.attn_v.weight", i);
        assert_int_equal(type_of(file, name), better ? DTYPE_Q6_K : DTYPE_Q4_K);
    }
    dllm_file_close(file);
    free(sink.data);
    unlink(path);
}

/* Breaks if a key is lost or changed but the two that tell the types. */
static void test_keys(void **state)
{
    char path[TEST_PATH_BYTES];
    struct sink sink = {0};
    struct dllm_file *file;
    double eps = 0;
    int64_t number = 0;
    int32_t *array;
    size_t count;

    (void)state;
    make_file(path, NULL, 0);
    assert_int_equal(quantize(path, "Q5_K_M", 1, &sink, NULL), DLLM_OK);
    assert_int_equal(gguf_open_bytes("new", sink.data, sink.size, &file, NULL), DLLM_OK);
    assert_int_equal(dllm_file_key_count(file), 7);
    assert_int_equal(gguf_get_float(file, "llada.eps", true, &eps, NULL), DLLM_OK);
    assert_true(eps == 1.25);
    assert_int_equal(dllm_file_find_key(file, "llada.block_count")->value.type, DLLM_VALUE_U16);
    assert_int_equal(gguf_get_integer(file, "general.file_type", true, 0, 99, &number, NULL), 0);
    assert_int_equal(number, 17);
    assert_int_equal(gguf_get_integers(file, "some.array", true, &array, &count, NULL), DLLM_OK);
    assert_int_equal(count, 3);
    assert_int_equal(array[0], -1);
    assert_int_equal(dllm_file_find_tensor(file, "output.weight")->offset % 64, 0);
    free(array);
    dllm_file_close(file);
    free(sink.data);
    unlink(path);
}

/* The largest error of token_embd.weight, in parts of its largest value. */
static double error_of(const char *path, const char *type)
{
    struct sink sink = {0};
    struct dllm_file *file, *source;
    const struct dllm_tensor *tensor;
    const float *truth;
    float row[256];
    double worst = 0, most = 0;

    assert_int_equal(quantize(path, type, 3, &sink, NULL), DLLM_OK);
    assert_int_equal(gguf_open_bytes("new", sink.data, sink.size, &file, NULL), DLLM_OK);
    assert_int_equal(dllm_file_open(path, &source, NULL), DLLM_OK);
    tensor = dllm_file_find_tensor(file, "token_embd.weight");
    truth = dllm_file_find_tensor(source, "token_embd.weight")->data;
    for (int r = 0; r < ROWS; r++) {
        dequantize_row(tensor->type,
                       (const char *)tensor->data + (size_t)r * dtype_row_bytes(tensor->type, 256),
                       256, row);
        for (int i = 0; i < 256; i++) {
            worst = fmax(worst, fabs((double)row[i] - (double)truth[256 * r + i]));
            most = fmax(most, fabs((double)truth[256 * r + i]));
        }
    }
    dllm_file_close(source);
    dllm_file_close(file);
    free(sink.data);
    return worst / most;
}

/* Breaks if what is written does not decode to what was read: a step of a type is
 * 1 / 127 of the largest value, 1 / 32, 2 / 31 or 2 / 15, an error half of it and
 * something for rounded scales. */
static void test_values(void **state)
{
    char path[TEST_PATH_BYTES];

    (void)state;
    make_file(path, NULL, 0);
    assert_true(error_of(path, "Q8_0") < 0.6 / 127);
    assert_true(error_of(path, "Q6_K") < 0.7 / 32);
    assert_true(error_of(path, "Q5_K") < 1.5 / 31);
    assert_true(error_of(path, "Q4_K") < 1.5 / 15);
    unlink(path);
}

/* Breaks if rows depend on the worker that encoded them, or a number of threads that no machine
 * has is tried. */
static void test_threads(void **state)
{
    char path[TEST_PATH_BYTES];
    struct sink one = {0}, four = {0};
    struct dllm_error error = {0};

    (void)state;
    make_file(path, NULL, 0);
    assert_int_equal(quantize(path, "Q4_K_M", 1, &one, NULL), DLLM_OK);
    assert_int_equal(quantize(path, "Q4_K_M", 4, &four, NULL), DLLM_OK);
    assert_int_equal(one.size, four.size);
    assert_memory_equal(one.data, four.data, one.size);
    free(one.data);
    free(four.data);
    assert_int_equal(quantize(path, "Q4_K_M", -1, &one, &error), DLLM_ERROR_USAGE);
    assert_int_equal(quantize(path, "Q4_K_M", 1025, &one, &error), DLLM_ERROR_USAGE);
    assert_string_equal(error.message,
                        "threads is 1025; 1 to 1024, or 0 for all cores, was expected");
    unlink(path);
}

static void expect_failure(const char *path, const char *type, struct sink sink,
                           enum dllm_status status, const char *message)
{
    struct dllm_error error = {0};

    assert_int_equal(quantize(path, type, 2, &sink, &error), status);
    if (!strstr(error.message, message))
        fail_msg("%s", error.message);
    free(sink.data);
}

/* Breaks if a fault of the input, a full disk or ctrl-c passes unnoticed. */
static void test_failures(void **state)
{
    const struct sink whole = {0};
    char path[TEST_PATH_BYTES];
    struct gguf_writer *writer;
    float values[256] = {[7] = INFINITY};

    (void)state;
    make_file(path, "blk.1.ffn_up.weight", DTYPE_Q8_0);
    expect_failure(path, "Q4_K_M", whole, DLLM_ERROR_UNSUPPORTED,
                   "tensor blk.1.ffn_up.weight has type Q8_0; F32, F16 or BF16 was expected, since "
                   "quantizing again what was quantized loses more than the size says: start from "
                   "the converted file");
    unlink(path);
    make_file(path, NULL, 0);
    expect_failure(path, "Q4_Z", whole, DLLM_ERROR_USAGE,
                   "there is no file type \"Q4_Z\"; expected one of Q8_0, Q6_K, Q5_K_M, Q4_K_M, "
                   "Q5_K, Q4_K");
    expect_failure(path, "Q6_K", (struct sink){.limit = 100}, DLLM_ERROR_IO,
                   "the output could not be written");
    expect_failure(path, "Q6_K", (struct sink){.limit = 5000}, DLLM_ERROR_IO,
                   "the output could not be written");
    expect_failure(path, "Q6_K", (struct sink){.calls = 3}, DLLM_INTERRUPTED, "interrupted");
    /* The report with the size comes before the first byte, which this sink would not take. */
    expect_failure(path, "Q6_K", (struct sink){.limit = 1, .calls = 1}, DLLM_INTERRUPTED,
                   "interrupted");
    unlink(path);
    writer = gguf_writer_create(3, 32);
    gguf_write_tensor(writer, "a.weight", DTYPE_F32, 32, 8, values);
    test_temporary_path(path);
    assert_true(gguf_writer_save(writer, path));
    expect_failure(path, "Q8_0", whole, DLLM_ERROR_NUMERIC,
                   "tensor a.weight has a value that is not finite in row 0, which no Q8_0 can "
                   "hold; convert the model again");
    unlink(path);
}

/* Breaks when a weight beyond what a 16-bit scale can express becomes infinite in
 * the new file, or the row named is another. */
static void test_scales_overflow(void **state)
{
    static const char *const types[] = {"Q8_0", "Q6_K", "Q5_K", "Q4_K"};
    static float values[4 * 256];
    char path[TEST_PATH_BYTES], message[200];
    struct gguf_writer *writer = gguf_writer_create(3, 32);

    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(values); i++)
        values[i] = (float)(i % 17) - 8;
    values[2 * 256 + 31] = -3e38f;
    values[3 * 256 + 1] = 1e30f;
    gguf_write_tensor(writer, "a.weight", DTYPE_F32, 256, 4, values);
    test_temporary_path(path);
    assert_true(gguf_writer_save(writer, path));
    for (size_t i = 0; i < ARRAY_COUNT(types); i++) {
        snprintf(message, sizeof message,
                 "tensor a.weight has a value in row 2 that is too large for the 16-bit scales of "
                 "%s; choose a wider type",
                 types[i]);
        expect_failure(path, types[i], (struct sink){0}, DLLM_ERROR_NUMERIC, message);
    }
    unlink(path);
}

/* Breaks when some values make an encoder hang, write past its block or (under the
 * sanitizers) compute what is not defined: zeros, the smallest and the largest
 * numbers in every mixture. */
static void test_extreme_values(void **state)
{
    static const float extremes[] = {0,  -0.0f, 0x1p-149f, -0x1p-126f, 1e-20f, -1e-20f, 1,
                                     -1, 65504, -8e6f,     1e30f,      -1e38f, 3.4e38f};
    static const uint32_t types[] = {DTYPE_Q8_0, DTYPE_Q5_0, DTYPE_Q5_1,
                                     DTYPE_Q4_K, DTYPE_Q5_K, DTYPE_Q6_K};
    uint64_t random = 1;
    uint8_t block[400];
    float x[256];

    (void)state;
    for (int round = 0; round < 3000; round++) {
        size_t kinds = 1 + (size_t)round % ARRAY_COUNT(extremes);

        for (int i = 0; i < 256; i++) {
            random = random * 6364136223846793005u + 1442695040888963407u;
            x[i] = extremes[((random >> 33) % kinds + (size_t)round / 13) % ARRAY_COUNT(extremes)];
        }
        for (size_t i = 0; i < ARRAY_COUNT(types); i++) {
            size_t bytes = dtype_row_bytes(types[i], 256);

            assert_true(bytes < sizeof block);
            memset(block, 0x5a, sizeof block);
            encode_row(types[i], x, 256, block);
            for (size_t at = bytes; at < sizeof block; at++)
                assert_int_equal(block[at], 0x5a);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_types),          cmocka_unit_test(test_keys),
        cmocka_unit_test(test_values),         cmocka_unit_test(test_threads),
        cmocka_unit_test(test_failures),       cmocka_unit_test(test_scales_overflow),
        cmocka_unit_test(test_extreme_values),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
