/*
 * test_rows: the row kernels of every level against the reference, bit by bit,
 * and the reference against double precision.
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

enum { MAX_WIDTH = 1100 };

struct level {
    const char *name;
    enum cpu_level level;
    void (*fill)(struct cpu_kernels *);
};

static const struct level levels[] = {
    {"avx2", CPU_AVX2, rows_kernels_avx2},
    {"avx512vnni", CPU_AVX512VNNI, rows_kernels_avx512vnni},
};

static uint64_t random_state = 20261129;

static float random_float(float scale)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return scale * ((float)(random_state >> 40) / (float)(1 << 23) - 1.0f);
}

static void fill_random(float *x, int count, float scale)
{
    for (int i = 0; i < count; i++)
        x[i] = random_float(scale);
}

/* What one level made of the same inputs. */
struct outcome {
    float norm[MAX_WIDTH], gated[MAX_WIDTH], adjacent[MAX_WIDTH], halves[MAX_WIDTH],
        normed_halves[MAX_WIDTH], guided[MAX_WIDTH], added[MAX_WIDTH];
};

struct inputs {
    float x[MAX_WIDTH], weight[MAX_WIDTH], angles[MAX_WIDTH];
};

static void run_all(const struct cpu_kernels *kernels, const struct inputs *in, int width,
                    struct outcome *out)
{
    struct rope_row row = {
        .angles = in->angles, .heads = width / 64, .head_dim = 64, .rope_dims = 48};

    memset(out, 0, sizeof *out);
    kernels->rms_norm(in->x, in->weight, 1e-5f, width, out->norm);
    kernels->gated(in->x, in->weight, width, out->gated);
    memcpy(out->adjacent, in->x, sizeof in->x);
    row.x = out->adjacent;
    kernels->rope(&row);
    memcpy(out->halves, in->x, sizeof in->x);
    row.x = out->halves;
    row.halves = true;
    kernels->rope(&row);
    memcpy(out->normed_halves, in->x, sizeof in->x);
    row.x = out->normed_halves;
    row.norm = in->weight;
    row.eps = 1e-5f;
    kernels->rope(&row);
    memcpy(out->guided, in->x, sizeof in->x);
    kernels->guide(out->guided, in->weight, 1.5, width);
    memcpy(out->added, in->x, sizeof in->x);
    kernels->add_scaled(out->added, in->weight, 0.3f, width);
}

/* Breaks if a level rounds, orders or handles a tail differently. */
static void test_levels_equal_reference(void **state)
{
    static struct inputs in;
    static struct outcome want, got;
    struct cpu_kernels reference = {0}, kernels = {0};

    (void)state;
    rows_kernels_ref(&reference);
    for (size_t l = 0; l < ARRAY_COUNT(levels); l++) {
        if (!cpu_level_available(levels[l].level))
            continue;
        levels[l].fill(&kernels);
        for (int width = 1; width < MAX_WIDTH; width += width < 70 ? 1 : 97) {
            fill_random(in.x, MAX_WIDTH, width % 3 ? 3.0f : 90.0f);
            fill_random(in.weight, MAX_WIDTH, 2.0f);
            fill_random(in.angles, MAX_WIDTH, 1.0f);
            if (width % 7 == 0)
                in.x[width / 2] = NAN;
            run_all(&reference, &in, width, &want);
            run_all(&kernels, &in, width, &got);
            assert_memory_equal(&want, &got, sizeof want);
        }
    }
}

/* Breaks if the norm that is part of rope is another than the norm before it, or
 * goes over anything but one head. */
static void test_rope_norms_each_head(void **state)
{
    static struct inputs in;
    static float together[MAX_WIDTH], apart[MAX_WIDTH];
    struct rope_row row = {.x = together,
                           .angles = in.angles,
                           .heads = 3,
                           .head_dim = 64,
                           .rope_dims = 48,
                           .halves = true,
                           .norm = in.weight,
                           .eps = 1e-3f};
    struct cpu_kernels kernels = {0};

    (void)state;
    rows_kernels_ref(&kernels);
    fill_random(in.x, MAX_WIDTH, 3);
    fill_random(in.weight, MAX_WIDTH, 2);
    fill_random(in.angles, MAX_WIDTH, 1);
    memcpy(together, in.x, sizeof together);
    memcpy(apart, in.x, sizeof apart);
    kernels.rope(&row);
    for (int h = 0; h < row.heads; h++)
        kernels.rms_norm(in.x + 64 * h, in.weight, 1e-3f, 64, apart + 64 * h);
    row.x = apart;
    row.norm = NULL;
    kernels.rope(&row);
    assert_memory_equal(together, apart, sizeof apart);
}

/* Breaks if exp loses accuracy, anywhere in its range. */
static void test_gate_is_accurate(void **state)
{
    struct cpu_kernels kernels = {0};
    float one = 1, x, y;

    (void)state;
    rows_kernels_ref(&kernels);
    for (double v = -87; v < 87; v += 0.00317) {
        double want;

        x = (float)v;
        kernels.gated(&x, &one, 1, &y);
        want = (double)x / (1 + exp(-(double)x));
        assert_true(fabs((double)y - want) <= 3e-7 * fabs(want) + 1e-37);
    }
}

static void test_norm_is_accurate(void **state)
{
    static float x[MAX_WIDTH], weight[MAX_WIDTH], y[MAX_WIDTH];
    struct cpu_kernels kernels = {0};
    double squares = 0;

    (void)state;
    rows_kernels_ref(&kernels);
    fill_random(x, MAX_WIDTH, 5);
    fill_random(weight, MAX_WIDTH, 2);
    kernels.rms_norm(x, weight, 1e-5f, MAX_WIDTH, y);
    for (int i = 0; i < MAX_WIDTH; i++)
        squares += (double)x[i] * (double)x[i];
    for (int i = 0; i < MAX_WIDTH; i++) {
        double want = (double)x[i] * (double)weight[i] / sqrt(squares / MAX_WIDTH + 1e-5);

        assert_true(fabs((double)y[i] - want) <= 5e-7 * fabs(want));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_levels_equal_reference),
        cmocka_unit_test(test_rope_norms_each_head),
        cmocka_unit_test(test_gate_is_accurate),
        cmocka_unit_test(test_norm_is_accurate),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
