/*
 * test_greedy.c: whole runs at temperature 0, whose ids must be those that the
 * same sampler makes of llama.cpp's logits (generate.txt).
 *
 * What would break: a wrong schedule, block order, logits shift, tie rule or
 * confidence commits other ids at some step, and all later ones differ.
 */
#include "model_data.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { LINE_BYTES = 1024 };

/* A line of generate.txt: MODEL GEN STEPS BLOCK-or-ALGORITHM IDS. */
struct greedy_run {
    char model[64], rule[32];
    int gen, steps;
    int32_t ids[MAX_TOKENS];
    size_t count;
};

static bool parse_run(const char *line, struct greedy_run *run)
{
    char ids[LINE_BYTES];

    if (sscanf(line, "%63s %d %d %31s %1023s", run->model, &run->gen, &run->steps, run->rule,
               ids) != 5)
        return false;
    run->count = model_data_read_ids(ids, run->ids);
    return true;
}

static enum dllm_remasking remasking_of(const char *rule)
{
    if (strcmp(rule, "entropy") == 0)
        return DLLM_REMASKING_ENTROPY;
    if (strcmp(rule, "topk_margin") == 0)
        return DLLM_REMASKING_TOPK_MARGIN;
    assert_string_equal(rule, "maskgit_plus");
    return DLLM_REMASKING_LOW_CONFIDENCE;
}

static void assert_greedy_run(const struct greedy_run *run)
{
    static const int32_t llada_prompt[] = {3, 5, 17, 300, 99}, dream_prompt[] = {5, 17, 300, 99};
    bool dream = strncmp(run->model, "dream", 5) == 0;
    struct dllm_generate_options options;
    struct dllm_result result = {0};
    struct dllm_error error = {0};
    char path[PATH_BYTES];
    struct opened model;

    if (!model_data_find_model(run->model, ".gguf", path))
        skip();
    model = model_data_open(path, NULL, 2);
    dllm_generate_defaults(model.engine, false, &options);
    options.max_tokens = run->gen;
    options.steps = run->steps;
    options.temperature = 0;
    options.no_early_stop = true;
    options.block_length = dream ? 0 : atoi(run->rule);
    options.remasking = dream ? remasking_of(run->rule) : DLLM_REMASKING_LOW_CONFIDENCE;
    if (dllm_generate(model.session, dream ? dream_prompt : llada_prompt, dream ? 4 : 5, &options,
                      &result, &error) != DLLM_OK)
        fail_msg("%s: %s", run->model, error.message);
    assert_int_equal(result.ids.count, run->count);
    for (size_t i = 0; i < run->count; i++)
        if (result.ids.ids[i] != run->ids[i])
            fail_msg("%s %d %d %s: id %zu is %d, expected %d", run->model, run->gen, run->steps,
                     run->rule, i, result.ids.ids[i], run->ids[i]);
    dllm_result_free(&result);
    model_data_close(&model);
}

static void test_greedy_runs(void **state)
{
    const char *model = *state;
    char path[PATH_BYTES], line[LINE_BYTES];
    struct greedy_run run;
    int runs = 0;
    FILE *file;

    if (!model_data_find("generate.txt", path))
        skip();
    file = fopen(path, "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file))
        if (parse_run(line, &run) && strcmp(run.model, model) == 0) {
            assert_greedy_run(&run);
            runs++;
        }
    fclose(file);
    print_message("%s: %d greedy runs\n", model, runs);
    assert_true(runs > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        {"greedy_llada-F32", test_greedy_runs, NULL, NULL, "llada-F32"},
        {"greedy_dream-F32", test_greedy_runs, NULL, NULL, "dream-F32"},
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
