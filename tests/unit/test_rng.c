/* test_rng.c: the generator is Philox4x32-10, and uniforms are uniform, open
 * and a function of all four coordinates. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "compiler.h"
#include "rng.h"

/* The known answers that the authors publish with their code: breaks on any
 * wrong constant, word order or number of rounds. */
static void test_known_answers(void **state)
{
    static const struct {
        uint32_t counter[4], key[2], expected[4];
    } answers[] = {
        {{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
        {{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
         {0xffffffff, 0xffffffff},
         {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
        /* the digits of pi */
        {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
         {0xa4093822, 0x299f31d0},
         {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
    };
    uint32_t out[4];

    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(answers); i++) {
        rng_philox4x32(answers[i].counter, answers[i].key, out);
        assert_memory_equal(out, answers[i].expected, sizeof out);
    }
}

/* Breaks when a value leaves (0, 1) or the mean and variance of many draws are
 * not those of the uniform distribution (five standard errors; seed fixed). */
static void test_uniform_distribution(void **state)
{
    enum { DRAWS = 200000 };
    double sum = 0, squares = 0;

    (void)state;
    for (uint32_t i = 0; i < DRAWS; i++) {
        double u = rng_uniform(42, 3, 7, i);

        assert_true(u > 0 && u < 1);
        sum += u;
        squares += (u - 0.5) * (u - 0.5);
    }
    assert_true(fabs(sum / DRAWS - 0.5) < 5 * sqrt(1.0 / 12 / DRAWS));
    assert_true(fabs(squares / DRAWS - 1.0 / 12) < 5 * sqrt(1.0 / 180 / DRAWS));
}

/* Breaks when a coordinate is left out: changing any one of them, or the upper
 * half of the seed, must change the number; the same ones must give it again. */
static void test_every_coordinate_counts(void **state)
{
    const double base = rng_uniform(1, 2, 3, 4);

    (void)state;
    assert_true(rng_uniform(1, 2, 3, 4) == base);
    assert_true(rng_uniform(2, 2, 3, 4) != base);
    assert_true(rng_uniform(1 | 1ull << 32, 2, 3, 4) != base);
    assert_true(rng_uniform(1, 3, 3, 4) != base);
    assert_true(rng_uniform(1, 2, 4, 4) != base);
    assert_true(rng_uniform(1, 2, 3, 5) != base);
    assert_true(rng_uniform(1, 3, 2, 4) != base);
}

/* Breaks when the numbers of a seed change: runs must stay reproducible. The
 * first is 53 bits of the known answer above. */
static void test_numbers_are_fixed(void **state)
{
    (void)state;
    assert_true(rng_uniform(0, 0, 0, 0) ==
                ((double)(0x6627e8d5 >> 5) * 0x1p26 + (double)(0xe169c58d >> 6)) * 0x1p-53);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known_answers),
        cmocka_unit_test(test_uniform_distribution),
        cmocka_unit_test(test_every_coordinate_counts),
        cmocka_unit_test(test_numbers_are_fixed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
