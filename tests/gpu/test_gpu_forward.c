/*
 * test_gpu_forward: the transformer on a GPU, with tiny models of F32 weights:
 * every pass must give the bits that the CPU gives.
 *
 * What would break: an operation on the wrong rows, a constant or list taken
 * from the wrong place, work queued in the wrong order, canvases that see each
 * other, keys of another pass or layer; where the CPU has the first layers, rows
 * that cross to the wrong place.
 */
#include "backend_cuda.h"
#include "forward.h"
#include "test_paths.h"
#include "tiny_model.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { LENGTH = 21, MAX_VOCAB = 40, MAX_HIDDEN = 128, CANVASES = 3 };
enum { ROWS = CANVASES * LENGTH };

/* One model, a workspace on each device. */
struct fixture {
    struct dllm_file *file;
    struct model model;
    struct backend *cpu, *gpu;
    struct placement whole, shared; /* on the CPU; on the GPU, which may leave layers to it */
    struct forward *on_cpu, *on_gpu;
    int32_t ids[CANVASES][LENGTH], rows[LENGTH];
};

/* The layers from `first` on. */
static void load(struct fixture *f, int first)
{
    struct backend_range ranges[64];
    struct backend_constants constants = {.ranges = ranges};
    struct dllm_error error;

    constants.count = weights_constants(&f->model.weights, &f->model.hparams, first, NULL);
    assert_in_range(constants.count, 1, 64);
    weights_constants(&f->model.weights, &f->model.hparams, first, ranges);
    if (backend_load(f->gpu, &constants, &error))
        fail_msg("%s", error.message);
}

/* on_gpu: layers that the GPU has, the last ones. */
static void open_shared(struct fixture *f, const struct tiny_model *tiny, bool cached, int on_gpu)
{
    const struct forward_limits limits = {
        .canvases = CANVASES, .length = LENGTH, .rows = ROWS, .cached = cached};
    const int first = tiny->layers - on_gpu;
    char path[TEST_PATH_BYTES];

    memset(f, 0, sizeof *f);
    f->file = tiny_model_open(tiny, path);
    unlink(path);
    assert_non_null(f->file);
    assert_int_equal(hparams_read(f->file, &f->model.hparams, NULL), DLLM_OK);
    assert_int_equal(weights_bind(f->file, &f->model.hparams, &f->model.weights, NULL), DLLM_OK);
    assert_int_equal(backend_cpu_create(2, NULL, &f->cpu, NULL), DLLM_OK);
    assert_int_equal(backend_cuda_create(0, 2, &f->gpu, NULL), DLLM_OK);
    load(f, first);
    f->whole = (struct placement){.main = f->cpu};
    f->shared = (struct placement){f->gpu, first ? f->cpu : NULL, first};
    assert_int_equal(forward_create(&f->whole, &f->model, &limits, &f->on_cpu, NULL), DLLM_OK);
    assert_int_equal(forward_create(&f->shared, &f->model, &limits, &f->on_gpu, NULL), DLLM_OK);
    for (int i = 0; i < LENGTH; i++) {
        f->rows[i] = i;
        for (int c = 0; c < CANVASES; c++)
            f->ids[c][i] = (7 * i + 3 + 5 * c) % tiny->vocab;
    }
}

static void open_model(struct fixture *f, const struct tiny_model *tiny, bool cached)
{
    open_shared(f, tiny, cached, tiny->layers);
}

static void close_model(struct fixture *f)
{
    forward_destroy(f->on_cpu);
    forward_destroy(f->on_gpu);
    backend_destroy(f->cpu);
    backend_destroy(f->gpu);
    weights_free(&f->model.weights);
    dllm_file_close(f->file);
}

static void read_logits(struct backend *backend, const struct backend_buffer *logits, int count,
                        float *out)
{
    struct dllm_error error;

    if (backend_buffer_read(backend, logits, 0, count, out, &error))
        fail_msg("%s", error.message);
}

/* A pass on both devices: the same logits of all rows asked for. */
static void compare_pass(struct fixture *f, const struct forward_canvas *canvases, int count)
{
    static float want[ROWS * MAX_VOCAB], got[ROWS * MAX_VOCAB];
    size_t bytes;
    int rows = 0;

    for (int c = 0; c < count; c++)
        rows += canvases[c].count;
    bytes = sizeof *want * (size_t)rows * (size_t)f->model.hparams.vocab;
    forward_run(f->on_cpu, canvases, count);
    forward_run(f->on_gpu, canvases, count);
    read_logits(f->cpu, forward_logits(f->on_cpu, 0, rows), rows, want);
    read_logits(f->gpu, forward_logits(f->on_gpu, 0, rows), rows, got);
    assert_memory_equal(want, got, bytes);
}

static struct forward_canvas whole(const struct fixture *f, int canvas, int length)
{
    return (struct forward_canvas){f->ids[canvas], length, 0, length, f->rows, length, NULL};
}

/* Passes over a canvas that changes, then over several of different lengths. */
static void compare_shared(const struct tiny_model *tiny, int on_gpu)
{
    static const int32_t some[] = {0, 4, 5, 13, 20};
    struct fixture f;

    open_shared(&f, tiny, false, on_gpu);
    for (int pass = 0; pass < 2; pass++) {
        struct forward_canvas canvases[CANVASES] = {whole(&f, 0, LENGTH)};

        f.ids[0][5 * pass] = pass;
        compare_pass(&f, canvases, 1);
        canvases[1] = whole(&f, 1, 9 + pass);
        canvases[2] = (struct forward_canvas){f.ids[2], LENGTH, 0, LENGTH, some, 5, NULL};
        compare_pass(&f, canvases, CANVASES);
    }
    close_model(&f);
}

static void compare_model(const struct tiny_model *tiny)
{
    compare_shared(tiny, tiny->layers);
}

static void test_llada(void **state)
{
    struct tiny_model tiny = tiny_model_llada();

    (void)state;
    compare_model(&tiny);
    tiny.tied = true;
    tiny.rope_dims = 16; /* part of a head turns */
    compare_model(&tiny);
    tiny.layers = 1;
    compare_model(&tiny);
}

static void test_dream(void **state)
{
    struct tiny_model tiny = tiny_model_dream();

    (void)state;
    compare_model(&tiny);
    tiny.key_length = 64; /* heads wider than hidden / heads */
    compare_model(&tiny);
}

static void test_experts(void **state)
{
    struct tiny_model tiny = tiny_model_llada_moe();

    (void)state;
    compare_model(&tiny);
    tiny.experts_used = 1;
    compare_model(&tiny);
    tiny = tiny_model_rnd1();
    tiny.experts = 60; /* most are not visited */
    compare_model(&tiny);
}

static void compare_windows(const struct tiny_model *tiny, int on_gpu)
{
    struct fixture f;

    open_shared(&f, tiny, true, on_gpu);
    for (int block = 0; block < 3; block++) {
        const int low = 6 * block + 2, high = low + 6;
        struct forward_canvas canvases[2] = {whole(&f, 0, LENGTH), whole(&f, 1, LENGTH - 1)};

        compare_pass(&f, canvases, 2);
        for (int step = 0; step < 2; step++) {
            f.ids[0][low + step] = f.ids[1][low + 2 * step] = 30 + step;
            canvases[0] = (struct forward_canvas){f.ids[0],     LENGTH,     low, high,
                                                  f.rows + low, high - low, NULL};
            canvases[1] = (struct forward_canvas){f.ids[1],     LENGTH - 1, low, LENGTH - 1,
                                                  f.rows + low, 2,          NULL};
            compare_pass(&f, canvases, 2);
        }
    }
    /* Windows that differ in one end only, in turn. */
    for (int pass = 0; pass < 6; pass++) {
        const int low = pass % 2 ? 4 : 9, high = pass % 3 ? LENGTH : 16;
        const struct forward_canvas canvas = {f.ids[0],     LENGTH,     low, high,
                                              f.rows + low, high - low, NULL};

        f.ids[0][low + pass] = pass;
        compare_pass(&f, &canvas, 1);
    }
    close_model(&f);
}

/* Breaks if keys of positions outside the window are not those of their last pass. */
static void test_windows(void **state)
{
    struct tiny_model tiny = tiny_model_dream();

    (void)state;
    tiny.layers = 3;
    compare_windows(&tiny, 3);
}

static void compare_guidance(const struct tiny_model *tiny, int on_gpu)
{
    static float want[LENGTH * MAX_VOCAB], got[LENGTH * MAX_VOCAB];
    struct forward_canvas canvases[2];
    struct fixture f;

    open_shared(&f, tiny, false, on_gpu);
    canvases[0] = whole(&f, 0, LENGTH);
    canvases[1] = whole(&f, 1, LENGTH);
    forward_run(f.on_cpu, canvases, 2);
    forward_run(f.on_gpu, canvases, 2);
    for (int first = 0; first < LENGTH; first += 14) {
        int count = MIN(14, LENGTH - first);

        read_logits(f.cpu, forward_logits_guided(f.on_cpu, first, LENGTH + first, count, 1.5),
                    count, want);
        read_logits(f.gpu, forward_logits_guided(f.on_gpu, first, LENGTH + first, count, 1.5),
                    count, got);
        assert_memory_equal(want, got, sizeof *want * (size_t)(count * tiny->vocab));
    }
    close_model(&f);
}

static void test_guidance(void **state)
{
    const struct tiny_model tiny = tiny_model_llada();

    (void)state;
    compare_guidance(&tiny, tiny.layers);
}

/* What forward_watch showed. */
struct seen {
    int layers;
    float hidden[4][LENGTH * MAX_HIDDEN];
};

static void see(void *context, const struct forward_layer *layer)
{
    struct seen *seen = context;

    assert_int_equal(layer->layer, seen->layers - 1);
    read_logits(layer->backend, layer->x, layer->rows, seen->hidden[seen->layers++]);
}

static void compare_layers(const struct tiny_model *tiny, int on_gpu)
{
    static struct seen want, got;
    struct fixture f;
    struct forward_canvas canvas;

    open_shared(&f, tiny, false, on_gpu);
    assert_in_range(tiny->hidden, 1, MAX_HIDDEN);
    canvas = whole(&f, 0, LENGTH);
    want.layers = got.layers = 0;
    forward_watch(f.on_cpu, see, &want);
    forward_watch(f.on_gpu, see, &got);
    forward_run(f.on_cpu, &canvas, 1);
    forward_run(f.on_gpu, &canvas, 1);
    assert_int_equal(want.layers, tiny->layers + 1);
    assert_int_equal(got.layers, want.layers);
    for (int layer = 0; layer < want.layers; layer++)
        assert_memory_equal(want.hidden[layer], got.hidden[layer],
                            sizeof(float) * (size_t)(LENGTH * tiny->hidden));
    close_model(&f);
}

static void test_layers_are_shown(void **state)
{
    const struct tiny_model tiny = tiny_model_rnd1();

    (void)state;
    compare_layers(&tiny, tiny.layers);
}

/* The CPU has the first layers: from all of them, the output matrix alone being on the GPU,
 * to one. Breaks if what crosses is not what the next layer needs, if a layer's keys are kept
 * where it is not computed, or if a constant is missing on the GPU. */
static void test_layers_are_shared(void **state)
{
    struct tiny_model llada = tiny_model_llada(), dream = tiny_model_dream();
    struct tiny_model rnd1 = tiny_model_rnd1();

    (void)state;
    dream.layers = 3;
    rnd1.layers = 3;
    for (int on_gpu = 0; on_gpu < 3; on_gpu++) {
        compare_windows(&dream, on_gpu);
        compare_layers(&rnd1, on_gpu);
    }
    llada.tied = true; /* the CPU has the embedding, the GPU the output matrix */
    for (int on_gpu = 0; on_gpu < llada.layers; on_gpu++) {
        compare_shared(&llada, on_gpu);
        compare_guidance(&llada, on_gpu);
    }
    llada.layers = 1;
    compare_shared(&llada, 0);
}

/* Breaks if an attention of more canvases than a launch takes leaves some out. */
static void test_many_canvases(void **state)
{
    enum { MANY = 37, SHORT = 3 };
    static float want[SHORT * MAX_VOCAB], got[MANY * SHORT * MAX_VOCAB];
    const struct forward_limits limits = {.canvases = MANY, .length = SHORT, .rows = MANY * SHORT};
    struct tiny_model tiny = tiny_model_llada();
    struct forward_canvas canvases[MANY];
    struct forward *forward;
    struct fixture f;
    size_t row = (size_t)tiny.vocab;

    (void)state;
    open_model(&f, &tiny, false);
    for (int c = 0; c < MANY; c++) {
        canvases[c] = whole(&f, c % CANVASES, SHORT);
        canvases[c].ids += c % 17;
    }
    assert_int_equal(forward_create(&f.shared, &f.model, &limits, &forward, NULL), DLLM_OK);
    forward_run(forward, canvases, MANY);
    read_logits(f.gpu, forward_logits(forward, 0, MANY * SHORT), MANY * SHORT, got);
    for (int c = 0; c < MANY; c++) {
        forward_run(f.on_cpu, &canvases[c], 1);
        read_logits(f.cpu, forward_logits(f.on_cpu, 0, SHORT), SHORT, want);
        assert_memory_equal(want, got + (size_t)c * SHORT * row, SHORT * row * sizeof *want);
    }
    forward_destroy(forward);
    close_model(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_llada),         cmocka_unit_test(test_dream),
        cmocka_unit_test(test_experts),       cmocka_unit_test(test_windows),
        cmocka_unit_test(test_guidance),      cmocka_unit_test(test_layers_are_shown),
        cmocka_unit_test(test_many_canvases), cmocka_unit_test(test_layers_are_shared),
    };
    int gpus;

    if (backend_cuda_count(&gpus, NULL) != DLLM_OK)
        return 77;
    return cmocka_run_group_tests_name("gpu_forward", tests, NULL, NULL);
}
