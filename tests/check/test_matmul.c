/*
 * test_matmul: the matmul kernels of every level this machine has, against the
 * reference, in every bit: random and adversarial data, all small row and token
 * counts, widths with tails, weights against forbidden pages. And the reference
 * against double precision. DLLM_TEST_SEED picks other random cases.
 */
#include "compiler.h"
#include "matmul_cases.h"
#include "prepare.h"
#include "unpack.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const uint32_t types[] = {
    DTYPE_F32,   DTYPE_F16,    DTYPE_BF16,    DTYPE_Q4_0,  DTYPE_Q4_1,   DTYPE_Q5_0,  DTYPE_Q5_1,
    DTYPE_Q8_0,  DTYPE_IQ4_NL, DTYPE_Q2_K,    DTYPE_Q3_K,  DTYPE_IQ4_XS, DTYPE_IQ3_S, DTYPE_IQ3_XXS,
    DTYPE_IQ2_S, DTYPE_IQ2_XS, DTYPE_IQ2_XXS, DTYPE_IQ1_S, DTYPE_IQ1_M,  DTYPE_MXFP4, DTYPE_TQ1_0,
    DTYPE_TQ2_0, DTYPE_Q4_K,   DTYPE_Q5_K,    DTYPE_Q6_K};

/* Types whose integer sums kernels keep in 16 bits where the inputs allow it: the first ones at
 * levels with VNNI, the last ones without it as well. */
static const uint32_t packed_types[] = {DTYPE_Q4_K, DTYPE_Q6_K,  DTYPE_IQ3_XXS,
                                        DTYPE_Q5_K, DTYPE_IQ2_S, DTYPE_IQ2_XS};
enum { PACKED_AVX2 = 3 };

static uint64_t seed;

/* The kernels of the levels that this machine has, the reference first; with AVX-512 also those of
 * another make of processor. */
enum { MOST_TABLES = CPU_LEVELS + 1 };
static struct cpu_kernels levels[MOST_TABLES];
static int level_count;

static void find_levels(void)
{
    for (int level = CPU_REF; level < CPU_LEVELS; level++) {
        if (cpu_level_available((enum cpu_level)level)) {
            cpu_kernels_init(&levels[level_count++], (enum cpu_level)level);
        } else {
            print_message("level %s: not on this machine\n", cpu_level_name((enum cpu_level)level));
        }
    }
    if (cpu_level_available(CPU_AVX512VNNI)) {
        struct cpu_kernels *other = &levels[level_count++];
        cpu_kernels_init(other, CPU_AVX512VNNI);
        (cpu_multiplies_512() ? matmul_kernels_avx512vnni : matmul_kernels_tiles8)(other);
    }
}

static void for_each_type(void (*check)(uint32_t type))
{
    for (size_t i = 0; i < ARRAY_COUNT(types); i++) {
        check(types[i]);
    }
}

/* Every level's kernel gives what the reference gives. */
static void expect_equal(const struct matmul_case *c)
{
    matmul_kernel *kernels[MOST_TABLES];
    for (int i = 0; i < level_count; i++) {
        kernels[i] = levels[i].matmul[c->type];
    }
    int differs = case_matmul_differs(c, kernels, level_count);
    if (differs) {
        fail_msg("level %d differs from the reference: %s", differs, case_describe(c));
    }
}

static void check_random(uint32_t type)
{
    uint64_t state = seed;
    for (int i = 0; i < 500; i++) {
        struct matmul_case c = case_random_matmul(&state, type);
        expect_equal(&c);
    }
}

/* Breaks with any error in a decoder, a tile, an edge of rows or width, a sum
 * that leaves its integer type, a read past the weights. */
static void random_cases_equal_reference(void **state)
{
    (void)state;
    for_each_type(check_random);
}

static void check_kinds(uint32_t type)
{
    uint64_t state = seed + 1;
    for (int inputs = 0; inputs < INPUTS_KINDS; inputs++) {
        for (int weights = 0; weights < WEIGHTS_KINDS; weights++) {
            struct matmul_case c = case_random_matmul(&state, type);
            c.inputs = (enum case_inputs)inputs;
            c.weights = (enum case_weights)weights;
            c.width = 768;
            c.rows = 17;
            c.tokens = 6;
            expect_equal(&c);
        }
    }
}

/* Breaks if a bound on integer sums is wrong: every kind of input meets every
 * kind of weight. */
static void every_kind_meets_every_kind(void **state)
{
    (void)state;
    for_each_type(check_kinds);
}

static void check_counts(uint32_t type)
{
    uint64_t state = seed + 2;
    for (int i = 1; i <= 40; i++) {
        struct matmul_case c = case_random_matmul(&state, type);
        c.inputs = INPUTS_NORMAL;
        c.weights = WEIGHTS_RANDOM;
        c.tokens = i;
        expect_equal(&c);
        c.rows = i;
        c.tokens = 5;
        expect_equal(&c);
    }
    static const int many[] = {64, 101, 148, 257};
    for (size_t i = 0; i < ARRAY_COUNT(many); i++) {
        struct matmul_case c = case_random_matmul(&state, type);
        c.tokens = many[i];
        expect_equal(&c);
    }
}

/* Breaks if a tile size or an incomplete panel is mishandled. */
static void every_small_count(void **state)
{
    (void)state;
    for_each_type(check_counts);
}

static void check_parts(uint32_t type)
{
    uint64_t state = seed + 3;
    struct matmul_case c = case_random_matmul(&state, type);
    c.rows = 70;
    c.width = 4 * SUPER_BLOCK + (int)dtype_info(type)->block_weights;
    c.tokens = 1000;
    c.blocks_at_once = 2;
    expect_equal(&c);
}

/* Breaks if a part of the width begins or ends wrong, or a group of rows: of so many tokens there
 * is room for the sums of three panels. */
static void parts_of_the_width(void **state)
{
    (void)state;
    for_each_type(check_parts);
}

/* ------------------------------------ the reference, in double precision --- */

/* Input i of a token as the kernels see it: quantized, for int8 forms. */
static double input_of(const struct activations *in, int token, int i)
{
    size_t row = (size_t)(i / SUPER_BLOCK) * (size_t)in->tokens + (size_t)token;
    int k = i % SUPER_BLOCK;
    size_t place = row * SUPER_BLOCK + (size_t)activation_place(k);
    if (in->forms == ACTIVATION_F32) {
        return in->f32[row * SUPER_BLOCK + (size_t)k];
    }
    if (in->forms == ACTIVATION_Q8_256) {
        return (double)in->q8_256.scale[row] * in->q8_256.q[place];
    }
    return (double)in->q8_32.scale[row * 8 + (size_t)k / 32] * in->q8_32.q[place];
}

/* What the weights of a row are differences or sums with: the magnitudes of
 * minimums or of m, 0 where a type has none. */
static void offsets_of(uint32_t type, const uint8_t *row, int width, float *out)
{
    int step = (int)dtype_info(type)->block_weights;
    memset(out, 0, (size_t)width * sizeof(*out));
    for (int i = 0; i < width; i += step, row += dtype_info(type)->block_bytes) {
        if (unpack_32_of(type)) {
            struct unpacked_32 block;
            unpack_32_of(type)(row, &block);
            for (int k = 0; k < step; k++) {
                out[i + k] = fabsf(block.m);
            }
        } else if (unpack_256_of(type)) {
            struct unpacked_256 block;
            unpack_256_of(type)(row, &block);
            for (int k = 0; k < step; k++) {
                out[i + k] = fabsf(block.dmin * (float)block.minimum[k]);
            }
        }
    }
}

/* Roundings on the way of a sum, matmul_ref.c: per value met by the chain, and
 * a few for the value itself and its decoding. */
static double roundings(const struct matmul_case *c)
{
    return c->width / (int)dtype_info(c->type)->block_weights + 8;
}

static void expect_near_exact(const struct matmul_case *c, matmul_kernel *kernel)
{
    struct matmul_data data;
    float w[1024], offset[1024];
    case_data_open(&data, c);
    float *out = case_data_run(&data, kernel);
    for (int r = 0; r < c->rows; r++) {
        const uint8_t *row = (const uint8_t *)data.item.weights + (size_t)r * data.item.row_bytes;
        dequantize_row(c->type, row, c->width, w);
        offsets_of(c->type, row, c->width, offset);
        for (int t = 0; t < c->tokens; t++) {
            double exact = 0, size = 0;
            for (int i = 0; i < c->width; i++) {
                double x = input_of(&data.in, c->before + t, i);
                exact += w[i] * x;
                size += (fabs(w[i]) + 2 * offset[i]) * fabs(x);
            }
            double found = out[(size_t)t * data.item.out_step + (size_t)r];
            if (!(fabs(found - exact) <= roundings(c) * 0x1p-24 * size + 1e-30)) {
                fail_msg("row %d, token %d: %.9g, exactly %.12g: %s", r, t, found, exact,
                         case_describe(c));
            }
        }
    }
    free(out);
    case_data_close(&data);
}

/* Breaks if the reference decodes or multiplies anything wrongly: it is held
 * against dequantize_row, which was tested on other people's vectors. */
static void reference_is_near_exact(void **state)
{
    (void)state;
    struct cpu_kernels reference;
    uint64_t random = seed + 3;
    cpu_kernels_init(&reference, CPU_REF);
    for (size_t i = 0; i < ARRAY_COUNT(types); i++) {
        for (int n = 0; n < 60; n++) {
            struct matmul_case c = case_random_matmul(&random, types[i]);
            c.inputs = (enum case_inputs)(n % INPUTS_SPARSE);
            c.weights = (enum case_weights)(n % WEIGHTS_ANY_BITS);
            c.bias = c.accumulate = false;
            c.rows = 1 + c.rows % 7;
            c.tokens = 1 + c.tokens % 5;
            expect_near_exact(&c, reference.matmul[types[i]]);
        }
    }
}

/* Inputs of 127 with the sign of row 0's weights in the first token, against it in
 * the second: no sums are larger. */
static void align_inputs(struct matmul_data *data)
{
    float w[1024], x[1024];

    dequantize_row(data->c.type, data->item.weights, data->c.width, w);
    for (int t = 0; t < data->c.tokens; t++) {
        for (int i = 0; i < data->c.width; i++) {
            x[i] = (w[i] < 0) == (t % 2) ? 127.0f : -127.0f;
        }
        prepare_ref(x, t, &data->in);
    }
}

static void check_largest_sums(uint32_t type, enum case_weights kind)
{
    uint64_t state = seed + 4;
    struct matmul_case c = case_random_matmul(&state, type);
    struct matmul_data data;
    c.weights = kind;
    c.width = 1024;
    c.rows = 17;
    c.tokens = 4;
    c.bias = c.accumulate = false;
    c.before = c.behind = 0; /* align_inputs starts at the first token */
    case_data_open(&data, &c);
    align_inputs(&data);
    float *expected = case_data_run(&data, levels[0].matmul[type]), w[1024], offset[1024];
    double exact = 0, size = 0;
    dequantize_row(type, data.item.weights, c.width, w);
    offsets_of(type, data.item.weights, c.width, offset);
    for (int i = 0; i < c.width; i++) {
        exact += 127 * fabs(w[i]);
        size += 127 * (fabs(w[i]) + 2 * offset[i]);
    }
    if (!(fabs(expected[0] - exact) <= roundings(&c) * 0x1p-24 * size)) {
        fail_msg("%.9g, exactly %.12g: %s", (double)expected[0], exact, case_describe(&c));
    }
    for (int i = 1; i < level_count; i++) {
        float *found = case_data_run(&data, levels[i].matmul[type]);
        if (case_first_difference(expected, found, data.outputs) < data.outputs) {
            fail_msg("level %d differs from the reference: %s", i, case_describe(&c));
        }
        free(found);
    }
    free(expected);
    case_data_close(&data);
}

/* Breaks if the bounds on integer sums at the head of matmul_ref.c do not hold: every
 * product of a row has one sign and the largest inputs. */
static void largest_sums_fit(void **state)
{
    static const enum case_weights kinds[] = {WEIGHTS_LARGEST, WEIGHTS_SMALLEST, WEIGHTS_EXTREMES,
                                              WEIGHTS_RANDOM};

    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(types); i++) {
        for (size_t k = 0; k < ARRAY_COUNT(kinds); k++) {
            check_largest_sums(types[i], kinds[k]);
        }
    }
}

/* ------------------------------------------- does the checker notice? --- */

static matmul_kernel *honest;

/* An item that a broken kernel may change. */
static void run_with(const struct matmul_item *item, const struct activations *in)
{
    struct matmul_item changed = *item;
    changed.in = in;
    honest(&changed);
}

/* Declares every token narrow, as a wrong bound on the sums would. */
static void broken_never_wide(const struct matmul_item *item)
{
    struct activations in = *item->in;
    size_t count = (size_t)in.blocks * (size_t)in.tokens;
    in.q8_256.wide = calloc(count, 1);
    assert_non_null(in.q8_256.wide);
    run_with(item, &in);
    free(in.q8_256.wide);
}

/* One unit in the last place of one output. */
static void broken_last_bit(const struct matmul_item *item)
{
    honest(item);
    float *last = item->out + (size_t)(item->tokens - 1) * item->out_step + item->rows - 1;
    *last = nextafterf(*last, INFINITY);
}

/* Writes one value behind the last row. */
static void broken_writes_past(const struct matmul_item *item)
{
    honest(item);
    item->out[item->rows] = 1.0f;
}

/* Ignores the bias. */
static void broken_no_bias(const struct matmul_item *item)
{
    struct matmul_item changed = *item;
    changed.bias = NULL;
    honest(&changed);
}

/* How many of the first `kinds` kinds of inputs show that a kernel is broken. */
static int misses_of(matmul_kernel *broken, const struct matmul_case *first, int kinds)
{
    int found = 0;
    struct matmul_case c = *first;
    for (int inputs = 0; inputs < kinds; inputs++) {
        c.inputs = (enum case_inputs)inputs;
        found +=
            case_matmul_differs(&c, (matmul_kernel *[]){levels[0].matmul[c.type], broken}, 2) != 0;
    }
    return found;
}

/* Breaks if the comparison above could pass a wrong kernel. */
static void checker_notices_broken_kernels(void **state)
{
    (void)state;
    struct cpu_kernels kernels;
    cpu_kernels_init(&kernels, cpu_level_best());
    struct matmul_case c = {.rows = 20, .width = 512, .tokens = 5, .bias = true, .seed = seed};
    for (size_t i = 0; i < ARRAY_COUNT(types); i++) {
        c.type = types[i];
        honest = kernels.matmul[types[i]];
        assert_int_equal(misses_of(honest, &c, INPUTS_KINDS), 0);
        assert_int_equal(misses_of(broken_last_bit, &c, 1), 1);
        assert_int_equal(misses_of(broken_writes_past, &c, 1), 1);
        assert_int_equal(misses_of(broken_no_bias, &c, 1), 1);
    }
}

/* Whether the broken kernel differs with inputs that have the signs of the weights. */
static bool bound_matters(const struct cpu_kernels *level, const struct matmul_case *c)
{
    struct matmul_data data;
    case_data_open(&data, c);
    align_inputs(&data);
    honest = level->matmul[c->type];
    float *right = case_data_run(&data, honest), *broken = case_data_run(&data, broken_never_wide);
    bool differs = case_first_difference(right, broken, data.outputs) < data.outputs;
    free(right);
    free(broken);
    case_data_close(&data);
    return differs;
}

static void check_never_wide(const struct cpu_kernels *level, uint32_t type)
{
    static const enum case_weights kinds[] = {WEIGHTS_LARGEST, WEIGHTS_RANDOM};
    struct matmul_case c = {.type = type, .rows = 17, .width = 1024, .tokens = 4};
    for (int i = 0; i < 16; i++) {
        c.weights = kinds[i % 2];
        c.seed = seed + (uint64_t)i;
        if (bound_matters(level, &c)) {
            return;
        }
    }
    fail_msg("no case in which sums of type %u leave 16 bits at level %d", type,
             (int)(level - levels));
}

/* Breaks if no case has sums that leave 16 bits, for a type and level that keeps them there. */
static void checker_notices_wrong_bounds(void **state)
{
    (void)state;
    for (int i = 1; i < level_count; i++) {
        const bool vnni = levels[i].matmul[DTYPE_Q4_K] != levels[1].matmul[DTYPE_Q4_K];
        for (size_t k = vnni ? 0 : PACKED_AVX2; k < ARRAY_COUNT(packed_types); k++) {
            check_never_wide(&levels[i], packed_types[k]);
        }
    }
}

int main(void)
{
    const char *text = getenv("DLLM_TEST_SEED");
    seed = text ? strtoull(text, NULL, 10) : 20261129;
    print_message("seed %llu\n", (unsigned long long)seed);
    find_levels();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_cases_equal_reference),
        cmocka_unit_test(every_kind_meets_every_kind),
        cmocka_unit_test(every_small_count),
        cmocka_unit_test(parts_of_the_width),
        cmocka_unit_test(reference_is_near_exact),
        cmocka_unit_test(largest_sums_fit),
        cmocka_unit_test(checker_notices_broken_kernels),
        cmocka_unit_test(checker_notices_wrong_bounds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
