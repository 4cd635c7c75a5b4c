/*
 * test_gpu_answers: every way of answering on a GPU, with tiny models of F32
 * weights: the ids must be the CPU's.
 *
 * What would break: a rule of a sampler, a cache, guidance or a filter that goes
 * another way than on the CPU; scores of rows that are not those asked for; a
 * session that remembers what another run left.
 */
#include "engine.h"
#include "model_data.h"
#include "shared.h"
#include "test_paths.h"
#include "tiny_model.h"

#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* The same model on both devices. */
struct pair {
    struct opened cpu, gpu;
};

/* gpu_layers as dllm_engine_options has it. */
static struct pair open_sharing(struct tiny_model tiny, const char *gpu_layers)
{
    char path[TEST_PATH_BYTES];
    struct dllm_file *file;
    struct pair pair;

    tiny.text = true;
    file = tiny_model_open(&tiny, path);
    assert_non_null(file);
    dllm_file_close(file);
    pair = (struct pair){model_data_open_on(path, "cpu"), model_data_open_shared(path, gpu_layers)};
    unlink(path);
    assert_true(pair.gpu.info.device_is_gpu);
    return pair;
}

static struct pair open_pair(struct tiny_model tiny)
{
    struct pair pair = open_sharing(tiny, NULL);

    assert_string_equal(pair.gpu.info.device, "gpu:0");
    return pair;
}

static void close_pair(struct pair *pair)
{
    model_data_close(&pair->cpu);
    model_data_close(&pair->gpu);
}

static const int32_t prompt[] = {3, 5, 17, 30, 9};
enum { PROMPT = 5 };

/* One way of answering. */
struct way {
    const char *name;
    bool dream; /* of a dream model, else llada */
    struct dllm_generate_options options;
};

/* What is 0 here is a default that means "off" (test_answers adds the others). */
static const struct way ways[] = {
    {"greedy", false, {.block_length = 8}},
    {"one_region_two_steps", false, {.steps = 2}},
    {"temperature", false, {.temperature = 0.7, .seed = 7, .block_length = 4}},
    {"random_remasking", false, {.remasking = DLLM_REMASKING_RANDOM, .temperature = 1}},
    {"guidance", false, {.cfg_scale = 1.5, .block_length = 8}},
    {"threshold", false, {.threshold = 0.002}},
    {"entropy_bound", false, {.entropy_bound = 30, .remasking = DLLM_REMASKING_ENTROPY}},
    {"early_commit", false, {.early_commit = true, .block_length = 8}},
    {"prefix_cache", false, {.cache = DLLM_CACHE_PREFIX, .block_length = 4}},
    {"dual_cache", false, {.cache = DLLM_CACHE_DUAL, .block_length = 4, .cache_refresh = 3}},
    {"guided_dual_cache", false, {.cache = DLLM_CACHE_DUAL, .block_length = 4, .cfg_scale = 1}},
    {"eos_policy", false, {.eos_policy = DLLM_EOS_DEFER, .record_choices = true}},
    {"dream_greedy", true, {.remasking = DLLM_REMASKING_ENTROPY}},
    {"dream_margin", true, {.remasking = DLLM_REMASKING_TOPK_MARGIN, .block_length = 4}},
    {"dream_origin", true, {.remasking = DLLM_REMASKING_ORIGIN, .temperature = 1}},
    {"dream_filters",
     true,
     {.remasking = DLLM_REMASKING_ENTROPY, .temperature = 0.8, .top_p = 0.9, .top_k = 20}},
    {"dream_alg_temp",
     true,
     {.remasking = DLLM_REMASKING_LOW_CONFIDENCE, .temperature = 0.5, .alg_temp = 0.3}},
};
enum { WAYS = sizeof ways / sizeof *ways };

static struct dllm_generate_options options_of(const struct way *way)
{
    struct dllm_generate_options options = way->options;

    options.max_tokens = 8;
    options.eps = 1e-3;
    if (options.top_p == 0)
        options.top_p = 1;
    return options;
}

static struct dllm_result answer(struct opened *model, const struct way *way)
{
    const struct dllm_generate_options options = options_of(way);
    struct dllm_result result;
    struct dllm_error error;

    if (dllm_generate(model->session, prompt, PROMPT, &options, &result, &error))
        fail_msg("%s: %s", way->name, error.message);
    return result;
}

static void compare_answers(struct opened *one, struct opened *other, const struct way *way)
{
    struct dllm_result want = answer(one, way), got = answer(other, way);

    assert_int_equal(want.ids.count, got.ids.count);
    if (memcmp(want.ids.ids, got.ids.ids, got.ids.count * sizeof *got.ids.ids) != 0)
        fail_msg("%s: other ids", way->name);
    assert_int_equal(want.forward_passes, got.forward_passes);
    dllm_result_free(&want);
    dllm_result_free(&got);
}

/* Some a second time in the same session: nothing may be left of what came between.
 * Experts go the ways of others; a few of them do. */
static void test_answers(void **state)
{
    const struct tiny_model *tiny = *state;
    const bool dream =
        strcmp(tiny->architecture, "dream") == 0 || strcmp(tiny->architecture, "rnd1") == 0;
    struct pair pair = open_pair(*tiny);

    for (size_t i = 0; i < WAYS; i += tiny->experts ? 4 : 1)
        if (ways[i].dream == dream)
            compare_answers(&pair.cpu, &pair.gpu, &ways[i]);
    for (size_t i = 0; i < WAYS; i += 5)
        if (ways[i].dream == dream)
            compare_answers(&pair.cpu, &pair.gpu, &ways[i]);
    close_pair(&pair);
}

/* --- several sessions at once --- */

enum { SESSIONS = 6 };

/* A generation on a thread of its own. */
struct guest {
    struct opened model; /* the engine is everybody's */
    const struct way *way;
    int prompt; /* tokens of it */
    struct dllm_result result;
    enum dllm_status status;
    struct dllm_error error;
};

static enum dllm_status generate_as(struct guest *guest, struct dllm_session *session,
                                    struct dllm_result *result)
{
    struct dllm_generate_options options = options_of(guest->way);

    return dllm_generate(session, prompt, (size_t)guest->prompt, &options, result, &guest->error);
}

static void *run_guest(void *context)
{
    struct guest *guest = context;

    guest->status = generate_as(guest, guest->model.session, &guest->result);
    return NULL;
}

/* Bytes of weights that all guests' passes read, each alone if not `together`. */
static double run_guests(struct guest *guests, bool together)
{
    pthread_t threads[SESSIONS];
    double bytes = 0;

    for (int i = 0; i < SESSIONS; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, run_guest, &guests[i]), 0);
        if (!together)
            pthread_join(threads[i], NULL);
    }
    for (int i = 0; i < SESSIONS; i++) {
        if (together)
            pthread_join(threads[i], NULL);
        if (guests[i].status != DLLM_OK)
            fail_msg("%s: %s", guests[i].way->name, guests[i].error.message);
        bytes += guests[i].result.timings.products.weight_bytes;
    }
    return bytes;
}

static void check_guests(struct pair *pair, struct guest *guests)
{
    for (int i = 0; i < SESSIONS; i++) {
        struct dllm_result want;

        assert_int_equal(generate_as(&guests[i], pair->cpu.session, &want), DLLM_OK);
        assert_memory_equal(want.ids.ids, guests[i].result.ids.ids,
                            want.ids.count * sizeof *want.ids.ids);
        dllm_result_free(&want);
        dllm_result_free(&guests[i].result);
    }
}

/* Breaks if a canvas sees its company, if picks or rows of one go to another, or if
 * passes are not shared: weights are then read as often as for each alone. Patience
 * without end: as many passes as the longest generation has, however busy the machine. */
static void test_sessions_share_passes(void **state)
{
    static const int which[SESSIONS] = {0, 2, 4, 8, 9, 10}; /* of ways */
    struct pair pair = open_pair(tiny_model_llada());
    struct guest guests[SESSIONS];
    double alone, together, before = 0;

    (void)state;
    for (int i = 0; i < SESSIONS; i++) {
        guests[i] = (struct guest){.model = pair.gpu, .way = &ways[which[i]], .prompt = i % PROMPT};
        assert_int_equal(
            dllm_session_create_apart(pair.gpu.engine, 1, &guests[i].model.session, NULL), DLLM_OK);
    }
    alone = run_guests(guests, false);
    check_guests(&pair, guests);
    for (int round = 0; round < 2; round++) {
        assert_int_equal(dllm_share_passes(pair.gpu.engine, SESSIONS, NULL), DLLM_OK);
        together = run_guests(guests, true);
        print_message("weights read: %.0f alone, %.0f together\n", alone, together);
        assert_true(together < 0.7 * alone);
        assert_true(round == 0 || together == before);
        before = together;
        check_guests(&pair, guests);
    }
    for (int i = 0; i < SESSIONS; i++)
        dllm_session_destroy(guests[i].model.session);
    close_pair(&pair);
}

/* A step of a long canvas in each of two sessions. */
enum { LONG = 2100 };

struct long_guest {
    struct dllm_session *session;
    enum dllm_status status;
    struct dllm_result result;
};

static void *run_long_guest(void *context)
{
    struct long_guest *guest = context;
    int32_t ids[LONG - 1];
    struct dllm_generate_options options = {
        .max_tokens = 1, .top_p = 1, .eps = 1e-3, .allow_long = true};

    for (int i = 0; i < LONG - 1; i++)
        ids[i] = 3 + i % 7;
    guest->status = dllm_generate(guest->session, ids, LONG - 1, &options, &guest->result, NULL);
    return NULL;
}

/* Breaks if a pass that sessions share for certain has room for some of them alone: these
 * have more positions than passes have otherwise. */
static void test_shared_passes_have_room(void **state)
{
    struct tiny_model tiny = tiny_model_llada();
    struct long_guest guests[2] = {{0}};
    pthread_t threads[2];
    struct pair pair;

    (void)state;
    tiny.layers = 1;
    pair = open_pair(tiny);
    assert_int_equal(dllm_share_passes(pair.cpu.engine, 2, NULL), DLLM_ERROR_USAGE);
    assert_int_equal(dllm_share_passes(pair.cpu.engine, 0, NULL), DLLM_OK);
    assert_int_equal(dllm_share_passes(pair.gpu.engine, SHARED_CANVASES + 1, NULL),
                     DLLM_ERROR_USAGE);
    assert_int_equal(dllm_share_passes(pair.gpu.engine, 2, NULL), DLLM_OK);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(dllm_session_create(pair.gpu.engine, &guests[i].session, NULL), DLLM_OK);
        assert_int_equal(pthread_create(&threads[i], NULL, run_long_guest, &guests[i]), 0);
    }
    for (int i = 0; i < 2; i++) {
        pthread_join(threads[i], NULL);
        assert_int_equal(guests[i].status, DLLM_OK);
        assert_int_equal(guests[i].result.timings.pass_sessions, 2);
        dllm_result_free(&guests[i].result);
        dllm_session_destroy(guests[i].session);
    }
    close_pair(&pair);
}

/* --- layers that the CPU keeps --- */

/* Ways of one kind of model at once, then one after the other in the same session. */
static void compare_sharing(struct tiny_model tiny, const char *gpu_layers, size_t first)
{
    const bool dream = strcmp(tiny.architecture, "dream") == 0;
    struct pair pair = open_sharing(tiny, gpu_layers);
    struct guest guests[SESSIONS];
    size_t way = first;

    for (int i = 0; i < SESSIONS; i++) {
        while (ways[way % WAYS].dream != dream)
            way++;
        guests[i] =
            (struct guest){.model = pair.gpu, .way = &ways[way++ % WAYS], .prompt = i % PROMPT};
        assert_int_equal(
            dllm_session_create_apart(pair.gpu.engine, 1, &guests[i].model.session, NULL), DLLM_OK);
    }
    run_guests(guests, true);
    check_guests(&pair, guests);
    for (int i = 0; i < SESSIONS; i++) {
        compare_answers(&pair.cpu, &pair.gpu, guests[i].way);
        dllm_session_destroy(guests[i].model.session);
    }
    close_pair(&pair);
}

/* Breaks if a way of answering depends on where a layer is computed: caches of layers on
 * both sides, guidance, passes of several sessions. */
static void test_layers_are_shared(void **state)
{
    static const char *const layers[] = {"0", "1", "2", "3"};
    struct tiny_model llada = tiny_model_llada(), dream = tiny_model_dream();

    (void)state;
    llada.layers = dream.layers = 3;
    for (size_t i = 0; i < 4; i++) {
        compare_sharing(llada, layers[i], 4 + 3 * i);
        compare_sharing(dream, layers[i], 12 + i);
    }
}

/* --- what is no generation --- */

static void test_likelihoods(void **state)
{
    static const int32_t reply[] = {4, 11, 2, 13};
    const struct dllm_score_query query = {prompt, PROMPT, reply, 4};
    struct pair pair = open_pair(tiny_model_llada());
    struct dllm_score_options options;
    struct dllm_likelihood want, got;

    (void)state;
    for (int guided = 0; guided < 2; guided++) {
        dllm_score_defaults(&options);
        options.samples = 6;
        options.batch = 3;
        options.cfg_scale = guided;
        assert_int_equal(dllm_score(pair.cpu.session, &query, &options, &want, NULL), DLLM_OK);
        assert_int_equal(dllm_score(pair.gpu.session, &query, &options, &got, NULL), DLLM_OK);
        assert_true(fabs(got.log_likelihood - want.log_likelihood) < 1e-4);
    }
    close_pair(&pair);
}

static void test_gaps(void **state)
{
    struct pair pair = open_pair(tiny_model_dream());
    struct dllm_generate_options options;
    struct dllm_result want, got;
    int32_t canvas[9] = {3, -1, -1, 17, 20, -1, -1, -1, 9};

    (void)state;
    for (int i = 0; i < 9; i++)
        if (canvas[i] < 0)
            canvas[i] = pair.cpu.info.mask_id;
    dllm_generate_defaults(pair.cpu.engine, false, &options);
    options.max_tokens = 0;
    assert_int_equal(dllm_fill(pair.cpu.session, canvas, 9, &options, &want, NULL), DLLM_OK);
    assert_int_equal(dllm_fill(pair.gpu.session, canvas, 9, &options, &got, NULL), DLLM_OK);
    assert_memory_equal(want.ids.ids, got.ids.ids, sizeof canvas);
    dllm_result_free(&want);
    dllm_result_free(&got);
    close_pair(&pair);
}

int main(void)
{
    struct tiny_model llada = tiny_model_llada(), dream = tiny_model_dream();
    struct tiny_model llada_moe = tiny_model_llada_moe(), rnd1 = tiny_model_rnd1();
    const struct CMUnitTest tests[] = {
        {"answers_llada", test_answers, NULL, NULL, &llada},
        {"answers_dream", test_answers, NULL, NULL, &dream},
        {"answers_llada_moe", test_answers, NULL, NULL, &llada_moe},
        {"answers_rnd1", test_answers, NULL, NULL, &rnd1},
        cmocka_unit_test(test_sessions_share_passes),
        cmocka_unit_test(test_shared_passes_have_room),
        cmocka_unit_test(test_layers_are_shared),
        cmocka_unit_test(test_likelihoods),
        cmocka_unit_test(test_gaps),
    };
    int gpus;

    if (dllm_gpu_count(&gpus, NULL) != DLLM_OK)
        return 77;
    return cmocka_run_group_tests_name("gpu_answers", tests, NULL, NULL);
}
