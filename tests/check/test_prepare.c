/*
 * test_prepare: the activation forms: the reference against what the header
 * promises, every level against the reference, in every byte.
 */
#include "compiler.h"
#include "matmul_cases.h"
#include "prepare.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { ALL_FORMS = ACTIVATION_F32 | ACTIVATION_Q8_256 | ACTIVATION_Q8_32 };

static uint64_t seed;

/* Forms of `tokens` rows of the kind; the storage is filled with rubbish first.
 * Free the storage. */
static void *prepare_all(prepare_kernel *prepare, enum case_inputs kind, int tokens, int width,
                         unsigned forms, struct activations *out)
{
    uint64_t state = seed + kind;
    size_t bytes = activations_bytes(tokens, width, forms);
    void *storage = aligned_alloc(64, bytes);
    assert_non_null(storage);
    memset(storage, 0x5a, bytes);
    activations_layout(out, storage, tokens, width, forms);
    /* Rows end at a page that may not be read. */
    struct case_guarded row = case_guarded_alloc((size_t)width * sizeof(float), false);
    for (int t = 0; t < tokens; t++) {
        case_fill_inputs(&state, kind, t, width, row.data);
        prepare(row.data, t, out);
    }
    case_guarded_free(&row);
    return storage;
}

/* Calls check for the prepare kernel of each level that can run; returns how
 * many differ from the reference. */
static int count_differences(prepare_kernel *kernel, int width, int tokens, unsigned forms)
{
    int differ = 0;
    for (int kind = 0; kind < INPUTS_KINDS; kind++) {
        struct activations a, b;
        void *storage[2] = {
            prepare_all(prepare_ref, (enum case_inputs)kind, tokens, width, forms, &a),
            prepare_all(kernel, (enum case_inputs)kind, tokens, width, forms, &b)};
        differ += memcmp(storage[0], storage[1], activations_bytes(tokens, width, forms)) != 0;
        free(storage[0]);
        free(storage[1]);
    }
    return differ;
}

/* All five tokens of `from` to tokens 8, 6, ... 0 of nine and back to where they were; returns
 * the storage. */
static void *copy_there_and_back(const struct activations *from)
{
    struct activations between, back;
    size_t bytes = activations_bytes(5, from->width, from->forms);
    void *middle = aligned_alloc(64, activations_bytes(9, from->width, from->forms));
    void *storage = aligned_alloc(64, bytes);

    assert_non_null(middle);
    assert_non_null(storage);
    memset(storage, 0x5a, bytes);
    activations_layout(&between, middle, 9, from->width, from->forms);
    activations_layout(&back, storage, 5, from->width, from->forms);
    for (int t = 0; t < 5; t++) {
        activations_copy_token(from, t, &between, 8 - 2 * t);
    }
    for (int t = 0; t < 5; t++) {
        activations_copy_token(&between, 8 - 2 * t, &back, t);
    }
    free(middle);
    return storage;
}

/* Breaks if an array of a form is left out, or a token's records are taken from or
 * put to another's. */
static void copies_are_whole(void **state)
{
    static const int widths[] = {32, 600, 1024};
    (void)state;
    for (unsigned forms = 1; forms <= ALL_FORMS; forms++) {
        for (size_t i = 0; i < ARRAY_COUNT(widths); i++) {
            struct activations from;
            void *want = prepare_all(prepare_ref, (enum case_inputs)0, 5, widths[i], forms, &from);
            void *got = copy_there_and_back(&from);
            assert_memory_equal(want, got, activations_bytes(5, widths[i], forms));
            free(want);
            free(got);
        }
    }
}

/* Breaks with any byte that a level fills in differently, and with a read past
 * the row. */
static void levels_equal_reference(void **state)
{
    (void)state;
    static const int widths[] = {1, 13, 32, 255, 256, 257, 512, 896, 1000, 4096};
    for (int level = CPU_AVX2; level < CPU_LEVELS; level++) {
        if (!cpu_level_available((enum cpu_level)level)) {
            continue;
        }
        struct cpu_kernels kernels;
        cpu_kernels_init(&kernels, (enum cpu_level)level);
        for (size_t i = 0; i < ARRAY_COUNT(widths); i++) {
            assert_int_equal(count_differences(kernels.prepare, widths[i], 5, ALL_FORMS), 0);
        }
        for (unsigned forms = 1; forms < ALL_FORMS; forms++) {
            assert_int_equal(count_differences(kernels.prepare, 600, 3, forms), 0);
        }
    }
}

/* As prepare_ref, but one q is one too large. */
static void broken_prepare(const float *x, int token, struct activations *out)
{
    prepare_ref(x, token, out);
    out->q8_256.q[(size_t)(out->blocks - 1) * (size_t)out->tokens * SUPER_BLOCK]++;
}

/* Breaks if the comparison could pass a wrong kernel. */
static void checker_notices_broken_kernel(void **state)
{
    (void)state;
    assert_int_equal(count_differences(broken_prepare, 512, 3, ALL_FORMS), INPUTS_KINDS);
}

/* |x - scale * q| is at most half a step, and a hair for the roundings of the
 * factor and the product, each 2^-24 of 127 steps. */
static void expect_close(const float *x, const int8_t *q, float scale, int first, int count)
{
    for (int i = first; i < first + count; i++) {
        double value = (double)scale * q[activation_place(i)];
        assert_true(fabs(x[i] - value) <= scale * (0.5 + 127 * 3 * 0x1p-24));
    }
}

/* Breaks if quantization is off by a step, or the order of q is not what
 * activation_place says. */
static void quantization_is_within_half_a_step(void **state)
{
    (void)state;
    for (int kind = 0; kind < INPUTS_SPARSE; kind++) {
        uint64_t random = seed;
        float x[SUPER_BLOCK];
        struct activations acts;
        void *storage = aligned_alloc(64, activations_bytes(1, SUPER_BLOCK, ALL_FORMS));
        assert_non_null(storage);
        activations_layout(&acts, storage, 1, SUPER_BLOCK, ALL_FORMS);
        case_fill_inputs(&random, (enum case_inputs)kind, 0, SUPER_BLOCK, x);
        prepare_ref(x, 0, &acts);
        assert_memory_equal(x, acts.f32, sizeof(x));
        expect_close(x, acts.q8_256.q, acts.q8_256.scale[0], 0, SUPER_BLOCK);
        for (int j = 0; j < 8; j++) {
            expect_close(x, acts.q8_32.q, acts.q8_32.scale[j], 32 * j, 32);
        }
        free(storage);
    }
}

/* Prepares one row of 256 values in all forms. */
static void prepare_one(const float x[SUPER_BLOCK], void *storage, struct activations *out)
{
    activations_layout(out, storage, 1, SUPER_BLOCK, ALL_FORMS);
    prepare_ref(x, 0, out);
}

/* Breaks if halves do not go to the even neighbour: 127 makes the scale 1. */
static void halves_round_to_even(void **state)
{
    (void)state;
    _Alignas(64) static char storage[1 << 14];
    assert_true(activations_bytes(1, SUPER_BLOCK, ALL_FORMS) <= sizeof(storage));
    float x[SUPER_BLOCK] = {127.0f, 0.5f, 1.5f, 2.5f, -0.5f, -1.5f, -2.5f};
    static const int8_t expected[] = {127, 0, 2, 2, 0, -2, -2};
    struct activations acts;
    prepare_one(x, storage, &acts);
    assert_true(acts.q8_256.scale[0] == 1.0f);
    for (int i = 0; i < (int)sizeof(expected); i++) {
        assert_int_equal(acts.q8_32.q[activation_place(i)], expected[i]);
    }
}

/* Breaks if a NaN or an infinity gets lost, or a block without magnitude gets a
 * scale: the first must reach the logits, the second must not divide by 0. */
static void scales_of_special_blocks(void **state)
{
    (void)state;
    _Alignas(64) static char storage[1 << 14];
    struct activations acts;
    float x[SUPER_BLOCK] = {1.0f, NAN, INFINITY};
    prepare_one(x, storage, &acts);
    assert_true(isnan(acts.q8_256.scale[0]) && isnan(acts.q8_32.scale[0]));
    assert_true(acts.q8_32.scale[1] == 0.0f);
    x[1] = 2.0f;
    prepare_one(x, storage, &acts);
    assert_true(isinf(acts.q8_256.scale[0]) && isinf(acts.q8_32.scale[0]));
    memset(x, 0, sizeof(x));
    x[3] = 0x1p-101f;
    prepare_one(x, storage, &acts);
    assert_true(acts.q8_256.scale[0] == 0.0f && acts.q8_32.scale[0] == 0.0f);
    x[3] = ACTIVATION_TINY;
    prepare_one(x, storage, &acts);
    assert_true(acts.q8_256.scale[0] == ACTIVATION_TINY / 127.0f);
    assert_int_equal(acts.q8_32.q[activation_place(3)], 127);
}

/* Whether a sum over sub-blocks of `size` leaves int16 for some weights of
 * low..high. */
static bool leaves_int16(const int8_t q[SUPER_BLOCK], int size, int low, int high)
{
    for (int j = 0; j < SUPER_BLOCK; j += size) {
        int most = 0, least = 0;
        for (int i = j; i < j + size; i++) {
            int v = q[activation_place(i)];
            most += MAX(v * high, v * low);
            least += MIN(v * high, v * low);
        }
        if (most > INT16_MAX || least < INT16_MIN) {
            return true;
        }
    }
    return false;
}

/* The same of eight values as IQ2 sums them, weights -32..54: each half of sixteen, and those at
 * places 0 and 1, or 2 and 3, of each four. */
static bool eights_leave_int16(const int8_t q[SUPER_BLOCK])
{
    static const int eights[4][8] = {{0, 1, 2, 3, 4, 5, 6, 7},
                                     {8, 9, 10, 11, 12, 13, 14, 15},
                                     {0, 1, 4, 5, 8, 9, 12, 13},
                                     {2, 3, 6, 7, 10, 11, 14, 15}};
    for (int at = 0; at < 64; at++) {
        int most = 0, least = 0;
        for (int i = 0; i < 8; i++) {
            int v = q[activation_place(at / 4 * 16 + eights[at % 4][i])];
            most += MAX(v * 54, v * -32);
            least += MIN(v * 54, v * -32);
        }
        if (most > INT16_MAX || least < INT16_MIN) {
            return true;
        }
    }
    return false;
}

/* Breaks if a token is called narrow whose sums can leave int16 (wrong results)
 * or wide at the edges where they cannot (wasted time). */
static void wide_bits_are_right(void **state)
{
    (void)state;
    for (int kind = 0; kind < INPUTS_NONFINITE; kind++) {
        struct activations a;
        void *storage =
            prepare_all(prepare_ref, (enum case_inputs)kind, 8, 1024, ACTIVATION_Q8_256, &a);
        for (size_t row = 0; row < 32; row++) {
            const int8_t *q = a.q8_256.q + row * SUPER_BLOCK;
            unsigned wide = a.q8_256.wide[row];
            assert_int_equal(!!(wide & WIDE_Q4_K), leaves_int16(q, 32, 0, 15));
            assert_int_equal(!!(wide & WIDE_Q5_K), leaves_int16(q, 32, 0, 31));
            /* The bounds take the larger end of -32..31 and -32..54 for both, so they are not
             * tight. */
            assert_true((wide & WIDE_Q6_K) || !leaves_int16(q, 16, -32, 31));
            assert_true((wide & WIDE_IQ2) || !eights_leave_int16(q));
        }
        if (kind == INPUTS_EDGE_Q6_K) {
            assert_int_equal(a.q8_256.wide[0] & WIDE_Q6_K, 0);
        }
        if (kind == INPUTS_EDGE_IQ2) {
            assert_int_equal(a.q8_256.wide[0] & WIDE_IQ2, 0);
        }
        free(storage);
    }
}

int main(void)
{
    const char *text = getenv("DLLM_TEST_SEED");
    seed = text ? strtoull(text, NULL, 10) : 20261129;
    print_message("seed %llu\n", (unsigned long long)seed);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(levels_equal_reference),
        cmocka_unit_test(copies_are_whole),
        cmocka_unit_test(checker_notices_broken_kernel),
        cmocka_unit_test(quantization_is_within_half_a_step),
        cmocka_unit_test(halves_round_to_even),
        cmocka_unit_test(scales_of_special_blocks),
        cmocka_unit_test(wide_bits_are_right),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
