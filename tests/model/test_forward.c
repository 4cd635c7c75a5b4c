/*
 * test_forward: the transformer on tiny random models: same bits however it is
 * asked, and equal to a plain loop in double precision.
 */
#include "double_forward.h"
#include "forward.h"
#include "test_paths.h"
#include "tiny_model.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { LENGTH = DOUBLE_TOKENS, MAX_VOCAB = 40 };

/* An open model with its workspace. */
struct fixture {
    struct dllm_file *file;
    struct model model;
    struct backend *backend;
    struct forward *forward;
    int32_t ids[LENGTH], rows[LENGTH];
};

static void open_model_cached(struct fixture *f, const struct tiny_model *tiny, int threads,
                              const char *level, bool cached)
{
    const struct forward_limits limits = {
        .canvases = 2, .length = LENGTH, .rows = 2 * LENGTH, .cached = cached};
    char path[TEST_PATH_BYTES];

    memset(f, 0, sizeof *f);
    f->file = tiny_model_open(tiny, path);
    unlink(path);
    assert_non_null(f->file);
    assert_int_equal(hparams_read(f->file, &f->model.hparams, NULL), DLLM_OK);
    assert_int_equal(weights_bind(f->file, &f->model.hparams, &f->model.weights, NULL), DLLM_OK);
    assert_int_equal(backend_cpu_create(threads, level, &f->backend, NULL), DLLM_OK);
    assert_int_equal(forward_create(&(struct placement){.main = f->backend}, &f->model, &limits,
                                    &f->forward, NULL),
                     DLLM_OK);
    for (int i = 0; i < LENGTH; i++) {
        f->ids[i] = (7 * i + 3) % tiny->vocab;
        f->rows[i] = i;
    }
}

static void open_model(struct fixture *f, const struct tiny_model *tiny, int threads,
                       const char *level)
{
    open_model_cached(f, tiny, threads, level, false);
}

static void close_model(struct fixture *f)
{
    forward_destroy(f->forward);
    backend_destroy(f->backend);
    weights_free(&f->model.weights);
    dllm_file_close(f->file);
}

/* A pass over one canvas without a window. */
static void run(struct fixture *f, const int32_t *ids, int length, const int32_t *rows, int count)
{
    const struct forward_canvas canvas = {ids, length, 0, length, rows, count, NULL};

    forward_run(f->forward, &canvas, 1);
}

/* Rows [0, count) of a buffer of the fixture's. */
static void read_logits(struct fixture *f, const struct backend_buffer *logits, int count,
                        float *out)
{
    assert_int_equal(backend_buffer_read(f->backend, logits, 0, count, out, NULL), DLLM_OK);
}

static void all_logits(struct fixture *f, float *out)
{
    run(f, f->ids, LENGTH, f->rows, LENGTH);
    read_logits(f, forward_logits(f->forward, 0, LENGTH), LENGTH, out);
}

/* Logits of all rows of the window into those rows of out [LENGTH, vocab]. */
static void window_logits(struct fixture *f, int low, int high, float *out)
{
    const struct forward_canvas canvas = {f->ids,        LENGTH,     low, high,
                                          f->rows + low, high - low, NULL};

    forward_run(f->forward, &canvas, 1);
    read_logits(f, forward_logits(f->forward, 0, high - low), high - low,
                out + low * f->model.hparams.vocab);
}

static void check_against_doubles(const struct tiny_model *tiny)
{
    static float got[LENGTH * MAX_VOCAB];
    static double want[LENGTH * MAX_VOCAB];
    struct fixture f;

    open_model(&f, tiny, 2, NULL);
    all_logits(&f, got);
    double_forward(&f.model, f.ids, 0, LENGTH, want);
    for (int i = 0; i < LENGTH * tiny->vocab; i++)
        assert_true(fabs((double)got[i] - want[i]) < 1e-4 * (1 + fabs(want[i])));
    close_model(&f);
}

/* Breaks with a wrong pairing, head sharing, bias, norm or residual. */
static void test_equals_doubles(void **state)
{
    struct tiny_model tiny = tiny_model_llada();

    (void)state;
    check_against_doubles(&tiny);
    tiny.tied = true;
    tiny.rope_dims = 16; /* part of a head turns */
    check_against_doubles(&tiny);
    tiny = tiny_model_dream();
    check_against_doubles(&tiny);
    tiny.key_length = 64; /* heads wider than hidden / heads */
    check_against_doubles(&tiny);
    tiny.layers = 1;
    check_against_doubles(&tiny);
}

/* Breaks if a router, a share or an expert's slots are mixed up. */
static void test_experts_equal_doubles(void **state)
{
    struct tiny_model tiny = tiny_model_llada_moe();

    (void)state;
    check_against_doubles(&tiny);
    tiny.experts_used = 1;
    check_against_doubles(&tiny);
    tiny.experts_used = tiny.experts;
    check_against_doubles(&tiny);
    tiny = tiny_model_rnd1();
    check_against_doubles(&tiny);
    tiny.experts = 60; /* most are not visited */
    tiny.key_length = 64;
    check_against_doubles(&tiny);
}

static void check_rows(const struct tiny_model *tiny)
{
    static float all[LENGTH * MAX_VOCAB], some[LENGTH * MAX_VOCAB];
    static const int32_t rows[] = {0, 4, 5, 13, 20};
    struct fixture f;

    open_model(&f, tiny, 2, NULL);
    all_logits(&f, all);
    run(&f, f.ids, LENGTH, rows, ARRAY_COUNT(rows));
    read_logits(&f, forward_logits(f.forward, 0, 3), 3, some);
    read_logits(&f, forward_logits(f.forward, 3, 2), 2, some + 3 * tiny->vocab);
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++)
        assert_memory_equal(some + i * (size_t)tiny->vocab, all + rows[i] * tiny->vocab,
                            sizeof(float) * (size_t)tiny->vocab);
    close_model(&f);
}

/* Breaks if the last layer's shortcut changes what the asked rows get. */
static void test_rows_do_not_matter(void **state)
{
    struct tiny_model tiny = tiny_model_dream();

    (void)state;
    check_rows(&tiny);
    tiny = tiny_model_rnd1();
    check_rows(&tiny);
}

/* Breaks if the first layer's kept projections outlive their tokens: passes over
 * changing canvases, a shorter one between, against a fresh workspace. */
static void test_passes_do_not_remember(void **state)
{
    static float want[LENGTH * MAX_VOCAB], got[LENGTH * MAX_VOCAB];
    struct tiny_model tiny = tiny_model_llada();
    struct fixture f, fresh;

    (void)state;
    open_model(&f, &tiny, 2, NULL);
    for (int pass = 0; pass < 6; pass++) {
        f.ids[(5 * pass) % LENGTH] = pass;
        f.ids[(7 * pass + 3) % LENGTH] = 39 - pass;
        if (pass == 3)
            run(&f, f.rows, 5, f.rows, 5);
        all_logits(&f, got);
        open_model(&fresh, &tiny, 1, NULL);
        memcpy(fresh.ids, f.ids, sizeof f.ids);
        all_logits(&fresh, want);
        close_model(&fresh);
        assert_memory_equal(want, got, sizeof want);
    }
    close_model(&f);
}

static void check_same_bits(const struct tiny_model *tiny)
{
    static const char *const levels[] = {"ref", "avx2", "avxvnni", "avx512vnni"};
    static const int threads[] = {1, 2, 3, 7, 64};
    static float want[LENGTH * MAX_VOCAB], got[LENGTH * MAX_VOCAB];
    struct fixture f;

    open_model(&f, tiny, 1, "ref");
    all_logits(&f, want);
    close_model(&f);
    for (size_t l = 0; l < ARRAY_COUNT(levels); l++)
        for (size_t t = 0; t < ARRAY_COUNT(threads); t++) {
            struct backend *probe;

            if (backend_cpu_create(1, levels[l], &probe, NULL) != DLLM_OK)
                continue;
            backend_destroy(probe);
            open_model(&f, tiny, threads[t], levels[l]);
            all_logits(&f, got);
            assert_memory_equal(want, got, sizeof want);
            close_model(&f);
        }
}

/* Breaks if a level or a thread count changes a bit. */
static void test_same_bits_everywhere(void **state)
{
    struct tiny_model tiny = tiny_model_dream();

    (void)state;
    tiny.type = 30; /* BF16 */
    check_same_bits(&tiny);
    tiny = tiny_model_rnd1();
    tiny.type = 30;
    check_same_bits(&tiny);
}

/* Breaks if guidance mixes up the two canvases, or if going through the layers
 * side by side changes a bit; of the second half of the rows too. */
static void test_guidance(void **state)
{
    static float l[LENGTH * MAX_VOCAB], u[LENGTH * MAX_VOCAB], got[LENGTH * MAX_VOCAB];
    struct tiny_model tiny = tiny_model_llada();
    int32_t masked[LENGTH];
    struct forward_canvas canvases[2];
    struct fixture f;

    (void)state;
    open_model(&f, &tiny, 2, NULL);
    all_logits(&f, l);
    memcpy(masked, f.ids, sizeof masked);
    canvases[0] = canvases[1] =
        (struct forward_canvas){f.ids, LENGTH, 0, LENGTH, f.rows, LENGTH, NULL};
    canvases[1].ids = masked;
    masked[0] = masked[1] = 39;
    run(&f, masked, LENGTH, f.rows, LENGTH);
    read_logits(&f, forward_logits(f.forward, 0, LENGTH), LENGTH, u);
    forward_run(f.forward, canvases, 2);
    for (int first = 0; first < LENGTH; first += 14)
        read_logits(
            &f,
            forward_logits_guided(f.forward, first, LENGTH + first, MIN(14, LENGTH - first), 1.5),
            MIN(14, LENGTH - first), got + first * tiny.vocab);
    for (int i = 0; i < LENGTH * tiny.vocab; i++) {
        double want = (double)u[i] + 2.5 * ((double)l[i] - (double)u[i]);

        assert_true((double)got[i] == (double)(float)want);
    }
    close_model(&f);
}

/* Breaks if canvases of one pass see each other or share what is kept of the
 * first layer: three passes over two canvases of different lengths, against
 * each alone. */
static void test_canvases_do_not_matter(void **state)
{
    static float want[2][LENGTH * MAX_VOCAB], got[LENGTH * MAX_VOCAB];
    struct tiny_model tiny = tiny_model_dream();
    int32_t other[LENGTH];
    struct fixture f, alone;

    (void)state;
    open_model(&f, &tiny, 2, NULL);
    open_model(&alone, &tiny, 1, NULL);
    for (int i = 0; i < LENGTH; i++)
        other[i] = (11 * i + 1) % tiny.vocab;
    for (int pass = 0; pass < 3; pass++) {
        const struct forward_canvas canvases[] = {{f.ids, 9, 0, 9, f.rows, 9, NULL},
                                                  {other, LENGTH, 0, LENGTH, f.rows + 6, 12, NULL}};

        f.ids[5 * pass % 9] = other[7 * pass] = 30 + pass;
        for (int c = 0; c < 2; c++) {
            forward_run(alone.forward, &canvases[c], 1);
            read_logits(&alone, forward_logits(alone.forward, 0, canvases[c].count),
                        canvases[c].count, want[c]);
        }
        forward_run(f.forward, canvases, 2);
        read_logits(&f, forward_logits(f.forward, 0, LENGTH), LENGTH, got);
        assert_memory_equal(want[0], got, 9 * sizeof *got * (size_t)tiny.vocab);
        assert_memory_equal(want[1], got + 9 * tiny.vocab, 12 * sizeof *got * (size_t)tiny.vocab);
    }
    close_model(&f);
    close_model(&alone);
}

/* Breaks if positions outside the window are computed, looked at for their new
 * tokens or forgotten: passes over windows against the same in doubles. */
static void test_windows_equal_doubles(void **state)
{
    static const int windows[][2] = {{0, LENGTH}, {5, 12}, {12, LENGTH}, {0, 3},
                                     {7, 8},      {6, 21}, {0, LENGTH},  {13, 17}};
    static float got[LENGTH * MAX_VOCAB];
    static double want[LENGTH * MAX_VOCAB];
    struct tiny_model tiny = tiny_model_dream();
    struct fixture f;

    (void)state;
    for (tiny.layers = 1; tiny.layers <= DOUBLE_LAYERS; tiny.layers++) {
        open_model_cached(&f, &tiny, 2, NULL, true);
        for (size_t pass = 0; pass < ARRAY_COUNT(windows); pass++) {
            const int low = windows[pass][0], high = windows[pass][1];

            for (int i = 0; i < LENGTH; i += 3) /* some inside, some outside */
                f.ids[i] = (f.ids[i] + 5) % tiny.vocab;
            window_logits(&f, low, high, got);
            double_forward(&f.model, f.ids, low, high, want);
            for (int i = low * tiny.vocab; i < high * tiny.vocab; i++)
                assert_true(fabs((double)got[i] - want[i]) < 1e-4);
        }
        close_model(&f);
    }
}

/* Breaks if threads, levels or a whole window differ by a bit from what a pass
 * without caches gives. */
static void test_windows_same_bits(void **state)
{
    static const char *const levels[] = {"ref", "avx2", "avxvnni", "avx512vnni"};
    static float whole[LENGTH * MAX_VOCAB], want[LENGTH * MAX_VOCAB], got[LENGTH * MAX_VOCAB];
    struct tiny_model tiny = tiny_model_llada();
    struct fixture f;

    (void)state;
    tiny.type = 30; /* BF16 */
    open_model(&f, &tiny, 1, "ref");
    all_logits(&f, whole);
    close_model(&f);
    for (size_t l = 0; l < ARRAY_COUNT(levels); l++)
        for (int threads = 1; threads < 6; threads += 2) {
            struct backend *probe;

            if (backend_cpu_create(1, levels[l], &probe, NULL) != DLLM_OK)
                continue;
            backend_destroy(probe);
            open_model_cached(&f, &tiny, threads, levels[l], true);
            window_logits(&f, 0, LENGTH, got);
            assert_memory_equal(whole, got, sizeof whole);
            window_logits(&f, 4, 11, got); /* nothing changed: the same again */
            assert_memory_equal(whole, got, sizeof whole);
            f.ids[6] = f.ids[15] = 1;
            window_logits(&f, 3, 12, got);
            if (l == 0 && threads == 1)
                memcpy(want, got, sizeof want);
            assert_memory_equal(want, got, sizeof want);
            assert_memory_not_equal(whole, got, sizeof whole);
            close_model(&f);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_equals_doubles),
        cmocka_unit_test(test_experts_equal_doubles),
        cmocka_unit_test(test_rows_do_not_matter),
        cmocka_unit_test(test_passes_do_not_remember),
        cmocka_unit_test(test_same_bits_everywhere),
        cmocka_unit_test(test_guidance),
        cmocka_unit_test(test_canvases_do_not_matter),
        cmocka_unit_test(test_windows_equal_doubles),
        cmocka_unit_test(test_windows_same_bits),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
