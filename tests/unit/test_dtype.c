/* test_dtype.c: the table of tensor types. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "compiler.h"
#include "dllm.h"
#include "dtype.h"
#include "test_paths.h"

/* The format's own table: id, name, weights and bytes per block. Breaks when a
 * row of ours is missing or wrong. */
static const struct {
    uint32_t id;
    const char *name;
    uint32_t weights, bytes;
} formats[] = {
    {0, "F32", 1, 4},         {1, "F16", 1, 2},         {2, "Q4_0", 32, 18},
    {3, "Q4_1", 32, 20},      {6, "Q5_0", 32, 22},      {7, "Q5_1", 32, 24},
    {8, "Q8_0", 32, 34},      {9, "Q8_1", 32, 36},      {10, "Q2_K", 256, 84},
    {11, "Q3_K", 256, 110},   {12, "Q4_K", 256, 144},   {13, "Q5_K", 256, 176},
    {14, "Q6_K", 256, 210},   {15, "Q8_K", 256, 292},   {16, "IQ2_XXS", 256, 66},
    {17, "IQ2_XS", 256, 74},  {18, "IQ3_XXS", 256, 98}, {19, "IQ1_S", 256, 50},
    {20, "IQ4_NL", 32, 18},   {21, "IQ3_S", 256, 110},  {22, "IQ2_S", 256, 82},
    {23, "IQ4_XS", 256, 136}, {24, "I8", 1, 1},         {25, "I16", 1, 2},
    {26, "I32", 1, 4},        {27, "I64", 1, 8},        {28, "F64", 1, 8},
    {29, "IQ1_M", 256, 56},   {30, "BF16", 1, 2},       {34, "TQ1_0", 256, 54},
    {35, "TQ2_0", 256, 66},   {39, "MXFP4", 32, 17},    {40, "NVFP4", 64, 36},
    {41, "Q1_0", 128, 18},    {42, "Q2_0", 64, 18},
};

static void test_table(void **state)
{
    size_t known = 0;

    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(formats); i++) {
        const struct dtype_info *info = dtype_info(formats[i].id);

        assert_non_null(info);
        assert_string_equal(info->name, formats[i].name);
        assert_string_equal(dllm_type_name(formats[i].id), formats[i].name);
        assert_int_equal(info->block_weights, formats[i].weights);
        assert_int_equal(info->block_bytes, formats[i].bytes);
    }
    for (uint32_t id = 0; id < 1000; id++)
        known += dtype_info(id) != NULL;
    assert_int_equal(known, ARRAY_COUNT(formats));
    assert_null(dllm_type_name(4));
    assert_null(dllm_type_name(43));
    assert_null(dllm_type_name(UINT32_MAX));
}

/* Bytes of a file of random blocks of that type, 0 if there is none. Those of
 * types without kernels are only in the larger test data. */
static size_t blocks_file_bytes(const char *type)
{
    char name[64];
    const char *path;
    size_t size = 0;

    snprintf(name, sizeof name, "data/dequant/%s.blocks", type);
    path = test_shared_path(name);
    free(test_read_file(path ? path : test_data_path(name + strlen("data/")), &size));
    return size;
}

/* Breaks when a block size differs from files that another program wrote: each
 * holds 8 rows of 256 weights. */
static void test_sizes_of_real_blocks(void **state)
{
    size_t checked = 0;

    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(formats); i++) {
        size_t size = blocks_file_bytes(formats[i].name);

        if (size > 0)
            assert_int_equal(size, 8 * dtype_row_bytes(formats[i].id, 256));
        checked += size > 0;
    }
    assert_true(checked >= 4);
    print_message("%zu types checked\n", checked);
}

/* Breaks when the list in messages and the flags of the table disagree. */
static void test_matrix_types(void **state)
{
    char list[300] = "";

    (void)state;
    for (uint32_t id = 0; id < DTYPE_LIMIT; id++)
        if (dtype_info(id) && dtype_info(id)->matrix)
            assert_non_null(strstr(dtype_matrix_names(), dtype_info(id)->name));
    snprintf(list, sizeof list, "%s", dtype_matrix_names());
    for (char *name = strtok(list, ", "); name; name = strtok(NULL, ", ")) {
        bool found = false;

        for (uint32_t id = 0; id < DTYPE_LIMIT; id++)
            found |=
                dtype_info(id) && dtype_info(id)->matrix && strcmp(dtype_info(id)->name, name) == 0;
        assert_true(found);
    }
}

/* Breaks when a scale that is not finite is not seen in a type that has it elsewhere: in a
 * half float of its own, in four nibbles (IQ1_M), or nowhere (MXFP4: any exponent is one). */
static void test_not_finite(void **state)
{
    (void)state;
    for (uint32_t type = 0; type < DTYPE_LIMIT; type++) {
        const struct dtype_info *info = dtype_info(type);
        uint8_t blocks[3 * 300] = {0}, *last;

        if (!info || !info->matrix || info->block_weights == 1)
            continue;
        last = blocks + 2 * info->block_bytes;
        assert_true(dtype_find_not_finite(type, blocks, 3 * info->block_bytes) == -1);
        if (info->scales == SCALES_NIBBLES) {
            last[info->first_scale + 5] = 0xcf; /* bits 8..11 of the half float */
            last[info->first_scale + 7] = 0x7f; /* and 12..15: 0x7c00 */
        } else {
            last[info->first_scale] = 0xff;
            last[info->first_scale + 1] = 0x7f;
        }
        assert_true(dtype_find_not_finite(type, blocks, 3 * info->block_bytes) ==
                    (info->scales == SCALES_EXPONENT ? -1 : 2 * (int64_t)info->block_bytes));
    }
}

/* Breaks when a row of blocks is measured by weights instead of blocks, or in
 * 32 bits. */
static void test_row_bytes(void **state)
{
    (void)state;
    assert_int_equal(dtype_row_bytes(DTYPE_Q4_K, 4096), 16 * 144);
    assert_int_equal(dtype_row_bytes(DTYPE_F32, 3), 12);
    assert_true(dtype_row_bytes(DTYPE_F32, 1ull << 40) == 1ull << 42);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table),        cmocka_unit_test(test_sizes_of_real_blocks),
        cmocka_unit_test(test_matrix_types), cmocka_unit_test(test_not_finite),
        cmocka_unit_test(test_row_bytes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
