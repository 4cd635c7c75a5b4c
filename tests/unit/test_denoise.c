/*
 * test_denoise.c: what the loop does around the samplers: prompt and suffix,
 * early stop, interruption, errors, skipped steps, what it asks of the model.
 */
#include "canvas.h"
#include "step_log.h"
#include "toy_model.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { MAX_LENGTH = 64, M = TOY_MASK };

/* A run of the toy model: a canvas and all that denoise_run takes. */
struct bench {
    struct toy_model toy;
    struct denoise_model model;
    struct dllm_generate_options options;
    struct denoise_result result;
    struct dllm_error error;
    struct step_log log;
    int32_t canvas[MAX_LENGTH];
    struct canvas_gap gaps[4];
    int length, gap_count;
};

static void bench_open(struct bench *bench, bool dream, int max_tokens)
{
    memset(bench, 0, sizeof *bench);
    bench->toy.scale = 1;
    bench->model = toy_denoise_model(&bench->toy, dream);
    bench->options = (struct dllm_generate_options){.max_tokens = max_tokens,
                                                    .top_p = 1,
                                                    .seed = 42,
                                                    .no_early_stop = true,
                                                    .on_step = step_log_record,
                                                    .context = &bench->log};
}

static enum dllm_status bench_try(struct bench *bench)
{
    bench->toy.calls = bench->toy.rows = 0;
    if (bench->log.stop_at <= 0)
        step_log_open(&bench->log);
    return denoise_run(
        &bench->model,
        &(struct denoise_canvas){bench->canvas, bench->length, bench->gaps, bench->gap_count},
        &bench->options, &bench->result, &bench->error);
}

/* Lays out prompt, masks and suffix. */
static void bench_fill(struct bench *bench, const int32_t *prompt, int prompt_count,
                       const int32_t *suffix, int suffix_count)
{
    int region_end = prompt_count + bench->options.max_tokens;

    bench->gaps[0] = (struct canvas_gap){prompt_count, bench->options.max_tokens};
    bench->gap_count = 1;
    bench->length = region_end + suffix_count;
    for (int i = 0; i < bench->length; i++)
        bench->canvas[i] = i < prompt_count ? prompt[i]
                           : i < region_end ? M
                                            : suffix[i - region_end];
}

static void bench_run(struct bench *bench, const int32_t *prompt, int prompt_count)
{
    bench_fill(bench, prompt, prompt_count, NULL, 0);
    assert_int_equal(bench_try(bench), DLLM_OK);
}

static void assert_counts(const struct bench *bench, const int *counts, int steps)
{
    assert_int_equal(bench->log.step_count, steps);
    assert_int_equal(bench->result.steps, steps);
    for (int i = 0; i < steps; i++)
        assert_int_equal(bench->log.steps[i].committed, counts[i]);
}

/* Would break: a mask in the prompt that stays, or that the first block's (or
 * Dream's one region's) count forgets. */
static void test_masks_in_the_prompt(void **state)
{
    const int32_t prompt[] = {M, 3, M, 4};
    struct bench bench;

    (void)state;
    bench_open(&bench, false, 8);
    bench.options.block_length = 4;
    bench.options.steps = 4;
    bench_run(&bench, prompt, 4);
    assert_counts(&bench, (int[]){3, 3, 2, 2}, 4);
    for (int i = 0; i < bench.length; i++)
        assert_int_not_equal(bench.canvas[i], M);
    for (int i = 0; i < 6; i++)
        assert_in_range(bench.log.positions[i], 0, 7);
    assert_int_equal(bench.canvas[1], 3);
    assert_int_equal(bench.log.steps[0].masks_left, 7);

    bench_open(&bench, true, 8);
    bench.options.steps = 2;
    bench_run(&bench, prompt, 4);
    assert_counts(&bench, (int[]){4, 6}, 2);
}

/* Would break: a suffix that is written over or that the rows do not see; a
 * mask in it that no block fills. */
static void test_suffix(void **state)
{
    const int32_t prompt[] = {5}, suffix[] = {7, M, 2};
    struct bench bench;
    float logits[TOY_VOCAB];
    int best = 0;

    (void)state;
    bench_open(&bench, false, 1);
    bench_fill(&bench, prompt, 1, suffix, 1);
    toy_logits(&bench.toy, bench.canvas, bench.length, 1, logits);
    for (int t = 1; t < TOY_MASK; t++)
        best = logits[t] > logits[best] ? t : best;
    assert_int_equal(bench_try(&bench), DLLM_OK);
    assert_int_equal(bench.canvas[1], best);
    assert_int_equal(bench.canvas[2], 7);

    bench_open(&bench, false, 6);
    bench.options.block_length = 3;
    bench.options.steps = 2;
    bench_fill(&bench, prompt, 1, suffix, 3);
    assert_int_equal(bench_try(&bench), DLLM_OK);
    assert_counts(&bench, (int[]){3, 4}, 2);
    assert_int_equal(bench.canvas[7], 7);
    assert_int_not_equal(bench.canvas[8], M);
    assert_int_equal(bench.canvas[9], 2);
}

/* Runs one prompt to the end and with early stop; whether the latter saved
 * anything. */
static bool check_early_stop(int32_t first, int32_t second, bool dream)
{
    struct bench whole, early;
    bool ended_whole, ended_early;
    int length;

    bench_open(&whole, dream, 12);
    whole.options.block_length = 4;
    early = whole;
    early.model.context = &early.toy;
    early.options.context = &early.log;
    early.options.no_early_stop = false;
    bench_run(&whole, (int32_t[]){first, second}, 2);
    bench_run(&early, (int32_t[]){first, second}, 2);
    length = denoise_answer_length(&whole.model, whole.canvas + 2, 12, &ended_whole);
    assert_int_equal(denoise_answer_length(&early.model, early.canvas + 2, 12, &ended_early),
                     length);
    assert_int_equal(ended_early, ended_whole);
    assert_memory_equal(early.canvas, whole.canvas, (size_t)(2 + length) * sizeof(int32_t));
    for (int i = 0; i < early.length; i++)
        assert_true(early.canvas[i] == M || early.canvas[i] == whole.canvas[i]);
    assert_int_equal(early.result.stopped_early,
                     early.log.steps[early.log.step_count - 1].masks_left > 0);
    assert_true(ended_whole || !early.result.stopped_early);
    assert_false(whole.result.stopped_early);
    return early.toy.calls < whole.toy.calls;
}

/* Would break: a stop that changes the answer, that comes before the answer is
 * final, or never comes. */
static void test_early_stop_changes_no_answer(void **state)
{
    int saved = 0;

    (void)state;
    for (int32_t first = 0; first < TOY_MASK; first++)
        for (int32_t second = 0; second < TOY_MASK; second++) {
            saved += check_early_stop(first, second, false);
            saved += check_early_stop(first, second, true);
        }
    assert_true(saved > 20);
}

/* Would break: an end-of-turn that does not end, an end behind a mask or
 * outside the region that does. */
static void test_answer_is_final(void **state)
{
    static const struct {
        int32_t ids[6];
        bool final;
    } cases[] = {
        {{1, 2, TOY_EOS, M, 3, 4}, true},        {{1, 2, TOY_EOT, M, 3, 4}, true},
        {{1, TOY_EOS, M, M, 3, TOY_EOS}, true},  {{1, 2, M, TOY_EOS, 3, 4}, false},
        {{TOY_EOS, 2, 3, M, 3, TOY_EOS}, false}, {{1, 2, 3, 4, 5, TOY_EOS}, false},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        int32_t ids[6];
        struct canvas canvas = {ids,     NULL,    6, &(struct canvas_gap){1, 4}, 1, M,
                                TOY_EOS, TOY_EOT, 0};
        memcpy(ids, cases[i].ids, sizeof ids);
        canvas_open(&canvas);
        assert_int_equal(canvas_answer_is_final(&canvas), cases[i].final);
    }
}

/* Would break: an end in one gap that ends the others, or one that no longer
 * ends its own; a full canvas that counts as ended. */
static void test_answer_is_final_with_gaps(void **state)
{
    static const struct canvas_gap gaps[] = {{1, 2}, {4, 2}};
    static const struct {
        int32_t ids[7];
        bool final;
    } cases[] = {
        {{1, TOY_EOS, M, 3, 4, M, 5}, false},       {{1, TOY_EOS, M, 3, 4, 5, 5}, true},
        {{1, TOY_EOS, M, 3, TOY_EOT, M, 5}, true},  {{1, 2, 3, TOY_EOS, 4, 5, 5}, false},
        {{1, M, TOY_EOS, 3, TOY_EOT, M, 5}, false}, {{1, 2, 2, 3, TOY_EOT, M, 5}, true},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        int32_t ids[7];
        struct canvas canvas = {ids, NULL, 7, gaps, 2, M, TOY_EOS, TOY_EOT, 0};
        memcpy(ids, cases[i].ids, sizeof ids);
        canvas_open(&canvas);
        assert_int_equal(canvas_answer_is_final(&canvas), cases[i].final);
    }
}

/* Would break: blocks that count what is given between gaps; a gap that is
 * skipped; given ids that change; a region that ends with the first gap. */
static void test_gaps_are_filled_in_blocks(void **state)
{
    static const int32_t canvas[] = {1, 2, M, M, 5, 6, 7, M, M, M, 3, M, 4};
    static const int32_t order[][3] = {{2, 3, 7}, {8, 9, 11}};
    struct bench bench;

    (void)state;
    for (int dream = 0; dream < 2; dream++) {
        bench_open(&bench, dream, 6);
        bench.options.block_length = 3;
        memcpy(bench.canvas, canvas, sizeof canvas);
        bench.length = ARRAY_COUNT(canvas);
        memcpy(bench.gaps, (struct canvas_gap[]){{2, 2}, {7, 3}, {11, 1}},
               sizeof bench.gaps[0] * 3);
        bench.gap_count = 3;
        assert_int_equal(bench_try(&bench), DLLM_OK);
        for (int i = 0; i < bench.length; i++)
            assert_int_equal(bench.canvas[i] == canvas[i], canvas[i] != M);
        for (int i = 0; i < 6; i++) {
            int32_t at = bench.log.positions[i];
            const int32_t *block = order[i / 3];
            assert_true(at == block[0] || at == block[1] || at == block[2]);
        }
        assert_int_equal(bench.result.forward_passes, dream ? bench.toy.calls : 6);
    }
    memcpy(bench.canvas, canvas, sizeof canvas);
    bench.gaps[1].start = 3;
    assert_int_equal(bench_try(&bench), DLLM_ERROR_USAGE);
    assert_non_null(strstr(bench.error.message, "does not fit"));
    bench.gap_count = 1;
    assert_int_equal(bench_try(&bench), DLLM_ERROR_USAGE);
    assert_string_equal(bench.error.message,
                        "the gaps hold 2 positions, but max_tokens is 6; expected the same");
}

/* Would break: a forward for a step that commits nothing; a skipped step that
 * is not reported or is counted as a forward. Also with temperature, where
 * numbers are counted by step and not by forward. */
static void test_empty_steps_are_skipped(void **state)
{
    const int32_t prompt[] = {1};
    struct bench bench;

    (void)state;
    for (int i = 0; i < 2; i++) {
        bench_open(&bench, false, 3);
        bench.options.steps = 5;
        bench.options.temperature = i;
        bench_run(&bench, prompt, 1);
        assert_counts(&bench, (int[]){1, 1, 1, 0, 0}, 5);
        assert_int_equal(bench.toy.calls, 3);
        assert_int_equal(bench.result.forward_passes, 3);
        assert_true(bench.log.steps[2].computed);
        assert_false(bench.log.steps[3].computed);
        assert_int_equal(bench.log.steps[4].forward_passes, 3);
        assert_int_equal(bench.log.steps[4].steps, 5);
    }
}

/* Would break: a last block that is longer or shorter than what is left. */
static void test_last_block_is_shorter(void **state)
{
    const int32_t prompt[] = {1, 2};
    struct bench bench;

    (void)state;
    bench_open(&bench, false, 10);
    bench.options.block_length = 4;
    bench.options.steps = 5;
    bench_run(&bench, prompt, 2);
    assert_counts(&bench, (int[]){2, 2, 2, 2, 2}, 5);
    for (int i = 0; i < 10; i++)
        assert_int_equal((bench.log.positions[i] - 2) / 4, i / 4);
    /* A block longer than the region is the region. */
    bench_open(&bench, false, 3);
    bench.options.block_length = 32;
    bench_run(&bench, prompt, 2);
    assert_counts(&bench, (int[]){1, 1, 1}, 3);
}

/* Would break: an early commit that takes more than the block or waits although
 * the gaps are wide, one of unsure tokens. */
static void test_early_commit(void **state)
{
    const int32_t prompt[] = {1, 2};
    struct bench bench;

    (void)state;
    for (int dream = 0; dream < 2; dream++) {
        bench_open(&bench, dream, 8);
        bench.options.block_length = 4;
        bench.options.steps = 6;
        bench.options.early_commit = true;
        bench.toy.scale = 1000;
        bench_run(&bench, prompt, 2);
        assert_counts(&bench, (int[]){4, 0, 0, 4, 0, 0}, 6);
        assert_int_equal(bench.toy.calls, 2);
        bench.toy.scale = 0.001f;
        bench_run(&bench, prompt, 2);
        assert_counts(&bench, dream ? (int[]){1, 1, 2, 1, 1, 2} : (int[]){2, 1, 1, 2, 1, 1}, 6);
    }
}

/* Would break: an interrupted run that fails, goes on, or forgets what it did. */
static void test_interruption(void **state)
{
    const int32_t prompt[] = {1};
    struct bench bench;

    (void)state;
    bench_open(&bench, false, 8);
    step_log_open(&bench.log);
    bench.log.stop_at = 2;
    bench_run(&bench, prompt, 1);
    assert_true(bench.result.interrupted);
    assert_false(bench.result.stopped_early);
    assert_int_equal(bench.result.steps, 3);
    assert_int_equal(bench.toy.calls, 3);
    assert_int_equal(bench.log.steps[2].masks_left, 5);
    for (int i = 0; i < 3; i++)
        assert_int_equal(bench.canvas[bench.log.positions[i]], bench.log.tokens[i]);
    bench_open(&bench, false, 8);
    bench.options.on_step = NULL;
    bench_run(&bench, prompt, 1);
    assert_false(bench.result.interrupted);
    assert_int_equal(bench.result.steps, 8);
}

/* Would break: a model's error that is lost or that costs what was committed;
 * a run that never ends because the mask is the only id with a logit. */
static void test_errors_of_the_model(void **state)
{
    const int32_t prompt[] = {1};
    struct bench bench;

    (void)state;
    bench_open(&bench, false, 6);
    bench.toy.fail_at = 3;
    bench_fill(&bench, prompt, 1, NULL, 0);
    assert_int_equal(bench_try(&bench), DLLM_ERROR_NUMERIC);
    assert_non_null(strstr(bench.error.message, "position 1, step 3"));
    assert_int_equal(bench.log.step_count, 2);
    assert_int_equal(bench.canvas[bench.log.positions[0]], bench.log.tokens[0]);

    for (int dream = 0; dream < 2; dream++) {
        bench_open(&bench, dream, 6);
        bench.toy.only_masks = true;
        bench_fill(&bench, prompt, 1, NULL, 0);
        assert_int_equal(bench_try(&bench), DLLM_ERROR_NUMERIC);
        assert_non_null(strstr(bench.error.message, "finite logit"));
        assert_int_equal(bench.toy.calls, 1);
        bench.toy.only_masks = false;
        bench.options.threshold = 0.9;
        assert_int_equal(bench_try(&bench), DLLM_OK);
    }
}

/* Would break: options or a canvas that denoise_run takes unchecked. */
static void test_refused_before_the_first_step(void **state)
{
    const int32_t prompt[] = {1};
    struct bench bench;

    (void)state;
    bench_open(&bench, false, 4);
    bench_fill(&bench, prompt, 1, NULL, 0);
    bench.canvas[3] = 7;
    assert_int_equal(bench_try(&bench), DLLM_ERROR_USAGE);
    assert_non_null(strstr(bench.error.message, "position 3"));
    bench_fill(&bench, prompt, 1, NULL, 0);
    bench.gaps[0].start = 2;
    assert_int_equal(bench_try(&bench), DLLM_ERROR_USAGE);
    bench_fill(&bench, prompt, 1, NULL, 0);
    bench.options.steps = 1;
    bench.options.block_length = 2;
    assert_int_equal(bench_try(&bench), DLLM_ERROR_USAGE);
    assert_int_equal(bench.toy.calls, 0);
    assert_int_equal(bench.log.step_count, 0);
}

/* Would break: the most steps to come of a run without a schedule. */
static void test_steps_of_adaptive_runs(void **state)
{
    const int32_t prompt[] = {1, 2};
    struct bench bench;

    (void)state;
    bench_open(&bench, true, 16);
    bench.options.threshold = 0.4;
    bench_run(&bench, prompt, 2);
    assert_true(bench.log.step_count < 16);
    for (int i = 0; i < bench.log.step_count; i++) {
        const struct logged_step *step = &bench.log.steps[i];
        assert_true(step->committed >= 1);
        assert_int_equal(step->steps, i + 1 + step->masks_left);
        for (int c = step->first + 1; c < step->first + step->committed; c++)
            assert_true(bench.log.confidences[c] >= 0.4);
    }
}

/* --- what the model is asked --- */

/* Keeps the last request whose call number is `at`. */
struct spy {
    struct toy_model toy;
    denoise_score *score;
    int calls, at, count, cfg_passes;
    int32_t rows[MAX_LENGTH], positions[MAX_LENGTH], canvas[MAX_LENGTH], unguided[MAX_LENGTH];
    struct pick_rules rules;
    int32_t banned[4], deferred[4];
};

static enum dllm_status spy_score(void *context, const struct denoise_request *request,
                                  struct pick *picks, struct dllm_error *error)
{
    struct spy *spy = context;

    if (++spy->calls == spy->at) {
        size_t length = (size_t)request->length * sizeof(int32_t);
        spy->count = request->count;
        memcpy(spy->rows, request->rows, (size_t)request->count * sizeof(int32_t));
        memcpy(spy->positions, request->positions, (size_t)request->count * sizeof(int32_t));
        memcpy(spy->canvas, request->canvas, length);
        if (request->unguided)
            memcpy(spy->unguided, request->unguided, length);
        spy->rules = *request->rules;
        for (int i = 0; i < spy->rules.banned_count && i < 4; i++)
            spy->banned[i] = request->rules->banned[i];
        for (int i = 0; i < spy->rules.deferred_count && i < 4; i++)
            spy->deferred[i] = request->rules->deferred[i];
    }
    return spy->score(&spy->toy, request, picks, error);
}

static void spy_run(struct spy *spy, struct bench *bench, int at)
{
    memset(spy, 0, sizeof *spy);
    spy->toy.scale = 1;
    spy->at = at;
    spy->score = bench->model.score;
    bench->model.context = spy;
    bench->model.score = spy_score;
    assert_int_equal(bench_try(bench), DLLM_OK);
}

/* Would break: rows of the shift (position 0 has only its own), rows of later
 * blocks, guidance without an unguided canvas of prompt and suffix in masks. */
static void test_requests(void **state)
{
    const int32_t prompt[] = {M, M, 4}, suffix[] = {6};
    struct bench bench;
    struct spy spy;

    (void)state;
    bench_open(&bench, true, 3);
    bench_fill(&bench, prompt, 3, suffix, 1);
    bench.options.steps = 1;
    spy_run(&spy, &bench, 1);
    assert_int_equal(spy.count, 5);
    assert_memory_equal(spy.positions, ((int32_t[]){0, 1, 3, 4, 5}), 5 * sizeof(int32_t));
    assert_memory_equal(spy.rows, ((int32_t[]){0, 0, 2, 3, 4}), 5 * sizeof(int32_t));
    assert_int_equal(spy.rules.method, PICK_DREAM);

    bench_open(&bench, false, 4);
    bench_fill(&bench, prompt, 3, suffix, 1);
    bench.options.block_length = 2;
    bench.options.steps = 4;
    bench.options.cfg_scale = 1.5;
    spy_run(&spy, &bench, 2);
    assert_int_equal(spy.count, 2);
    assert_memory_equal(spy.rows, spy.positions, 2 * sizeof(int32_t));
    assert_int_equal(bench.result.forward_passes, 8);
    assert_int_equal(spy.rules.step, 1);
    for (int i = 0; i < bench.length; i++) {
        bool given = i == 2 || i == 7;
        assert_int_equal(spy.unguided[i], given ? M : spy.canvas[i]);
    }
    assert_int_equal(spy.canvas[2], 4);
    assert_int_equal(spy.canvas[7], 6);
}

/* Would break: a policy that bans or defers other ids; with temperature the
 * published code defers end-of-turn alone. */
static void test_eos_policies(void **state)
{
    const int32_t prompt[] = {1}, unprintable[] = {8};
    struct bench bench;
    struct spy spy;

    (void)state;
    bench_open(&bench, false, 2);
    bench.model.unprintable = unprintable;
    bench.model.unprintable_count = 1;
    bench_fill(&bench, prompt, 1, NULL, 0);
    spy_run(&spy, &bench, 1);
    assert_int_equal(spy.rules.banned_count, 2);
    assert_memory_equal(spy.banned, ((int32_t[]){M, 8}), 2 * sizeof(int32_t));
    assert_int_equal(spy.rules.deferred_count, 0);

    bench_open(&bench, false, 2);
    bench.options.eos_policy = DLLM_EOS_FORBID;
    bench_fill(&bench, prompt, 1, NULL, 0);
    spy_run(&spy, &bench, 1);
    assert_int_equal(spy.rules.banned_count, 2);
    assert_memory_equal(spy.banned, ((int32_t[]){M, TOY_EOS}), 2 * sizeof(int32_t));

    for (int warm = 0; warm < 2; warm++) {
        bench_open(&bench, false, 2);
        bench.options.eos_policy = DLLM_EOS_DEFER;
        bench.options.temperature = warm;
        bench_fill(&bench, prompt, 1, NULL, 0);
        spy_run(&spy, &bench, 1);
        assert_int_equal(spy.rules.banned_count, 1);
        assert_int_equal(spy.rules.deferred_count, 2 - warm);
        assert_int_equal(spy.deferred[0], warm ? TOY_EOT : TOY_EOS);
        assert_int_equal(spy.deferred[1 - warm], TOY_EOT);
    }
}

/* A callback that compares each choice with the scores of the toy model; the
 * run commits one position a step, so that the canvas before it is known. */
static int check_choices(void *context, const struct dllm_step *step)
{
    struct bench *bench = context;
    int32_t before[MAX_LENGTH], position = step->positions[0];
    float logits[TOY_VOCAB];
    int32_t second = -1;
    double total = 0;

    assert_int_equal(step->committed, 1);
    assert_non_null(step->choices);
    memcpy(before, step->canvas, step->canvas_count * sizeof *before);
    before[position] = M;
    toy_logits(&bench->toy, before, bench->length, position, logits);
    for (int t = 0; t < TOY_MASK; t++) {
        total += exp(logits[t]);
        if (t != step->canvas[position] && (second < 0 || logits[t] > logits[second]))
            second = t;
    }
    assert_int_equal(step->choices[0].runner_up, second);
    assert_true(fabs(step->choices[0].runner_up_probability - exp(logits[second]) / total) < 1e-9);
    assert_true(fabs(step->choices[0].probability - step->confidences[0]) < 1e-9);
    bench->log.commit_count++;
    return 0;
}

/* Would break: a runner-up of another position than the committed one; choices
 * that nobody asked for. */
static void test_choices(void **state)
{
    const int32_t prompt[] = {5, 2};
    struct bench bench;

    (void)state;
    bench_open(&bench, false, 8);
    bench.options.record_choices = true;
    bench.options.on_step = check_choices;
    bench.options.context = &bench;
    bench_run(&bench, prompt, 2);
    assert_int_equal(bench.log.commit_count, 8);
}

/* Would break: an end-of-turn or a mask counted into the answer. */
static void test_answer_length(void **state)
{
    struct toy_model toy = {0};
    struct denoise_model model = toy_denoise_model(&toy, false);
    bool ended;

    (void)state;
    assert_int_equal(denoise_answer_length(&model, (int32_t[]){1, 2, TOY_EOS, 3}, 4, &ended), 2);
    assert_true(ended);
    assert_int_equal(denoise_answer_length(&model, (int32_t[]){TOY_EOT, 2}, 2, &ended), 0);
    assert_true(ended);
    assert_int_equal(denoise_answer_length(&model, (int32_t[]){1, M, TOY_EOS}, 3, &ended), 1);
    assert_false(ended);
    assert_int_equal(denoise_answer_length(&model, (int32_t[]){1, 2}, 2, &ended), 2);
    assert_false(ended);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_masks_in_the_prompt),
        cmocka_unit_test(test_suffix),
        cmocka_unit_test(test_early_stop_changes_no_answer),
        cmocka_unit_test(test_answer_is_final),
        cmocka_unit_test(test_answer_is_final_with_gaps),
        cmocka_unit_test(test_gaps_are_filled_in_blocks),
        cmocka_unit_test(test_empty_steps_are_skipped),
        cmocka_unit_test(test_last_block_is_shorter),
        cmocka_unit_test(test_early_commit),
        cmocka_unit_test(test_interruption),
        cmocka_unit_test(test_errors_of_the_model),
        cmocka_unit_test(test_refused_before_the_first_step),
        cmocka_unit_test(test_steps_of_adaptive_runs),
        cmocka_unit_test(test_requests),
        cmocka_unit_test(test_eos_policies),
        cmocka_unit_test(test_choices),
        cmocka_unit_test(test_answer_length),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
