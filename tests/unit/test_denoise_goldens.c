/*
 * test_denoise_goldens.c: the loop against 53 runs of the published samplers of
 * LLaDA, Fast-dLLM and Dream on the closed-form model: which position each step
 * commits, in which order, with which token and confidence.
 */
#include "jsonl.h"
#include "step_log.h"
#include "toy_model.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { MAX_LENGTH = 64 };

/* A golden run set up for the loop. */
struct setup {
    struct toy_model toy;
    struct denoise_model model;
    struct dllm_generate_options options;
    struct step_log log;
    int32_t canvas[MAX_LENGTH];
    int length, region_start;
    int32_t end_of_text; /* one id that is never predicted */
};

static const char *text_of(const json_t *golden, const char *key)
{
    const char *text = json_string_value(json_object_get(golden, key));

    return text ? text : "";
}

static bool flag_of(const json_t *golden, const char *key)
{
    return json_is_true(json_object_get(golden, key));
}

static enum dllm_remasking remasking_of(const json_t *golden)
{
    if (strcmp(text_of(golden, "alg"), "topk_margin") == 0)
        return DLLM_REMASKING_TOPK_MARGIN;
    if (strcmp(text_of(golden, "alg"), "entropy") == 0)
        return DLLM_REMASKING_ENTROPY;
    return DLLM_REMASKING_LOW_CONFIDENCE;
}

static void set_options(struct setup *setup, const json_t *golden)
{
    bool adaptive = json_is_number(json_object_get(golden, "threshold")) ||
                    json_is_number(json_object_get(golden, "factor"));

    setup->options = (struct dllm_generate_options){
        .max_tokens = (int)jsonl_number(golden, "gen", 0),
        .steps = adaptive ? 0 : (int)jsonl_number(golden, "nsteps", 0),
        .block_length = (int)jsonl_number(golden, "block", 0),
        .remasking = remasking_of(golden),
        .top_p = jsonl_number(golden, "top_p", 1),
        .top_k = (int)jsonl_number(golden, "top_k", 0),
        .eps = jsonl_number(golden, "eps", 0),
        .cfg_scale = jsonl_number(golden, "cfg", 0),
        .threshold = jsonl_number(golden, "threshold", 0),
        .factor = jsonl_number(golden, "factor", 0),
        .no_early_stop = true,
        .on_step = step_log_record,
        .context = &setup->log};
    if (flag_of(golden, "logits_eos_inf"))
        setup->options.eos_policy = DLLM_EOS_FORBID;
    if (flag_of(golden, "conf_eos_eot_inf"))
        setup->options.eos_policy = DLLM_EOS_DEFER;
}

static void set_up(struct setup *setup, const json_t *golden)
{
    const json_t *prompt = json_object_get(golden, "prompt");

    memset(setup, 0, sizeof *setup);
    setup->toy.scale = (float)jsonl_number(golden, "scale", 1);
    setup->toy.mask_in_softmax = true;
    setup->model = toy_denoise_model(&setup->toy, strcmp(text_of(golden, "sampler"), "dream") == 0);
    step_log_open(&setup->log);
    set_options(setup, golden);
    setup->end_of_text = TOY_EOS;
    /* The published flags can be set together; here the second policy is an id
     * that is not predicted. */
    if (flag_of(golden, "logits_eos_inf") && flag_of(golden, "conf_eos_eot_inf")) {
        setup->model.unprintable = &setup->end_of_text;
        setup->model.unprintable_count = 1;
    }
    setup->region_start = (int)json_array_size(prompt);
    setup->length = setup->region_start + setup->options.max_tokens;
    assert_in_range(setup->length, 1, MAX_LENGTH);
    for (int i = 0; i < setup->length; i++)
        setup->canvas[i] = i < setup->region_start
                               ? (int32_t)json_integer_value(json_array_get(prompt, (size_t)i))
                               : TOY_MASK;
}

static void check_commit(const json_t *expected, const struct step_log *log, int at)
{
    assert_int_equal(log->positions[at], json_integer_value(json_array_get(expected, 0)));
    assert_int_equal(log->tokens[at], json_integer_value(json_array_get(expected, 1)));
    assert_true(fabs(log->confidences[at] - json_number_value(json_array_get(expected, 2))) < 1e-5);
}

/* Where confidences of exactly 0 tie, the published order is its sort's. */
static void check_commit_in_set(const json_t *expected, const struct step_log *log,
                                const struct logged_step *step)
{
    int64_t position = json_integer_value(json_array_get(expected, 0));

    for (int i = step->first; i < step->first + step->committed; i++)
        if (log->positions[i] == position) {
            check_commit(expected, log, i);
            return;
        }
    fail_msg("position %d was not committed", (int)position);
}

static bool has_zero(const json_t *step)
{
    for (size_t i = 0; i < json_array_size(step); i++)
        if (json_number_value(json_array_get(json_array_get(step, i), 2)) == 0)
            return true;
    return false;
}

static void check_step(const json_t *expected, const struct step_log *log, int at, bool as_set)
{
    const struct logged_step *step = &log->steps[at];

    assert_int_equal(step->committed, json_array_size(expected));
    assert_int_equal(step->computed, step->committed > 0);
    for (int i = 0; i < step->committed; i++) {
        const json_t *commit = json_array_get(expected, (size_t)i);
        if (as_set && has_zero(expected))
            check_commit_in_set(commit, log, step);
        else
            check_commit(commit, log, step->first + i);
    }
}

static void check_golden(const json_t *golden)
{
    const json_t *steps = json_object_get(golden, "steps"),
                 *final = json_object_get(golden, "final");
    struct setup setup;
    struct denoise_result result;
    struct dllm_error error;
    int count = (int)json_array_size(steps), empty = 0, at = 0;
    bool fastdllm = strcmp(text_of(golden, "sampler"), "fastdllm") == 0;

    set_up(&setup, golden);
    assert_int_equal(
        denoise_run(&setup.model,
                    &(struct denoise_canvas){
                        setup.canvas, setup.length,
                        &(struct canvas_gap){setup.region_start, setup.options.max_tokens}, 1},
                    &setup.options, &result, &error),
        DLLM_OK);
    for (size_t i = 0; i < json_array_size(final); i++)
        assert_int_equal(setup.canvas[setup.region_start + (int)i],
                         json_integer_value(json_array_get(final, i)));
    /* Fast-dLLM leaves a block when it is full, before the empty steps that its
     * schedule would still have. */
    for (int i = 0; i < count; i++, at++) {
        while (fastdllm && at < setup.log.step_count && !setup.log.steps[at].computed)
            at++;
        assert_true(at < setup.log.step_count);
        check_step(json_array_get(steps, (size_t)i), &setup.log, at,
                   flag_of(golden, "zero_tie_in_step"));
        empty += json_array_size(json_array_get(steps, (size_t)i)) == 0;
    }
    for (; at < setup.log.step_count; at++)
        assert_true(fastdllm && !setup.log.steps[at].computed);
    assert_int_equal(result.steps, setup.log.step_count);
    assert_int_equal(setup.toy.calls, count - empty);
    assert_int_equal(result.forward_passes,
                     setup.toy.calls * (setup.options.cfg_scale > 0 ? 2 : 1));
    assert_false(result.stopped_early);
    assert_false(result.interrupted);
}

/* Would break: any rule of LLaDA's or Dream's sampler or of threshold and
 * factor that changes an order, a count or a confidence. */
static void test_goldens(void **state)
{
    json_t *goldens = jsonl_load("tests/data/sampler_goldens.jsonl");

    (void)state;
    assert_non_null(goldens);
    assert_int_equal(json_array_size(goldens), 53);
    for (size_t i = 0; i < json_array_size(goldens); i++) {
        print_message("golden %d\n", (int)i + 1);
        check_golden(json_array_get(goldens, i));
    }
    json_decref(goldens);
}

/* Would break: the closed form that all of this stands on. */
static void test_toy_model(void **state)
{
    const int32_t ids[] = {3,        1,        4,        TOY_MASK, TOY_MASK, TOY_MASK,
                           TOY_MASK, TOY_MASK, TOY_MASK, TOY_MASK, TOY_MASK};
    const float expected[TOY_VOCAB] = {4.375f,      0.2509765625f, 2.814453125f, 6.0029296875f,
                                       3.75390625f, 2.1298828125f, 1.130859375f, 0.7568359375f,
                                       1.0078125f,  1.8837890625f, 3.384765625f, -1.0f};
    const struct toy_model toy = {.scale = 1};
    float logits[TOY_VOCAB];

    (void)state;
    toy_logits(&toy, ids, 11, 3, logits);
    assert_memory_equal(logits, expected, sizeof expected);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_toy_model),
        cmocka_unit_test(test_goldens),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
