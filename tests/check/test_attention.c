/*
 * test_attention: attention of every level against the reference, bit by bit,
 * and the reference against a softmax in double precision.
 */
#include "compiler.h"
#include "kernels.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MAX_KEYS = 300, MAX_DIM = 160, SPAN = MAX_KEYS * MAX_DIM };

struct level {
    enum cpu_level level;
    void (*fill)(struct cpu_kernels *);
};

static const struct level levels[] = {
    {CPU_AVX2, attention_kernels_avx2},
    {CPU_AVX512VNNI, attention_kernels_avx512vnni},
};

static float q[ATTENTION_QUERIES * MAX_DIM], k[SPAN], v[SPAN];
static uint64_t random_state = 7;

static void fill_random(float *x, int count, float scale)
{
    for (int i = 0; i < count; i++) {
        random_state = random_state * 6364136223846793005u + 1442695040888963407u;
        x[i] = scale * ((float)(random_state >> 40) / (float)(1 << 23) - 1.0f);
    }
}

static void run(const struct cpu_kernels *kernels, int queries, int keys, int dim, float *out)
{
    float *turned = aligned_alloc(64, sizeof(float) * (size_t)(ROUND_UP(keys, 32) * dim));
    void *scratch = aligned_alloc(64, attention_scratch_bytes(dim));
    struct attention_item item = {.q = q,
                                  .q_step = MAX_DIM,
                                  .queries = queries,
                                  .keys = turned,
                                  .v = v,
                                  .v_step = MAX_DIM,
                                  .key_count = keys,
                                  .head_dim = dim,
                                  .out = out,
                                  .out_step = MAX_DIM,
                                  .scratch = scratch};

    assert_non_null(turned);
    assert_non_null(scratch);
    kernels->turn_keys(k, MAX_DIM, keys, dim, turned);
    memset(out, 0, sizeof(float) * ATTENTION_QUERIES * MAX_DIM);
    kernels->attention(&item);
    free(scratch);
    free(turned);
}

static const int key_counts[] = {1, 2, 15, 16, 17, 31, 33, 127, 128, 129, 148, 255, 256, 257, 300};

/* Breaks if a level's tiles change an order of summing, or a tail leaks. */
static void test_levels_equal_reference(void **state)
{
    static float want[ATTENTION_QUERIES * MAX_DIM], got[ATTENTION_QUERIES * MAX_DIM];
    struct cpu_kernels reference = {0}, kernels = {0};

    (void)state;
    attention_kernels_ref(&reference);
    for (size_t l = 0; l < ARRAY_COUNT(levels); l++) {
        if (!cpu_level_available(levels[l].level))
            continue;
        levels[l].fill(&kernels);
        for (size_t i = 0; i < ARRAY_COUNT(key_counts); i++)
            for (int dim = 32; dim <= MAX_DIM; dim += 32) {
                int queries = 1 + (int)(i + (size_t)dim / 32) % ATTENTION_QUERIES;

                fill_random(q, ATTENTION_QUERIES * MAX_DIM, i % 2 ? 1.0f : 20.0f);
                fill_random(k, SPAN, 2.0f);
                fill_random(v, SPAN, 1.0f);
                run(&reference, queries, key_counts[i], dim, want);
                run(&kernels, queries, key_counts[i], dim, got);
                assert_memory_equal(want, got, sizeof want);
            }
    }
}

static double exact(int t, int d, int keys, int dim)
{
    double sum = 0, out = 0, top = -INFINITY;
    static double score[MAX_KEYS];

    for (int i = 0; i < keys; i++) {
        score[i] = 0;
        for (int j = 0; j < dim; j++)
            score[i] += (double)q[t * MAX_DIM + j] * (double)k[i * MAX_DIM + j];
        score[i] /= sqrt(dim);
        top = fmax(top, score[i]);
    }
    for (int i = 0; i < keys; i++) {
        sum += exp(score[i] - top);
        out += exp(score[i] - top) * (double)v[i * MAX_DIM + d];
    }
    return out / sum;
}

/* Breaks if a key is dropped, counted twice, or scaled wrongly between groups.
 * 2e-5: scores of size 30 carry a rounding error of some 3e-6 each. */
static void test_reference_is_accurate(void **state)
{
    static float got[ATTENTION_QUERIES * MAX_DIM];
    struct cpu_kernels kernels = {0};

    (void)state;
    attention_kernels_ref(&kernels);
    for (size_t i = 0; i < ARRAY_COUNT(key_counts); i++) {
        fill_random(q, ATTENTION_QUERIES * MAX_DIM, 4.0f);
        fill_random(k, SPAN, 2.0f);
        fill_random(v, SPAN, 1.0f);
        run(&kernels, ATTENTION_QUERIES, key_counts[i], 64, got);
        for (int t = 0; t < ATTENTION_QUERIES; t++)
            for (int d = 0; d < 64; d += 13)
                assert_true(fabs((double)got[t * MAX_DIM + d] - exact(t, d, key_counts[i], 64)) <
                            2e-5);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_levels_equal_reference),
        cmocka_unit_test(test_reference_is_accurate),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
