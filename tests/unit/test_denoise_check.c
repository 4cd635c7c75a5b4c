/*
 * test_denoise_check.c: options that are refused, and the words that say why.
 */
#include "denoise.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static struct denoise_model model;
static struct dllm_generate_options options;
static struct dllm_error error;

static void begin(bool dream)
{
    model = (struct denoise_model){.dream = dream, .mask_id = 5, .eos_id = 6, .eot_id = 7};
    options = (struct dllm_generate_options){.max_tokens = 64, .top_p = 1, .eps = 1e-3};
    assert_int_equal(denoise_check(&model, &options, &error), DLLM_OK);
}

/* The options are refused with each of the words, and fine once more when the
 * caller resets them by begin. */
static void refused(const char *words, const char *more)
{
    error.message[0] = 0;
    assert_int_equal(denoise_check(&model, &options, &error), DLLM_ERROR_USAGE);
    assert_int_equal(error.status, DLLM_ERROR_USAGE);
    if (!strstr(error.message, words) || !strstr(error.message, more))
        fail_msg("\"%s\" lacks \"%s\" or \"%s\"", error.message, words, more);
    begin(model.dream);
}

static void accepted(void)
{
    assert_int_equal(denoise_check(&model, &options, &error), DLLM_OK);
    begin(model.dream);
}

#define REFUSE(field, value, more)                                                                 \
    do {                                                                                           \
        options.field = value;                                                                     \
        refused(#field, more);                                                                     \
    } while (0)

/* Would break: a number out of range that reaches the loop. */
static void test_ranges(void **state)
{
    (void)state;
    for (int dream = 0; dream < 2; dream++) {
        begin(dream);
        REFUSE(max_tokens, 0, "from 1");
        REFUSE(max_tokens, -3, "is -3");
        REFUSE(steps, -1, "from 0");
        REFUSE(steps, 1000001, "to 1000000");
        REFUSE(block_length, -1, "from 0");
        REFUSE(temperature, -0.1, "from 0");
        REFUSE(temperature, (double)NAN, "nan");
        REFUSE(temperature, (double)INFINITY, "to 1000");
        REFUSE(top_p, -0.5, "from 0");
        REFUSE(top_p, (double)NAN, "nan");
        REFUSE(top_k, -1, "from 0");
        REFUSE(alg_temp, -1, "from 0");
        REFUSE(eps, -1e-3, "from 1e-09");
        REFUSE(eps, 1.0, "is 1");
        REFUSE(cfg_scale, -1, "from 0");
        REFUSE(threshold, 1.5, "to 1");
        REFUSE(factor, -1, "from 0");
        REFUSE(remasking, (enum dllm_remasking)9, "is 9");
        REFUSE(eos_policy, (enum dllm_eos_policy)9, "is 9");
    }
}

/* Would break: fewer steps than blocks; the message names the fewest. */
static void test_steps_and_blocks(void **state)
{
    (void)state;
    begin(false);
    options.max_tokens = 65;
    options.block_length = 16;
    REFUSE(steps, 4, "at least 5");
    options.max_tokens = 65;
    options.block_length = 16;
    options.steps = 5;
    accepted();
    options.steps = 1;
    accepted();
    options.steps = 1;
    options.block_length = 1000;
    accepted();
}

/* Would break: an option of Dream's that LLaDA would quietly pass over. */
static void test_idle_with_llada(void **state)
{
    (void)state;
    begin(false);
    REFUSE(top_p, 0.9, "LLaDA");
    REFUSE(top_k, 5, "LLaDA");
    REFUSE(alg_temp, 0.5, "LLaDA");
    REFUSE(eps, 0.01, "LLaDA");
    REFUSE(remasking, DLLM_REMASKING_ENTROPY, "entropy");
    REFUSE(remasking, DLLM_REMASKING_TOPK_MARGIN, "topk_margin");
    REFUSE(remasking, DLLM_REMASKING_ORIGIN, "origin");
    options.eos_policy = DLLM_EOS_DEFER;
    options.remasking = DLLM_REMASKING_RANDOM;
    refused("eos_policy defer", "random");
    model.eos_id = -1;
    options.eos_policy = DLLM_EOS_FORBID;
    refused("eos_policy forbid", "end-of-text");
    model.eot_id = -1;
    options.temperature = 0.5;
    options.eos_policy = DLLM_EOS_DEFER;
    refused("eos_policy defer", "end token");
    model.eot_id = -1;
    options.eos_policy = DLLM_EOS_DEFER;
    accepted();
    options.cfg_scale = 2;
    options.remasking = DLLM_REMASKING_RANDOM;
    options.eps = 0;
    accepted();
}

/* Would break: an option of LLaDA's that Dream would quietly pass over. */
static void test_idle_with_dream(void **state)
{
    (void)state;
    begin(true);
    REFUSE(cfg_scale, 1, "Dream");
    REFUSE(eos_policy, DLLM_EOS_FORBID, "Dream");
    options.remasking = DLLM_REMASKING_ORIGIN;
    REFUSE(alg_temp, 0.5, "origin");
    options.remasking = DLLM_REMASKING_RANDOM;
    REFUSE(alg_temp, 0.5, "random");
    options.remasking = DLLM_REMASKING_TOPK_MARGIN;
    options.alg_temp = 0.5;
    options.top_p = 0.9;
    options.top_k = 7;
    options.eps = 0.05;
    accepted();
}

/* Would break: a stop string that can stop nothing. */
static void test_stop_strings(void **state)
{
    static const struct dllm_string stop[] = {{"x", 1}, {"", 0}};

    (void)state;
    begin(false);
    options.stop = stop;
    options.stop_count = 1;
    accepted();
    options.stop = stop;
    options.stop_count = 2;
    refused("stop string 1 is empty", "leave it out");
}

/* Would break: two rules for one count, a threshold for confidences that are
 * no probabilities, steps that nothing counts. */
static void test_threshold_and_factor(void **state)
{
    (void)state;
    begin(true);
    options.factor = 1;
    REFUSE(threshold, 0.9, "expected one");
    options.remasking = DLLM_REMASKING_ENTROPY;
    REFUSE(threshold, 0.9, "low_confidence");
    options.remasking = DLLM_REMASKING_RANDOM;
    REFUSE(factor, 1, "low_confidence");
    options.threshold = 0.9;
    REFUSE(steps, 64, "threshold");
    options.factor = 1;
    REFUSE(alg_temp, 0.5, "factor");
    options.remasking = DLLM_REMASKING_TOPK_MARGIN;
    options.threshold = 0.9;
    accepted();
    begin(false);
    options.factor = 2;
    options.block_length = 8;
    accepted();
}

/* Would break: entropies compared with a rule for probabilities, LLaDA's order by
 * entropy refused, one outside the rule accepted. */
static void test_entropy_bound(void **state)
{
    (void)state;
    for (int dream = 0; dream < 2; dream++) {
        begin(dream);
        REFUSE(entropy_bound, -0.1, "from 0");
        REFUSE(entropy_bound, 0.1, "entropies");
        options.entropy_bound = 0.1;
        options.remasking = DLLM_REMASKING_ENTROPY;
        accepted();
        options.entropy_bound = 0.1;
        options.remasking = DLLM_REMASKING_ENTROPY;
        REFUSE(threshold, 0.9, "expected one");
        options.entropy_bound = 0.1;
        options.remasking = DLLM_REMASKING_ENTROPY;
        REFUSE(steps, 8, "entropy_bound");
        options.entropy_bound = 0.1;
        options.remasking = DLLM_REMASKING_RANDOM;
        refused("entropy_bound", "expected remasking entropy");
    }
    begin(false);
    options.entropy_bound = 0.1;
    options.remasking = DLLM_REMASKING_ENTROPY;
    options.eos_policy = DLLM_EOS_DEFER;
    refused("eos_policy defer", "entropy_bound");
}

/* Would break: a limit that falls with steps which nothing counts; gaps of rows
 * that are not scored. */
static void test_early_commit(void **state)
{
    (void)state;
    for (int dream = 0; dream < 2; dream++) {
        begin(dream);
        options.early_commit = true;
        accepted();
        options.early_commit = true;
        options.threshold = 0.9;
        refused("early_commit has no effect", "threshold");
        options.early_commit = true;
        options.remasking = DLLM_REMASKING_RANDOM;
        refused("early_commit has no effect", "random");
    }
}

/* Would break: intervals of a cache that is not there, a window behind which
 * nothing lies. */
static void test_caches(void **state)
{
    (void)state;
    for (int dream = 0; dream < 2; dream++) {
        begin(dream);
        REFUSE(cache, (enum dllm_cache)3, "is 3");
        REFUSE(cache_refresh, 2, "without a cache");
        REFUSE(prompt_refresh, 2, "without a cache");
        REFUSE(suffix_window, 8, "in one block");
        options.block_length = 64;
        REFUSE(suffix_window, 8, "in one block");
        options.cache = DLLM_CACHE_DUAL;
        REFUSE(cache_refresh, -1, "from 0");
        options.cache = DLLM_CACHE_DUAL;
        options.cache_refresh = 2;
        options.prompt_refresh = 4;
        options.block_length = 32;
        options.suffix_window = 8;
        accepted();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ranges),          cmocka_unit_test(test_steps_and_blocks),
        cmocka_unit_test(test_idle_with_llada), cmocka_unit_test(test_idle_with_dream),
        cmocka_unit_test(test_stop_strings),    cmocka_unit_test(test_threshold_and_factor),
        cmocka_unit_test(test_entropy_bound),   cmocka_unit_test(test_early_commit),
        cmocka_unit_test(test_caches),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
