/*
 * test_remasking.c: which positions a step commits where chance has a say:
 * random and origin remasking, alg-temp; and ties of the ranking.
 */
#include "rank.h"
#include "rng.h"
#include "schedule.h"
#include "step_log.h"
#include "toy_model.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { PROMPT = 2, REGION = 24, LENGTH = PROMPT + REGION };

static struct toy_model toy;
static struct step_log step_log;
static int32_t canvas[LENGTH];
static struct denoise_result result;

static void run(bool dream, const struct dllm_generate_options *options)
{
    struct denoise_model model = toy_denoise_model(&toy, dream);
    struct dllm_generate_options with_log = *options;
    struct dllm_error error;

    toy.calls = toy.rows = 0;
    step_log_open(&step_log);
    with_log.on_step = step_log_record;
    with_log.context = &step_log;
    for (int i = 0; i < LENGTH; i++)
        canvas[i] = i < PROMPT ? i : TOY_MASK;
    assert_int_equal(denoise_run(&model,
                                 &(struct denoise_canvas){canvas, LENGTH,
                                                          &(struct canvas_gap){PROMPT, REGION}, 1},
                                 &with_log, &result, &error),
                     DLLM_OK);
}

static struct dllm_generate_options options_of(enum dllm_remasking remasking, int steps)
{
    return (struct dllm_generate_options){.max_tokens = REGION,
                                          .steps = steps,
                                          .temperature = 0.7,
                                          .top_p = 1,
                                          .seed = 11,
                                          .remasking = remasking,
                                          .no_early_stop = true};
}

static bool was_committed_before(int step, int32_t position)
{
    for (int i = 0; i < step_log.steps[step].first; i++)
        if (step_log.positions[i] == position)
            return true;
    return false;
}

static bool was_committed_in(int step, int32_t position)
{
    const struct logged_step *logged = &step_log.steps[step];

    for (int i = logged->first; i < logged->first + logged->committed; i++)
        if (step_log.positions[i] == position)
            return true;
    return false;
}

/* The position with the largest uniform number among those still masked. */
static int32_t luckiest(int step, int commits)
{
    int32_t best = -1;
    double highest = -1;

    for (int32_t p = PROMPT; p < LENGTH; p++) {
        double u = rng_uniform(11, (uint32_t)step, (uint32_t)p, PICK_DRAW_REMASK);
        bool taken = was_committed_before(step, p);
        for (int i = 0; i < commits; i++)
            taken = taken || step_log.positions[step_log.steps[step].first + i] == p;
        if (!taken && u > highest) {
            highest = u;
            best = p;
        }
    }
    return best;
}

/* Would break: random remasking by anything but its numbers, or that scores
 * rows it does not commit. */
static void test_random(void **state)
{
    struct dllm_generate_options options = options_of(DLLM_REMASKING_RANDOM, 7);

    (void)state;
    for (int dream = 0; dream < 2; dream++) {
        run(dream, &options);
        assert_int_equal(step_log.commit_count, REGION);
        assert_int_equal(toy.rows, REGION);
        for (int step = 0; step < step_log.step_count; step++)
            for (int i = 0; i < step_log.steps[step].committed; i++) {
                int at = step_log.steps[step].first + i;
                assert_int_equal(step_log.positions[at], luckiest(step, i));
                assert_true(step_log.confidences[at] ==
                            rng_uniform(11, (uint32_t)step, (uint32_t)step_log.positions[at],
                                        PICK_DRAW_REMASK));
            }
    }
}

/* Would break: a coin with another probability, thrown for fewer masks, or a
 * last step that leaves some. */
static void test_origin(void **state)
{
    struct dllm_generate_options options = options_of(DLLM_REMASKING_ORIGIN, 9);
    int first_step = 0;

    (void)state;
    run(true, &options);
    assert_int_equal(step_log.commit_count, REGION);
    assert_int_equal(toy.rows, REGION);
    for (int step = 0; step < 9; step++) {
        double t = 1 - step * 0.999 / 9, next = 1 - (step + 1) * 0.999 / 9;
        for (int32_t p = PROMPT; p < LENGTH; p++) {
            double u = rng_uniform(11, (uint32_t)step, (uint32_t)p, PICK_DRAW_REMASK);
            bool expected = step == 8 || u < 1 - next / t;
            if (!was_committed_before(step, p))
                assert_int_equal(was_committed_in(step, p), expected);
        }
    }
    /* 24 coins of 0.111 in 200 runs: 533 heads, deviation 22. */
    for (int i = 0; i < 200; i++) {
        options.seed = (uint64_t)i;
        run(true, &options);
        first_step += step_log.steps[0].committed;
    }
    assert_in_range(first_step, 533 - 80, 533 + 80);
}

/* Would break: tokens or positions that depend on more than the seed. */
static void test_runs_repeat_by_seed(void **state)
{
    static const enum dllm_remasking remaskings[] = {
        DLLM_REMASKING_LOW_CONFIDENCE, DLLM_REMASKING_RANDOM, DLLM_REMASKING_TOPK_MARGIN,
        DLLM_REMASKING_ENTROPY, DLLM_REMASKING_ORIGIN};
    int32_t kept[LENGTH];

    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(remaskings); i++) {
        struct dllm_generate_options options = options_of(remaskings[i], 12);
        options.alg_temp = i == 1 || i == 4 ? 0 : 0.5;
        run(true, &options);
        memcpy(kept, canvas, sizeof kept);
        run(true, &options);
        assert_memory_equal(kept, canvas, sizeof kept);
        options.seed++;
        run(true, &options);
        assert_memory_not_equal(kept, canvas, sizeof kept);
    }
}

/* Would break: equal confidences that go to a later position, a sort that
 * loses one. */
static void test_ranking(void **state)
{
    enum { COUNT = 100 };
    struct pick picks[COUNT];
    struct rank ranks[COUNT];

    (void)state;
    for (int count = 1; count <= COUNT; count++) {
        for (int i = 0; i < count; i++)
            picks[i].confidence = floor(8 * rng_uniform(5, 0, (uint32_t)i, 0)) / 8;
        rank_by_confidence(picks, count, ranks);
        for (int i = 0; i < count; i++) {
            assert_true(ranks[i].confidence == picks[ranks[i].index].confidence);
            if (i > 0)
                assert_true(ranks[i].confidence < ranks[i - 1].confidence ||
                            (ranks[i].confidence == ranks[i - 1].confidence &&
                             ranks[i].index > ranks[i - 1].index));
        }
    }
    toy = (struct toy_model){.scale = 1, .flat = true};
    run(false, &(struct dllm_generate_options){
                   .max_tokens = REGION, .steps = 4, .top_p = 1, .no_early_stop = true});
    for (int i = 0; i < REGION; i++) {
        assert_int_equal(step_log.positions[i], PROMPT + i);
        assert_int_equal(step_log.tokens[i], 0);
    }
    toy = (struct toy_model){.scale = 1};
}

/* Probability that sequential draws in proportion to what remains take exactly
 * the pair {a, b}. */
static double pair_probability(const double *weights, int count, int a, int b)
{
    double total = 0;

    for (int i = 0; i < count; i++)
        total += weights[i];
    return weights[a] / total * weights[b] / (total - weights[a]) +
           weights[b] / total * weights[a] / (total - weights[b]);
}

/* Would break: draws with replacement, weights other than softmax(c / a), a
 * drawn head that is not sorted. Chi-square over the 10 pairs of 5 candidates;
 * 9 degrees of freedom pass 27.9 once in a thousand. */
static void test_alg_temp_draws_in_proportion(void **state)
{
    enum { COUNT = 5, DRAWS = 20000 };
    const double confidences[COUNT] = {0.9, 0.4, 0.7, 0.2, 0.65};
    const int32_t positions[COUNT] = {3, 4, 8, 9, 15};
    struct pick_rules rules = {.seed = 77};
    struct pick picks[COUNT];
    struct rank ranks[COUNT];
    int seen[COUNT][COUNT] = {{0}};
    double weights[COUNT], sum = 0;

    (void)state;
    for (int i = 0; i < COUNT; i++) {
        picks[i].confidence = confidences[i];
        weights[i] = exp(confidences[i] / 0.4);
    }
    for (int draw = 0; draw < DRAWS; draw++) {
        int a, b;
        rules.step = (uint32_t)draw;
        rank_by_confidence(picks, COUNT, ranks);
        rank_draw(ranks, COUNT, 2, 0.4, positions, &rules);
        a = ranks[0].index;
        b = ranks[1].index;
        assert_true(confidences[a] > confidences[b]);
        seen[MIN(a, b)][MAX(a, b)]++;
    }
    for (int a = 0; a < COUNT; a++)
        for (int b = a + 1; b < COUNT; b++) {
            double mean = DRAWS * pair_probability(weights, COUNT, a, b);
            sum += (seen[a][b] - mean) * (seen[a][b] - mean) / mean;
        }
    assert_true(sum < 27.9);
}

/* Would break: candidates of no weight that come before those of some, or not
 * by their confidence (noise would often turn 0.3 and 0.29995 around). With alg_temp 1e-4 the
 * weight of 0.3 beside 0.9 is e^-6000. */
static void test_alg_temp_without_weights(void **state)
{
    enum { COUNT = 5 };
    const double confidences[COUNT] = {0.1, 0.9, 0.3, 0.90001, 0.29995};
    const int32_t positions[COUNT] = {0, 1, 2, 3, 4};
    struct pick_rules rules = {.seed = 1};
    struct pick picks[COUNT];
    struct rank ranks[COUNT];

    (void)state;
    for (int i = 0; i < COUNT; i++)
        picks[i].confidence = confidences[i];
    for (uint32_t step = 0; step < 50; step++) {
        rules.step = step;
        rank_by_confidence(picks, COUNT, ranks);
        rank_draw(ranks, COUNT, 3, 1e-4, positions, &rules);
        assert_int_equal(ranks[0].index, 3);
        assert_int_equal(ranks[1].index, 1);
        assert_int_equal(ranks[2].index, 2);
    }
}

/* Would break: a loop that forgets alg-temp, or commits another number. */
static void test_alg_temp_in_a_run(void **state)
{
    struct dllm_generate_options options = options_of(DLLM_REMASKING_ENTROPY, 8);
    int counts[8], changed = 0, left = REGION;
    int32_t sure[REGION];

    (void)state;
    run(true, &options);
    memcpy(sure, step_log.positions, sizeof sure);
    options.alg_temp = 1;
    run(true, &options);
    for (int i = 0; i < 8; i++) {
        counts[i] = schedule_dream_count(left, 8, i, 1e-3);
        left -= counts[i];
        assert_int_equal(step_log.steps[i].committed, counts[i]);
        for (int c = 1; c < counts[i]; c++)
            assert_true(step_log.confidences[step_log.steps[i].first + c] <=
                        step_log.confidences[step_log.steps[i].first + c - 1]);
    }
    for (int i = 0; i < counts[0]; i++)
        changed += sure[i] != step_log.positions[i];
    assert_true(changed > 0);
}

static int set_up(void **state)
{
    (void)state;
    toy = (struct toy_model){.scale = 1};
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random),
        cmocka_unit_test(test_origin),
        cmocka_unit_test(test_runs_repeat_by_seed),
        cmocka_unit_test(test_ranking),
        cmocka_unit_test(test_alg_temp_draws_in_proportion),
        cmocka_unit_test(test_alg_temp_without_weights),
        cmocka_unit_test(test_alg_temp_in_a_run),
    };

    return cmocka_run_group_tests(tests, set_up, NULL);
}
