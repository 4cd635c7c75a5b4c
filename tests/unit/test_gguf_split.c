/*
 * test_gguf_split: models in several files.
 * What would break: a part that is missing, of another model or there twice goes
 * unnoticed; tensors of later parts are not found or point into another part.
 */
#include "compiler.h"
#include "gguf_walk.h"
#include "split_sample.h"
#include "test_paths.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* A scratch folder and the paths of the sample's parts in it. */
struct fixture {
    char folder[TEST_PATH_BYTES];
    char paths[SPLIT_PARTS][TEST_PATH_BYTES + 40];
};

static void write_part(const struct fixture *f, int place, const struct split_part *part)
{
    size_t size;
    uint8_t *bytes = split_sample_bytes(part, &size);
    FILE *file = fopen(f->paths[place], "wb");

    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
    free(bytes);
}

static void create(struct fixture *f)
{
    strcpy(f->folder, "/tmp/dllm-split-XXXXXX");
    assert_non_null(mkdtemp(f->folder));
    for (int i = 0; i < SPLIT_PARTS; i++) {
        struct split_part part = split_sample_part(i);

        snprintf(f->paths[i], sizeof f->paths[i], "%s/x-%05d-of-%05d.gguf", f->folder, i + 1,
                 SPLIT_PARTS);
        write_part(f, i, &part);
    }
}

static void destroy(const struct fixture *f)
{
    for (int i = 0; i < SPLIT_PARTS; i++)
        unlink(f->paths[i]);
    assert_int_equal(rmdir(f->folder), 0);
}

static void check_tensor(const struct dllm_file *file, const char *name, uint32_t part)
{
    const struct dllm_tensor *tensor = dllm_file_find_tensor(file, name);
    float value;

    assert_non_null(tensor);
    assert_int_equal(tensor->part, part);
    memcpy(&value, tensor->data, sizeof value);
    assert_int_equal((int)value, name[0]);
}

static void check_whole(const struct fixture *f, const struct dllm_file *file)
{
    uint64_t size = 0;

    assert_int_equal(dllm_file_tensor_count(file), 5);
    assert_int_equal(dllm_file_part_count(file), SPLIT_PARTS);
    for (size_t i = 0; i < SPLIT_PARTS; i++) {
        assert_string_equal(dllm_file_part_path(file, i), f->paths[i]);
        size += dllm_file_part_size(file, i);
    }
    assert_int_equal(dllm_file_size(file), size);
    assert_non_null(dllm_file_find_key(file, "general.architecture"));
    assert_null(dllm_file_find_tensor(file, "f"));
    check_tensor(file, "a", 0);
    check_tensor(file, "b", 0);
    check_tensor(file, "c", 2);
    check_tensor(file, "e", 2);
    gguf_walk(file);
}

static void test_any_part_opens_all(void **state)
{
    struct fixture f;

    (void)state;
    create(&f);
    for (int i = 0; i < SPLIT_PARTS; i++) {
        struct dllm_file *file;
        struct dllm_error error = {0};

        if (dllm_file_open(f.paths[i], &file, &error) != DLLM_OK)
            fail_msg("%s", error.message);
        check_whole(&f, file);
        dllm_file_close(file);
    }
    destroy(&f);
}

/* Opening the part at `opened` must fail with this message, in which a tilde
 * stands for the scratch folder. */
static void expect(const struct fixture *f, int opened, enum dllm_status status,
                   const char *message)
{
    char want[1000] = "";
    struct dllm_error error = {0};
    struct dllm_file *file;

    for (const char *at = message; *at; at++)
        snprintf(want + strlen(want), sizeof want - strlen(want), *at == '~' ? "%s" : "%.1s",
                 *at == '~' ? f->folder : at);
    assert_int_equal(dllm_file_open(f->paths[opened], &file, &error), status);
    assert_null(file);
    assert_string_equal(error.message, want);
}

static void test_a_missing_part_is_named(void **state)
{
    struct fixture f;

    (void)state;
    create(&f);
    unlink(f.paths[1]);
    expect(&f, 2, DLLM_ERROR_IO,
           "~/x-00002-of-00003.gguf, part 2 of a model split into 3 files, is missing; all parts "
           "were expected in one folder: download it");
    destroy(&f);
}

/* A part whose place in the sample and contents differ, and what is said. */
static void check_fault(int place, struct split_part part, int opened, const char *message)
{
    struct fixture f;

    create(&f);
    write_part(&f, place, &part);
    expect(&f, opened, DLLM_ERROR_FORMAT, message);
    destroy(&f);
}

static void test_a_foreign_part_is_named(void **state)
{
    struct split_part part = split_sample_part(1);

    (void)state;
    part.count = 4;
    check_fault(1, part, 0,
                "~/x-00002-of-00003.gguf: by its keys it is part 2 of 4, by its name part 2 of 3; "
                "it belongs to another model or was renamed: download the parts again");
    part = split_sample_part(1);
    part.total = 7;
    check_fault(1, part, 0,
                "~/x-00002-of-00003.gguf: split.tensors.count is 7, 5 in another part; equal "
                "numbers were expected: the parts are of different models, download them again");
    part.count = 0;
    check_fault(2, part, 0,
                "~/x-00003-of-00003.gguf: by its keys it is part 1 of 1, by its name part 3 of 3; "
                "it belongs to another model or was renamed: download the parts again");
}

static void test_a_repeated_part_is_named(void **state)
{
    (void)state;
    check_fault(2, split_sample_part(0), 1,
                "~/x-00003-of-00003.gguf: by its keys it is part 1 of 3, by its name part 3 of 3; "
                "it belongs to another model or was renamed: download the parts again");
    check_fault(0, split_sample_part(1), 0,
                "~/x-00001-of-00003.gguf is part 2 of a model split into 3 files, which are found "
                "by their names; expected one that ends in -00002-of-00003.gguf: give all parts "
                "their published names");
}

static void test_a_surplus_part_is_named(void **state)
{
    struct split_part part = split_sample_part(1);

    (void)state;
    part.number = 3;
    check_fault(1, part, 1,
                "~/x-00002-of-00003.gguf: split.no is 3, but split.count says that there are 3 "
                "parts, counted from 0; the file is damaged, download it again");
}

static void test_tensors_are_counted(void **state)
{
    struct split_part part = split_sample_part(2);

    (void)state;
    part.tensors = "cd";
    check_fault(2, part, 0,
                "~/x-00001-of-00003.gguf: split.tensors.count is 5, but the 3 parts hold 4 "
                "tensors; equal numbers were expected: download the parts again");
    part.tensors = "cbe";
    check_fault(2, part, 0,
                "~/x-00003-of-00003.gguf: tensor 'b' is also in ~/x-00001-of-00003.gguf; expected "
                "every tensor in one part: download the parts again");
}

/* A part that says how many tensors there are nowhere is fine; so is a model
 * that says it is one part of one, whatever its name. */
static void test_keys_that_may_be_absent(void **state)
{
    struct fixture f;
    struct dllm_file *file;
    struct split_part one = {0, 1, -1, "ab"};

    (void)state;
    create(&f);
    for (int i = 0; i < SPLIT_PARTS; i++) {
        struct split_part part = split_sample_part(i);

        part.total = -1;
        write_part(&f, i, &part);
    }
    assert_int_equal(dllm_file_open(f.paths[0], &file, NULL), DLLM_OK);
    check_whole(&f, file);
    dllm_file_close(file);
    write_part(&f, 1, &one);
    assert_int_equal(dllm_file_open(f.paths[1], &file, NULL), DLLM_OK);
    assert_int_equal(dllm_file_part_count(file), 1);
    assert_string_equal(dllm_file_part_path(file, 0), f.paths[1]);
    assert_int_equal(dllm_file_part_size(file, 0), dllm_file_size(file));
    assert_int_equal(dllm_file_tensor_count(file), 2);
    dllm_file_close(file);
    destroy(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_any_part_opens_all),
        cmocka_unit_test(test_a_missing_part_is_named),
        cmocka_unit_test(test_a_foreign_part_is_named),
        cmocka_unit_test(test_a_repeated_part_is_named),
        cmocka_unit_test(test_a_surplus_part_is_named),
        cmocka_unit_test(test_tensors_are_counted),
        cmocka_unit_test(test_keys_that_may_be_absent),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
