/*
 * test_gpu_backend: what the host's side of a GPU does by itself.
 *
 * What would break: numbers of a list overwritten while a copy of them is under
 * way; a part of the weights that an upload leaves out; a recording that goes on
 * using memory that has moved, or the contents of another time; a refused canvas that
 * takes the others' room; a failure that is forgotten; memory that is not given back; a
 * ceiling of the wrong kind of weights.
 */
#include "backend_cuda.h"
#include "dtype.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { ROWS = 8, WIDTH = 32, SENDS = 30 };

struct fixture {
    struct backend *backend;
    struct backend_buffer *x, *out; /* [ROWS, WIDTH]; x[r, :] is r */
    int32_t *list;                  /* [2 * ROWS] */
};

static struct backend *open_backend(void)
{
    struct backend *backend;
    struct dllm_error error;

    if (backend_cuda_create(0, 2, &backend, &error))
        fail_msg("%s", error.message);
    return backend;
}

static void open_fixture(struct fixture *f)
{
    float rows[ROWS * WIDTH];

    f->backend = open_backend();
    assert_int_equal(backend_buffer_create(f->backend, ROWS, WIDTH, &f->x, NULL), DLLM_OK);
    assert_int_equal(backend_buffer_create(f->backend, ROWS, WIDTH, &f->out, NULL), DLLM_OK);
    assert_int_equal(backend_lists_create(f->backend, 2 * ROWS, &f->list, NULL), DLLM_OK);
    for (int i = 0; i < ROWS * WIDTH; i++)
        rows[i] = (float)(i / WIDTH);
    backend_buffer_write(f->backend, f->x, 0, ROWS, rows);
}

static void close_fixture(struct fixture *f)
{
    backend_buffer_destroy(f->backend, f->x);
    backend_buffer_destroy(f->backend, f->out);
    backend_lists_destroy(f->backend, f->list);
    backend_destroy(f->backend);
}

/* Whether out[r, :] is want[r]. */
static void assert_rows_of(struct fixture *f, const struct backend_buffer *out, const int32_t *want,
                           int count)
{
    float got[ROWS * WIDTH];

    assert_int_equal(backend_buffer_read(f->backend, out, 0, count, got, NULL), DLLM_OK);
    for (int i = 0; i < count * WIDTH; i++)
        assert_true((double)got[i] == want[i / WIDTH]);
}

static void assert_rows(struct fixture *f, const int32_t *want, int count)
{
    assert_rows_of(f, f->out, want, count);
}

/* Fills a list and sends it; what it held before was for operations before. */
static void send(struct fixture *f, int first, int32_t number, int count)
{
    for (int i = 0; i < count; i++)
        f->list[first + i] = (number + i) % ROWS;
    backend_lists_send(f->backend, f->list + first, count);
    for (int i = 0; i < count; i++)
        f->list[first + i] = -1;
}

static void test_lists(void **state)
{
    struct backend_buffer *outs[SENDS];
    struct fixture f;

    (void)state;
    open_fixture(&f);
    for (int i = 0; i < SENDS; i++)
        assert_int_equal(backend_buffer_create(f.backend, ROWS, WIDTH, &outs[i], NULL), DLLM_OK);
    /* All are sent before a result is waited for; each operation sees its own numbers. */
    for (int i = 0; i < SENDS; i++) {
        send(&f, i % 4, 3 * i, 1 + i % ROWS);
        backend_gather(f.backend, f.x, f.list + i % 4, 1 + i % ROWS, outs[i]);
    }
    for (int i = 0; i < SENDS; i++) {
        int32_t want[ROWS];

        for (int r = 0; r < ROWS; r++)
            want[r] = (3 * i + r) % ROWS;
        assert_rows_of(&f, outs[i], want, 1 + i % ROWS);
        backend_buffer_destroy(f.backend, outs[i]);
    }
    close_fixture(&f);
}

/* Several portions, a range that ends inside one, and one in the middle of them. */
static void test_load(void **state)
{
    enum { LARGE = 5 << 20, SMALL = 3 };
    static const int32_t picked[] = {0, 1, LARGE / WIDTH / 2, LARGE / WIDTH - 1};
    float *large = malloc(sizeof *large * LARGE), small[SMALL * WIDTH];
    const struct backend_range ranges[] = {{small, sizeof small}, {large, sizeof *large * LARGE}};
    const struct backend_constants constants = {.ranges = ranges, .count = 2};
    const struct backend_matrix one = {0, SMALL, WIDTH, small};
    const struct backend_matrix other = {0, LARGE / WIDTH, WIDTH, large};
    float got[ROWS * WIDTH];
    struct fixture f;

    (void)state;
    assert_non_null(large);
    for (int i = 0; i < LARGE; i++)
        large[i] = (float)i;
    for (int i = 0; i < SMALL * WIDTH; i++)
        small[i] = (float)-i;
    open_fixture(&f);
    assert_int_equal(backend_load(f.backend, &constants, NULL), DLLM_OK);
    memcpy(f.list, picked, sizeof picked);
    backend_lists_send(f.backend, f.list, 4);
    backend_embed(f.backend, &other, f.list, 4, f.out);
    assert_int_equal(backend_buffer_read(f.backend, f.out, 0, 4, got, NULL), DLLM_OK);
    for (int i = 0; i < 4; i++)
        assert_memory_equal(got + i * WIDTH, large + picked[i] * WIDTH, sizeof *got * WIDTH);
    send(&f, 0, 0, SMALL);
    backend_embed(f.backend, &one, f.list, SMALL, f.out);
    assert_int_equal(backend_buffer_read(f.backend, f.out, 0, SMALL, got, NULL), DLLM_OK);
    assert_memory_equal(got, small, sizeof small);
    close_fixture(&f);
    free(large);
}

struct progress {
    uint64_t there, bytes;
    int calls;
};

static void count_progress(void *context, uint64_t there, uint64_t bytes)
{
    struct progress *progress = context;

    assert_true(there > progress->there && there <= bytes);
    *progress = (struct progress){there, bytes, progress->calls + 1};
}

static void test_load_is_reported(void **state)
{
    enum { BYTES = 40 << 20 };
    char *data = calloc(1, BYTES);
    const struct backend_range range = {data, BYTES};
    struct progress progress = {0};
    const struct backend_constants constants = {
        .ranges = &range, .count = 1, .report = count_progress, .context = &progress};
    struct backend *backend = open_backend();

    (void)state;
    assert_non_null(data);
    assert_int_equal(backend_load(backend, &constants, NULL), DLLM_OK);
    assert_int_equal(progress.there, BYTES);
    assert_int_equal(progress.bytes, BYTES);
    assert_in_range(progress.calls, 2, 10);
    backend_destroy(backend);
    free(data);
}

/* Rows of the list's numbers, recorded under a key. */
static bool gather_recorded(struct fixture *f, struct backend_recordings *recordings, int32_t key,
                            int count)
{
    bool replayed = backend_replay(f->backend, recordings, &key, sizeof key);

    if (!replayed) {
        backend_gather(f->backend, f->x, f->list, count, f->out);
        backend_record_end(f->backend, recordings);
    }
    return replayed;
}

static void test_recordings(void **state)
{
    struct backend_recordings *recordings;
    struct fixture f;

    (void)state;
    open_fixture(&f);
    assert_int_equal(backend_recordings_create(f.backend, &recordings, NULL), DLLM_OK);
    for (int pass = 0; pass < 5; pass++)
        for (int32_t key = 1; key <= 3; key++) {
            int32_t want[ROWS];

            send(&f, 0, pass + key, key);
            assert_int_equal(gather_recorded(&f, recordings, key, key), pass >= 2);
            for (int i = 0; i < key; i++)
                want[i] = (pass + key + i) % ROWS;
            assert_rows(&f, want, key);
        }
    backend_recordings_destroy(f.backend, recordings);
    close_fixture(&f);
}

/* More keys than are kept; the oldest are recorded anew, and none is mixed up. */
static void test_many_recordings(void **state)
{
    struct backend_recordings *recordings;
    struct fixture f;

    (void)state;
    open_fixture(&f);
    assert_int_equal(backend_recordings_create(f.backend, &recordings, NULL), DLLM_OK);
    for (int32_t i = 0; i < 300; i++) {
        int32_t key = i % 3 ? i % 70 : 0, count = 1 + key % ROWS, want[ROWS];

        send(&f, 0, i, count);
        gather_recorded(&f, recordings, key, count);
        for (int r = 0; r < count; r++)
            want[r] = (i + r) % ROWS;
        assert_rows(&f, want, count);
    }
    backend_recordings_destroy(f.backend, recordings);
    close_fixture(&f);
}

/* On the emulated card an operation of a recording takes more than half of the memory, so that
 * one recording has room, and keeps it while it runs. */
static void test_a_recording_waits_for_room(void **state)
{
    struct backend_recordings *recordings;
    struct fixture f;

    (void)state;
    setenv("EMU_GRAPH_NODE", "10000000000", 1);
    open_fixture(&f);
    assert_int_equal(backend_recordings_create(f.backend, &recordings, NULL), DLLM_OK);
    send(&f, 0, 0, 1);
    for (int32_t key = 1; key <= 2; key++)
        for (int pass = 0; pass < 4; pass++) /* without a wait between */
            assert_int_equal(gather_recorded(&f, recordings, key, 1), pass >= 2);
    backend_recordings_destroy(f.backend, recordings);
    close_fixture(&f);
    unsetenv("EMU_GRAPH_NODE");
}

/* What operations on a fixture's rows need. */
static const struct backend_limits small_canvas = {.rows = ROWS,
                                                   .width = WIDTH,
                                                   .keys = 8,
                                                   .kv_heads = 1,
                                                   .head_dim = 32,
                                                   .vocab = 40,
                                                   .canvases = 1};

/* The operations' own memory moves when their limits grow: nothing recorded before
 * is replayed then. */
static void test_recordings_end_when_memory_moves(void **state)
{
    struct backend_limits limits = small_canvas;
    struct backend_recordings *recordings;
    struct fixture f;

    (void)state;
    open_fixture(&f);
    assert_int_equal(backend_reserve(f.backend, &limits, NULL), DLLM_OK);
    assert_int_equal(backend_recordings_create(f.backend, &recordings, NULL), DLLM_OK);
    for (int pass = 0; pass < 3; pass++) {
        send(&f, 0, pass, 1);
        assert_int_equal(gather_recorded(&f, recordings, 1, 1), pass >= 2);
    }
    assert_int_equal(backend_reserve(f.backend, &limits, NULL), DLLM_OK);
    assert_true(gather_recorded(&f, recordings, 1, 1));
    limits.keys = 100;
    assert_int_equal(backend_reserve(f.backend, &limits, NULL), DLLM_OK);
    assert_false(gather_recorded(&f, recordings, 1, 1));
    backend_recordings_destroy(f.backend, recordings);
    close_fixture(&f);
}

/* Too large a canvas is refused, and what was there before goes on, in new room. */
static void test_a_refusal_leaves_the_others_their_room(void **state)
{
    const struct backend_limits huge = {
        .keys = 1 << 24, .kv_heads = 64, .head_dim = 256, .canvases = 32}; /* 35 TB */
    static const int32_t targets[ROWS];
    double losses[ROWS];
    struct backend_recordings *recordings;
    struct fixture f;

    (void)state;
    open_fixture(&f);
    assert_int_equal(backend_reserve(f.backend, &small_canvas, NULL), DLLM_OK);
    assert_int_equal(backend_recordings_create(f.backend, &recordings, NULL), DLLM_OK);
    send(&f, 0, 0, 1);
    for (int pass = 0; pass < 3; pass++)
        gather_recorded(&f, recordings, 1, 1);
    for (int time = 0; time < 2; time++) {
        assert_int_equal(backend_reserve(f.backend, &huge, NULL), DLLM_ERROR_DEVICE);
        assert_false(gather_recorded(&f, recordings, 1, 1));
        assert_int_equal(backend_cross_entropy_rows(f.backend, (struct backend_rows){f.x, 0, ROWS},
                                                    targets, losses, NULL),
                         DLLM_OK);
        for (int row = 0; row < ROWS; row++) /* of equal logits: ln 32 */
            assert_true(losses[row] > 3.465 && losses[row] < 3.467);
    }
    backend_recordings_destroy(f.backend, recordings);
    close_fixture(&f);
}

static void test_a_failure_stays(void **state)
{
    static float stray[WIDTH];
    const struct backend_matrix matrix = {0, 1, WIDTH, stray}; /* was never loaded */
    float got[WIDTH];
    struct dllm_error error;
    struct fixture f;

    (void)state;
    open_fixture(&f);
    send(&f, 0, 0, 1);
    backend_embed(f.backend, &matrix, f.list, 1, f.out);
    for (int time = 0; time < 2; time++) {
        assert_int_equal(backend_buffer_read(f.backend, f.out, 0, 1, got, &error),
                         DLLM_ERROR_DEVICE);
        assert_non_null(strstr(error.message, "gpu:0 failed (look-up of a constant: "));
        assert_non_null(strstr(error.message, "(--device cpu)"));
        backend_gather(f.backend, f.x, f.list, 1, f.out); /* does nothing any more */
    }
    close_fixture(&f);
}

static uint64_t free_bytes(void)
{
    struct dllm_gpu gpu;

    assert_int_equal(backend_cuda_describe(0, &gpu, NULL), DLLM_OK);
    return gpu.free_bytes;
}

/* What a driver takes and keeps for itself, for streams and small pieces; a buffer takes twice
 * as much. */
enum { UNSEEN = 16 << 20, LARGE_ROWS = 2 * UNSEEN / 4 / WIDTH };

/* How many large buffers' worth of memory is gone since so many bytes were free. */
static int buffers_gone(uint64_t before)
{
    const int64_t bytes = (int64_t)(before - free_bytes()), buffer = 2 * UNSEEN;

    assert_true(bytes > -UNSEEN);
    return (int)((bytes + UNSEEN) / buffer);
}

/* Buffers of a reserved block and of their own, given back in another order. */
static void test_memory_comes_back(void **state)
{
    struct backend_limits limits = small_canvas;
    struct backend_buffer *buffers[5];
    const uint64_t before = free_bytes();
    struct backend *backend = open_backend();

    (void)state;
    limits.bytes = (uint64_t)3 * 2 * UNSEEN;
    assert_int_equal(backend_reserve(backend, &limits, NULL), DLLM_OK);
    assert_int_equal(buffers_gone(before), 3);
    for (int i = 0; i < 5; i++) {
        assert_int_equal(backend_buffer_create(backend, LARGE_ROWS, WIDTH, &buffers[i], NULL),
                         DLLM_OK);
        assert_int_equal(buffers_gone(before), MAX(i + 1, 3));
    }
    for (int i = 0; i < 5; i++)
        backend_buffer_destroy(backend, buffers[(i * 3 + 1) % 5]);
    assert_int_equal(buffers_gone(before), 0);
    assert_int_equal(backend_reserve(backend, &limits, NULL), DLLM_OK);
    assert_int_equal(buffers_gone(before), 3);
    backend_destroy(backend);
    assert_int_equal(buffers_gone(before), 0);
}

static void test_too_much_memory(void **state)
{
    struct backend *backend = open_backend();
    struct backend_buffer *buffer;
    struct dllm_error error;

    (void)state;
    assert_int_equal(backend_buffer_create(backend, 1 << 30, 1 << 20, &buffer, &error),
                     DLLM_ERROR_DEVICE);
    assert_non_null(strstr(error.message, "the GPU's memory is too small: "));
    backend_destroy(backend);
}

static void measure_ceilings(struct backend *backend)
{
    assert_true(backend_ceiling(backend, DTYPE_Q4_K) > 0);
    assert_true(backend_ceiling(backend, DTYPE_Q8_0) > 0);
    assert_true(backend_ceiling(backend, DTYPE_F16) > 0);
    assert_true(backend_ceiling(backend, DTYPE_BF16) > 0);
    assert_true(backend_ceiling(backend, DTYPE_F32) == 0);
    assert_true(backend_bandwidth(backend) > 0);
}

/* Rates are the machine's own; that there are some, and which, is not. A backend works on
 * after they were measured, and has its memory back, but for the kernels' code, which comes to
 * the card with the first measurement. */
static void test_ceilings(void **state)
{
    static const int32_t want[] = {5, 6};
    struct fixture f;
    uint64_t before;

    (void)state;
    open_fixture(&f);
    measure_ceilings(f.backend);
    before = free_bytes();
    measure_ceilings(f.backend);
    assert_int_equal(free_bytes(), before);
    send(&f, 0, 5, 2);
    backend_gather(f.backend, f.x, f.list, 2, f.out);
    assert_rows(&f, want, 2);
    close_fixture(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lists),
        cmocka_unit_test(test_load),
        cmocka_unit_test(test_load_is_reported),
        cmocka_unit_test(test_recordings),
        cmocka_unit_test(test_many_recordings),
        cmocka_unit_test(test_a_recording_waits_for_room),
        cmocka_unit_test(test_recordings_end_when_memory_moves),
        cmocka_unit_test(test_a_refusal_leaves_the_others_their_room),
        cmocka_unit_test(test_a_failure_stays),
        cmocka_unit_test(test_memory_comes_back),
        cmocka_unit_test(test_too_much_memory),
        cmocka_unit_test(test_ceilings),
    };
    int gpus;

    if (backend_cuda_count(&gpus, NULL) != DLLM_OK)
        return 77;
    return cmocka_run_group_tests_name("gpu_backend", tests, NULL, NULL);
}
