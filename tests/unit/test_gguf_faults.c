/*
 * test_gguf_faults.c: files that are wrong. Each kind of fault has its message,
 * and no damage of any byte may crash the reader, let it read outside the file
 * or make it allocate more than the file justifies.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include <cmocka.h>

#include "gguf.h"
#include "gguf_walk.h"
#include "gguf_writer.h"

/* Opens a copy whose last byte is the last of its allocation. */
static enum dllm_status open_copy(const uint8_t *bytes, size_t size, struct dllm_error *error)
{
    uint8_t *copy = malloc(size);
    struct dllm_file *file;
    enum dllm_status status;

    assert_non_null(copy);
    memcpy(copy, bytes, size);
    memset(error, 0, sizeof *error);
    status = gguf_open_bytes("x.gguf", copy, size, &file, error);
    if (status == DLLM_OK)
        gguf_walk(file);
    else
        assert_null(file);
    assert_int_equal(status, error->status);
    dllm_file_close(file);
    free(copy);
    return status;
}

/* A name of the sample file from which patches are counted: the byte after it,
 * or the file's first byte. */
static size_t find_anchor(const uint8_t *bytes, size_t size, const char *name)
{
    size_t length = name ? strlen(name) : 0;

    if (!name)
        return 0;
    for (size_t at = 0; at + length <= size; at++)
        if (memcmp(bytes + at, name, length) == 0)
            return at + length;
    fail_msg("no '%s' in the sample file", name);
    return 0;
}

/* The sample file with `size` bytes at `delta` from an anchor replaced. */
struct fault {
    const char *anchor;
    int delta;
    const char *patch;
    size_t size;
    enum dllm_status status;
    const char *message; /* after "x.gguf: " */
};

#define PATCH(text) text, sizeof(text) - 1
#define U64_E18     "\0\0\x64\xa7\xb3\xb6\xe0\x0d" /* 10^18 */
#define ONES        "\xff\xff\xff\xff\xff\xff\xff\xff"

#define KNOWN_TYPES                                                                                \
    "F32, F16, BF16, Q8_0, Q4_0, Q4_1, Q5_0, Q5_1, Q2_K, Q3_K, Q4_K, Q5_K, Q6_K, IQ4_NL, IQ4_XS, " \
    "IQ3_S, IQ3_XXS, IQ2_S, IQ2_XS, IQ2_XXS, IQ1_M, IQ1_S, MXFP4, TQ1_0, TQ2_0"

static const struct fault faults[] = {
    /* header */
    {NULL, 4, PATCH("\x01"), DLLM_ERROR_UNSUPPORTED,
     "header at byte 4: GGUF version 1, expected 2 or 3; convert the model again with a newer "
     "converter"},
    {NULL, 4, PATCH("\x04"), DLLM_ERROR_UNSUPPORTED,
     "header at byte 4: GGUF version 4, expected 2 or 3; get the model in version 3 or a newer "
     "dllm"},
    {NULL, 4, PATCH("\x00"), DLLM_ERROR_UNSUPPORTED,
     "header at byte 4: GGUF version 0, expected 2 or 3; get the model in version 3"},
    {NULL, 4, PATCH("\0\0\0\x03"), DLLM_ERROR_UNSUPPORTED,
     "header at byte 4: a big-endian GGUF file (version bytes 03000000), expected a little-endian "
     "one; convert the model again"},
    {NULL, 8, PATCH(U64_E18), DLLM_ERROR_FORMAT,
     "header at byte 8: 1000000000000000000 tensors and 18 keys do not fit in the 872 bytes that "
     "follow: the file is cut or damaged; download or convert it again"},
    {NULL, 8, PATCH(ONES), DLLM_ERROR_FORMAT,
     "header at byte 8: 18446744073709551615 tensors and 18 keys do not fit in the 872 bytes that "
     "follow: the file is cut or damaged; download or convert it again"},
    {NULL, 8, PATCH("\x1b"), DLLM_ERROR_FORMAT,
     "header at byte 8: 27 tensors and 18 keys do not fit in the 872 bytes that follow: the file "
     "is cut or damaged; download or convert it again"},
    {NULL, 16, PATCH(U64_E18), DLLM_ERROR_FORMAT,
     "header at byte 8: 3 tensors and 1000000000000000000 keys do not fit in the 872 bytes that "
     "follow: the file is cut or damaged; download or convert it again"},
    {NULL, 8, PATCH("\x04"), DLLM_ERROR_FORMAT,
     "tensor 3 at byte 669: the name is empty, expected 1 to 65535 bytes; convert the model again"},
    {NULL, 16, PATCH("\x13"), DLLM_ERROR_FORMAT,
     "tensor 0 at byte 576: its name needs 562949953421312 bytes where only 320 are left: the file "
     "is damaged; download or convert it again"},
    /* keys */
    {"key.u8", -14, PATCH("\0"), DLLM_ERROR_FORMAT,
     "key 3 at byte 127: the name is empty, expected 1 to 65535 bytes; convert the model again"},
    {"key.u8", -14, PATCH(U64_E18), DLLM_ERROR_FORMAT,
     "key 3 at byte 135: its name needs 1000000000000000000 bytes where only 761 are left: the "
     "file is damaged; download or convert it again"},
    {"key.u8", -14, PATCH(ONES), DLLM_ERROR_FORMAT,
     "key 3 at byte 135: its name needs 18446744073709551615 bytes where only 761 are left: the "
     "file is damaged; download or convert it again"},
    {"key.i8", -2, PATCH("u"), DLLM_ERROR_FORMAT,
     "key 4 'key.u8' at byte 154: the name repeats that of key 3, expected every name once; "
     "convert the model again"},
    {"key.u8", 0, PATCH("\x0d"), DLLM_ERROR_FORMAT,
     "key 3 'key.u8' at byte 141: the kind of its value is 13, expected 0 to 12; the file is "
     "damaged, download or convert it again"},
    {"key.u8", -3, PATCH("\x1b\n\xff"), DLLM_OK, ""}, /* a name may be any bytes */
    {"general.architecture", 4, PATCH(U64_E18), DLLM_ERROR_FORMAT,
     "key 0 'general.architecture' at byte 64: its string needs 1000000000000000000 bytes where "
     "only 832 are left: the file is damaged; download or convert it again"},
    {"key.bool", 4, PATCH("\x02"), DLLM_ERROR_FORMAT,
     "key 10 'key.bool' at byte 296: a bool is 2, expected 0 or 1; the file is damaged, download "
     "or convert it again"},
    {"key.flags", 17, PATCH("\x80"), DLLM_ERROR_FORMAT,
     "key 15 'key.flags' at byte 456: a bool is 128, expected 0 or 1; the file is damaged, "
     "download or convert it again"},
    {"key.list", 4, PATCH("\x09"), DLLM_ERROR_UNSUPPORTED,
     "key 14 'key.list' at byte 398: an array of arrays, expected an array of numbers, bools or "
     "strings; convert the model again without this key"},
    {"key.list", 4, PATCH("\x0d"), DLLM_ERROR_FORMAT,
     "key 14 'key.list' at byte 398: the element kind of its array is 13, expected 0 to 12; the "
     "file is damaged, download or convert it again"},
    {"key.list", 8, PATCH(U64_E18), DLLM_ERROR_FORMAT,
     "key 14 'key.list' at byte 410: an array of 1000000000000000000 x u32 does not fit in the 486 "
     "bytes that remain: the file is cut or damaged; download or convert it again"},
    {"key.words", 8, PATCH("\0\0\0\0\0\0\0\x20"), DLLM_ERROR_FORMAT,
     "key 16 'key.words' at byte 490: an array of 2305843009213693952 x string does not fit in the "
     "406 bytes that remain: the file is cut or damaged; download or convert it again"},
    {"key.words", 16, PATCH(ONES), DLLM_ERROR_FORMAT,
     "key 16 'key.words' at byte 498: a string of its array needs 18446744073709551615 bytes where "
     "only 398 are left: the file is damaged; download or convert it again"},
    {"general.alignment", 4, PATCH("\0"), DLLM_ERROR_FORMAT,
     "key 'general.alignment' is 0, expected 1 to 2097152; convert the model again"},
    {"general.alignment", 4, PATCH("\x18"), DLLM_ERROR_FORMAT,
     "general.alignment is 24, expected a power of two; convert the model again"},
    {"general.alignment", 4, PATCH("\0\0\x40"), DLLM_ERROR_FORMAT,
     "key 'general.alignment' is 4194304, expected 1 to 2097152; convert the model again"},
    {"general.alignment", 0, PATCH("\x06"), DLLM_ERROR_FORMAT,
     "key 'general.alignment' is of kind f32, expected an integer; convert the model again"},
    {"split.count", 0, PATCH("\x03"), DLLM_OK, ""}, /* an integer of another kind */
    /* tensors: dims +0, shape +4, then type and offset */
    {"first", -13, PATCH("\0"), DLLM_ERROR_FORMAT,
     "tensor 0 at byte 549: the name is empty, expected 1 to 65535 bytes; convert the model again"},
    {"first", -13, PATCH(U64_E18), DLLM_ERROR_FORMAT,
     "tensor 0 at byte 557: its name needs 1000000000000000000 bytes where only 339 are left: the "
     "file is damaged; download or convert it again"},
    {"first", 0, PATCH("\0"), DLLM_ERROR_FORMAT,
     "tensor 0 'first' at byte 562: 0 dimensions, expected 1 to 4; the file is damaged, download "
     "or convert it again"},
    {"first", 0, PATCH("\x05"), DLLM_ERROR_FORMAT,
     "tensor 0 'first' at byte 562: 5 dimensions, expected 1 to 4; the file is damaged, download "
     "or convert it again"},
    {"first", 12, PATCH("\0"), DLLM_ERROR_FORMAT,
     "tensor 0 'first' at byte 574: dimension 1 is 0, expected at least 1; convert the model "
     "again"},
    {"first", 20, PATCH("\x4d"), DLLM_ERROR_UNSUPPORTED,
     "tensor 0 'first' at byte 582: type 77 is not known here, expected one such as " KNOWN_TYPES
     "; get the model in a known type or a newer dllm"},
    {"first", 20, PATCH("\x04"), DLLM_ERROR_UNSUPPORTED,
     "tensor 0 'first' at byte 582: type 4 is not known here, expected one such as " KNOWN_TYPES
     "; get the model in a known type or a newer dllm"},
    {"second", 4, PATCH("\x80\0"), DLLM_ERROR_FORMAT,
     "tensor 1 'second' at byte 620: the row length is 128, expected a multiple of 256, the block "
     "length of type Q4_K; convert the model again"},
    {"first", 4, PATCH(ONES ONES), DLLM_ERROR_FORMAT,
     "tensor 0 'first' at byte 582: the shape 18446744073709551615 x 18446744073709551615 x 1 x 1 "
     "of type F32 has more than 2^64 bytes; the file is damaged, download or convert it again"},
    {"first", 4, PATCH(U64_E18), DLLM_ERROR_FORMAT,
     "tensor 0 'first' at byte 672: its 8000000000000000000 bytes do not fit: the tensors end at "
     "byte 8000000000000000672, the file at 896: the file is damaged; download or convert it "
     "again"},
    {"second", 16, PATCH("\x28"), DLLM_ERROR_FORMAT,
     "tensor 1 'second' at byte 624: the offset is 40, expected a multiple of the alignment 32; "
     "the file is damaged, download or convert it again"},
    {"second", 16, PATCH("\0"), DLLM_ERROR_FORMAT,
     "tensor 1 'second' at byte 672: it overlaps tensor 0 'first', which has bytes 672 to 704; "
     "expected tensors apart, or exactly the same bytes; convert the model again"},
    {"second", 16, PATCH("\x40"), DLLM_ERROR_FORMAT,
     "tensor 2 'third' at byte 864: it overlaps tensor 1 'second', which has bytes 736 to 880; "
     "expected tensors apart, or exactly the same bytes; convert the model again"},
    {"third", 16, PATCH("\xe0"), DLLM_ERROR_FORMAT,
     "tensor 2 'third' at byte 896: its 32 bytes do not fit: the tensors end at byte 928, the file "
     "at 896: the file is cut (32 bytes are missing) or damaged; download or convert it again"},
    {"third", 16, PATCH("\xe0\xff\xff\xff\xff\xff\xff\xff"), DLLM_ERROR_FORMAT,
     "tensor 2 'third' at byte 18446744073709551615: its 32 bytes do not fit: the tensors end at "
     "byte 18446744073709551615, the file at 896: the file is damaged; download or convert it "
     "again"},
    {"third", -5, PATCH("first"), DLLM_ERROR_FORMAT,
     "tensor 2 'first' at byte 640: the name repeats that of tensor 0, expected every name once; "
     "convert the model again"},
    {"third", 4, PATCH("\x09"), DLLM_ERROR_FORMAT,
     "tensor 2 'third' at byte 864: its 36 bytes do not fit: the tensors end at byte 900, the file "
     "at 896: the file is cut (4 bytes are missing) or damaged; download or convert it again"},
};

static void check_fault(const struct fault *fault)
{
    size_t size, header, at;
    uint8_t *bytes = gguf_sample(&size, &header);
    char message[sizeof(((struct dllm_error *)0)->message)] = "";
    struct dllm_error error;
    enum dllm_status status;

    at = (size_t)((ptrdiff_t)find_anchor(bytes, size, fault->anchor) + fault->delta);
    assert_true(at + fault->size <= header);
    memcpy(bytes + at, fault->patch, fault->size);
    status = open_copy(bytes, size, &error);
    if (fault->status != DLLM_OK)
        snprintf(message, sizeof message, "x.gguf: %s", fault->message);
    assert_string_equal(error.message, message);
    assert_int_equal(status, fault->status);
    free(bytes);
}

/* A row breaks when its check is missing, or its message does not say what was
 * expected, what was found and where. */
static void test_faults(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(faults); i++)
        check_fault(&faults[i]);
}

/* Files that are something else: each must be called by its name. */
static const struct {
    const char *start;
    size_t size;
    const char *message; /* after "x.gguf: header at byte 0: " */
} lookalikes[] = {
    {PATCH("GGML\1\0\0\0"), "this is a GGML file, the format before GGUF, expected a GGUF file; "
                            "convert the model to GGUF"},
    {PATCH("lmgg\1\0\0\0"), "this is a GGML file, the format before GGUF, expected a GGUF file; "
                            "convert the model to GGUF"},
    {PATCH("tjgg\3\0\0\0"),
     "this is a GGJT file, a format before GGUF, expected a GGUF file; convert the model to GGUF"},
    {PATCH("FUGG\0\0\0\3"),
     "this is a big-endian GGUF file, expected a GGUF file; get the little-endian one"},
    {PATCH("PK\x03\x04\x14\0\0\0"),
     "this is a zip archive or PyTorch checkpoint, expected a GGUF file; unpack it or convert it "
     "to GGUF"},
    {PATCH("\x1f\x8b\x08\0\0\0\0\0"), "this is a gzip archive, expected a GGUF file; unpack it"},
    {PATCH("version https://git-lfs.github.com/spec/v1\noid sha256:00\n"),
     "this is a Git LFS pointer, not the file it stands for, expected a GGUF file; run `git lfs "
     "pull` or download the file itself"},
    {PATCH("\r\n<!DOCTYPE html>\n<html>"),
     "this is an HTML page, perhaps an error page of a download, expected a GGUF file; download "
     "the file itself"},
    /* Zeros are no blanks: a terabyte of them would be gone through. */
    {PATCH("\0\0<html>"),
     "not a GGUF file: it starts with bytes 00 00 3c 68, expected 47 47 55 46 (\"GGUF\"); give a "
     "GGUF model"},
    {PATCH("<HTML><body>Not found"),
     "this is an HTML page, perhaps an error page of a download, expected a GGUF file; download "
     "the file itself"},
    {PATCH("<?xml version=\"1.0\"?><Error>"),
     "this is an XML text, perhaps an error message of a download, expected a GGUF file; download "
     "the file itself"},
    {PATCH("{\"error\": \"not found\"}"),
     "this is a JSON text, expected a GGUF file; give the model file itself"},
    {PATCH("\x0d\0\0\0\0\0\0\0{\"a\": [0, 1]}"),
     "this is a safetensors file, expected a GGUF file; convert the model to GGUF"},
    {PATCH("\x93NUMPY\1\0"),
     "not a GGUF file: it starts with bytes 93 4e 55 4d, expected 47 47 55 46 (\"GGUF\"); give a "
     "GGUF model"},
    {PATCH("ab"), "not a GGUF file: it has 2 bytes, expected at least 24; give a GGUF model"},
    {PATCH(" "), "not a GGUF file: it has 1 bytes, expected at least 24; give a GGUF model"},
    {PATCH("GG"), "the header needs 24 bytes where only 2 are left: the file is cut (22 bytes are "
                  "missing) or damaged; download or convert it again"},
    {PATCH("GGUF\3\0\0\0\0\0\0\0"),
     "the header needs 24 bytes where only 12 are left: the file is cut (12 bytes are missing) or "
     "damaged; download or convert it again"},
};

static void test_lookalikes(void **state)
{
    char message[400];
    struct dllm_error error;

    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(lookalikes); i++) {
        snprintf(message, sizeof message, "x.gguf: header at byte 0: %s", lookalikes[i].message);
        assert_int_equal(
            open_copy((const uint8_t *)lookalikes[i].start, lookalikes[i].size, &error),
            DLLM_ERROR_FORMAT);
        assert_string_equal(error.message, message);
    }
}

/* Breaks when a file that is cut anywhere, header or data, opens, or when the
 * message does not say that it is cut. */
static void test_every_truncation(void **state)
{
    size_t size, header;
    uint8_t *bytes = gguf_sample(&size, &header);
    struct dllm_error error;

    (void)state;
    for (size_t cut = 1; cut < size; cut++) {
        assert_int_equal(open_copy(bytes, cut, &error), DLLM_ERROR_FORMAT);
        if (!strstr(error.message, "the file is cut"))
            fail_msg("cut at %zu: %s", cut, error.message);
    }
    assert_int_equal(open_copy(bytes, size, &error), DLLM_OK);
    free(bytes);
}

/* With the data part cut, the number of missing bytes is known. */
static void test_missing_bytes(void **state)
{
    size_t size, header;
    uint8_t *bytes = gguf_sample(&size, &header);
    struct dllm_error error;

    (void)state;
    assert_int_equal(open_copy(bytes, header + 40, &error), DLLM_ERROR_FORMAT);
    assert_string_equal(error.message,
                        "x.gguf: tensor 1 'second' at byte 704: its 144 bytes do not fit: the "
                        "tensors end at byte 896, the file at 712: the file is cut (184 bytes are "
                        "missing) or damaged; download or convert it again");
    free(bytes);
}

/* Limits the address space to little more than is in use, so that memory that
 * a file does not justify shows as a failed allocation; lifted by limit_end.
 * AddressSanitizer reserves terabytes: there the limit stays off. */
static struct rlimit limit_begin(void)
{
    static const rlim_t room = 16 << 20, reserved = (rlim_t)1 << 40;
    struct rlimit before, tight;
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");

    assert_non_null(file);
    assert_int_equal(fscanf(file, "%ld", &pages), 1);
    fclose(file);
    assert_int_equal(getrlimit(RLIMIT_AS, &before), 0);
    tight = before;
    tight.rlim_cur = (rlim_t)pages * 4096 + room;
    if (tight.rlim_cur < reserved)
        assert_int_equal(setrlimit(RLIMIT_AS, &tight), 0);
    return before;
}

static void limit_end(struct rlimit before)
{
    assert_int_equal(setrlimit(RLIMIT_AS, &before), 0);
}

/* Breaks when one damaged byte anywhere in the header crashes the reader, lets
 * it read outside the file (gguf_walk touches all that it offers) or makes it
 * allocate more than fits in the limit. */
static void test_every_corruption(void **state)
{
    static const uint8_t patterns[] = {0x00, 0xff, 0x7f, 0x80};
    size_t size, header, opened = 0, refused = 0;
    uint8_t *bytes = gguf_sample(&size, &header);
    struct rlimit before = limit_begin();
    struct dllm_error error;

    (void)state;
    for (size_t at = 0; at < header; at++) {
        uint8_t good = bytes[at];

        for (size_t i = 0; i < 8 + ARRAY_COUNT(patterns); i++) {
            enum dllm_status status;

            bytes[at] = i < 8 ? (uint8_t)(good ^ 1 << i) : patterns[i - 8];
            status = open_copy(bytes, size, &error);
            assert_int_not_equal(status, DLLM_ERROR_MEMORY);
            opened += status == DLLM_OK;
            refused += status != DLLM_OK;
        }
        bytes[at] = good;
    }
    limit_end(before);
    print_message("%zu damaged files: %zu opened, %zu refused\n", opened + refused, opened,
                  refused);
    assert_true(refused > opened / 2);
    free(bytes);
}

/* Breaks when a count that the file cannot hold is believed: every field of
 * eight bytes set to huge values must fail at once, within the memory limit. */
static void test_huge_counts(void **state)
{
    static const uint64_t counts[] = {1000000000000000000, UINT64_MAX, 1ull << 63, 1ull << 32};
    size_t size, header;
    uint8_t *bytes = gguf_sample(&size, &header), saved[8];
    struct rlimit before = limit_begin();
    struct dllm_error error;

    (void)state;
    for (size_t at = 8; at + 8 <= header; at++)
        for (size_t i = 0; i < ARRAY_COUNT(counts); i++) {
            memcpy(saved, bytes + at, 8);
            memcpy(bytes + at, &counts[i], 8);
            assert_int_not_equal(open_copy(bytes, size, &error), DLLM_ERROR_MEMORY);
            memcpy(bytes + at, saved, 8);
        }
    limit_end(before);
    free(bytes);
}

/* A file with one key whose name is `length` bytes long. */
static enum dllm_status open_named(size_t length, struct dllm_error *error)
{
    char *name = calloc(1, length + 1);
    struct gguf_writer *writer = gguf_writer_create(3, 32);
    enum dllm_status status;
    uint8_t *bytes;
    size_t size;

    assert_non_null(name);
    memset(name, 'n', length);
    gguf_write_integer(writer, name, DLLM_VALUE_U8, 1);
    bytes = gguf_writer_finish(writer, &size);
    status = open_copy(bytes, size, error);
    free(name);
    free(bytes);
    return status;
}

/* Breaks when the format's limit on names is off by one or missing. */
static void test_long_names(void **state)
{
    struct dllm_error error;

    (void)state;
    assert_int_equal(open_named(65535, &error), DLLM_OK);
    assert_int_equal(open_named(65536, &error), DLLM_ERROR_FORMAT);
    assert_string_equal(error.message,
                        "x.gguf: key 0 at byte 24: the name has 65536 bytes, expected 1 to 65535; "
                        "the file is damaged, download or convert it again");
}

/* Breaks when repeated names are found by comparing every pair: 300,000 keys
 * with a common prefix would then take minutes. */
static void test_repeated_names_among_many(void **state)
{
    enum { KEYS = 300000 };
    struct gguf_writer *writer = gguf_writer_create(3, 32);
    struct dllm_error error;
    char name[64];
    uint8_t *bytes;
    size_t size;

    (void)state;
    for (int i = 0; i < KEYS; i++) {
        snprintf(name, sizeof name, "a.common.prefix.of.some.length.%d", i == KEYS - 1 ? 7 : i);
        gguf_write_integer(writer, name, DLLM_VALUE_U8, 0);
    }
    bytes = gguf_writer_finish(writer, &size);
    assert_int_equal(open_copy(bytes, size, &error), DLLM_ERROR_FORMAT);
    assert_non_null(strstr(error.message, "the name repeats that of key 7,"));
    free(bytes);
}

/* Breaks when of two repeated names the one that comes first in the file is
 * not the one reported. */
static void test_first_repeated_name(void **state)
{
    static const char *const names[] = {"b", "a", "c", "a", "c", "b"};
    struct gguf_writer *writer = gguf_writer_create(3, 32);
    struct dllm_error error;
    uint8_t *bytes;
    size_t size;

    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(names); i++)
        gguf_write_integer(writer, names[i], DLLM_VALUE_U8, 0);
    bytes = gguf_writer_finish(writer, &size);
    assert_int_equal(open_copy(bytes, size, &error), DLLM_ERROR_FORMAT);
    assert_non_null(strstr(error.message, "key 3 'a'"));
    assert_non_null(strstr(error.message, "repeats that of key 1,"));
    free(bytes);
}

/* Breaks when a message passes on control characters of a hostile name, or
 * leaves no room for the advice behind a long path. */
static void test_messages_are_printable(void **state)
{
    struct gguf_writer *writer = gguf_writer_create(3, 32);
    char path[3000];
    struct dllm_error error;
    struct dllm_file *file;
    uint8_t *bytes;
    size_t size;

    (void)state;
    gguf_write_integer(writer, "\x1b[2J\n\xffname", DLLM_VALUE_BOOL, 3);
    bytes = gguf_writer_finish(writer, &size);
    memset(path, 'p', sizeof path);
    snprintf(path + sizeof path - 6, 6, ".gguf");
    assert_int_equal(gguf_open_bytes(path, bytes, size, &file, &error), DLLM_ERROR_FORMAT);
    assert_non_null(strstr(error.message, "key 0 '\\x1b[2J\\x0a\\xffname' at byte"));
    assert_non_null(strstr(error.message, "pp.gguf: "));
    assert_non_null(strstr(error.message, "download or convert it again"));
    free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_faults),
        cmocka_unit_test(test_lookalikes),
        cmocka_unit_test(test_every_truncation),
        cmocka_unit_test(test_missing_bytes),
        cmocka_unit_test(test_every_corruption),
        cmocka_unit_test(test_huge_counts),
        cmocka_unit_test(test_long_names),
        cmocka_unit_test(test_repeated_names_among_many),
        cmocka_unit_test(test_first_repeated_name),
        cmocka_unit_test(test_messages_are_printable),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
