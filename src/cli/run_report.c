/* run_report.c: notes, step lines, progress and the JSON object of a run. */
#include "run_report.h"

#include "out.h"
#include "progress_line.h"

#include <string.h>

static void draw_bar(const struct run_watch *watch, const struct dllm_step *step)
{
    size_t done = step->masks_at_start - step->masks_left;

    progress_line((double)done / (double)step->masks_at_start, "step %d of %d, %.1f s",
                  step->step + 1, step->steps, watch->seconds);
}

static void print_step(const struct dllm_step *step)
{
    double lowest = 1, sum = 0;

    for (size_t i = 0; i < step->committed; i++) {
        sum += step->confidences[i];
        if (i == 0 || step->confidences[i] < lowest)
            lowest = step->confidences[i];
    }
    fprintf(stderr, "step %d of %d: ", step->step + 1, step->steps);
    if (!step->computed)
        fprintf(stderr, "nothing to commit, not computed\n");
    else if (step->committed)
        fprintf(stderr, "%.4f s, %zu committed, confidence lowest %.4g mean %.4g\n", step->seconds,
                step->committed, lowest, sum / (double)step->committed);
    else
        fprintf(stderr, "%.4f s, 0 committed\n", step->seconds);
}

int run_on_step(void *context, const struct dllm_step *step)
{
    struct run_watch *watch = context;

    watch->seconds += step->seconds;
    reading_close(&watch->reading);
    if (watch->bar)
        draw_bar(watch, step);
    if (watch->stats)
        print_step(step);
    if (watch->visual)
        watch->code = visual_step(watch->visual, step);
    if (watch->trace && !watch->code)
        watch->code = trace_file_step(watch->trace, step);
    return watch->code || cli_interrupted();
}

/* The steps asked for; 0: they are not counted out. */
static int scheduled_steps(const struct dllm_generate_options *settings)
{
    if (settings->threshold > 0 || settings->factor > 0 || settings->entropy_bound > 0)
        return 0;
    return settings->steps ? settings->steps : settings->max_tokens;
}

static int block_length(const struct dllm_generate_options *settings)
{
    int block = settings->block_length ? settings->block_length : settings->max_tokens;

    return block < settings->max_tokens ? block : settings->max_tokens;
}

static void print_schedule(const struct dllm_generate_options *settings)
{
    int steps = scheduled_steps(settings);

    fputs("schedule: ", stderr);
    if (steps)
        fprintf(stderr, "%d steps", steps);
    else
        fputs("as many steps as it takes", stderr);
    fprintf(stderr, ", blocks of %d, remasking %s, temperature %g, seed %llu",
            block_length(settings), run_remasking_name(settings->remasking), settings->temperature,
            (unsigned long long)settings->seed);
    if (settings->top_p < 1)
        fprintf(stderr, ", top-p %g", settings->top_p);
    if (settings->top_k)
        fprintf(stderr, ", top-k %d", settings->top_k);
    if (settings->alg_temp > 0)
        fprintf(stderr, ", alg-temp %g", settings->alg_temp);
    if (settings->cfg_scale > 0)
        fprintf(stderr, ", cfg-scale %g", settings->cfg_scale);
    if (settings->threshold > 0)
        fprintf(stderr, ", threshold %g", settings->threshold);
    if (settings->factor > 0)
        fprintf(stderr, ", factor %g", settings->factor);
    if (settings->entropy_bound > 0)
        fprintf(stderr, ", entropy-bound %g", settings->entropy_bound);
    if (settings->early_commit)
        fputs(", early-commit", stderr);
    if (settings->cache)
        fprintf(stderr, ", cache %s", run_cache_name(settings->cache));
    if (settings->cache_refresh)
        fprintf(stderr, ", cache-refresh %d", settings->cache_refresh);
    if (settings->prompt_refresh)
        fprintf(stderr, ", prompt-refresh %d", settings->prompt_refresh);
    if (settings->suffix_window)
        fprintf(stderr, ", suffix-window %d", settings->suffix_window);
    if (settings->eos_policy)
        fprintf(stderr, ", eos-policy %s", run_eos_policy_name(settings->eos_policy));
    fputc('\n', stderr);
}

void run_print_start(const struct run_facts *facts)
{
    const struct dllm_model_info *model = &facts->model;
    char size[32];

    cli_print_invocation();
    fputs("model: ", stderr);
    out_print_quoted(stderr, model->name, strlen(model->name), 80);
    fprintf(stderr, ", %s, %s, %s, loaded in %.3f s\n", model->architecture, model->quantization,
            out_size_text(model->file_bytes, size), model->load_seconds);
    fprintf(stderr, "device: %s", model->device);
    if (model->device_note[0])
        fprintf(stderr, " (auto: %s)", model->device_note);
    fprintf(stderr, ", level %s, %d thread%s\n", model->cpu_level, model->threads,
            model->threads == 1 ? "" : "s");
    fprintf(stderr, "prompt: %zu tokens%s, canvas %zu", facts->prompt_tokens,
            facts->chat ? " with chat template" : "",
            facts->prompt_tokens + (size_t)facts->settings.max_tokens +
                facts->settings.suffix_count);
    if (model->context_length)
        fprintf(stderr, " (context length %d)\n", model->context_length);
    else
        fputs(" (the model states no context length)\n", stderr);
    if (facts->chat && model->chat_template_differs)
        fputs("warning: the file's own chat template has other control tokens than the one "
              "applied; --no-chat feeds text as it is\n",
              stderr);
    print_schedule(&facts->settings);
    if (facts->chat_sampling)
        fputs("note: a chat with a Dream model samples by default; --temperature 0 is greedy\n",
              stderr);
}

static double per_step_ms(double seconds, const struct dllm_result *result)
{
    int steps = result->timings.computed_steps;

    return steps ? seconds * 1000 / steps : 0;
}

const char *run_finish_name(enum dllm_finish finish)
{
    static const char *const names[] = {"eos", "length", "stop", "interrupted"};

    return names[finish];
}

static void print_step_times(const struct run_facts *facts, const struct dllm_result *result)
{
    const struct dllm_timings *times = &result->timings;
    double all = per_step_ms(times->matmul_seconds + times->attention_seconds +
                                 times->head_seconds + times->rest_seconds,
                             result);
    double head = per_step_ms(times->head_seconds, result);
    double rest = per_step_ms(times->rest_seconds, result);

    if (facts->model.device_is_gpu)
        fprintf(stderr, "per step: %.2f ms = layers %.2f + head %.2f\n", all, rest, head);
    else
        fprintf(stderr,
                "per step: %.2f ms = matmul %.2f + attention %.2f + head %.2f + rest %.2f\n", all,
                per_step_ms(times->matmul_seconds, result),
                per_step_ms(times->attention_seconds, result), head, rest);
}

void run_print_end(const struct run_facts *facts, const struct dllm_result *result)
{
    const struct dllm_timings *times = &result->timings;
    char size[32];

    fprintf(stderr, "generated in %.3f s: %d steps of %d computed, %d forward passes, finish %s\n",
            times->generate_seconds, times->computed_steps, result->steps, result->forward_passes,
            run_finish_name(result->finish));
    print_step_times(facts, result);
    fprintf(stderr, "answer: %d tokens, %.2f tokens per second\n", result->answer_tokens,
            times->generate_seconds > 0 ? result->answer_tokens / times->generate_seconds : 0);
    fprintf(stderr, "computed: %lld rows, workspace %s\n", (long long)result->rows_computed,
            out_size_text(result->workspace_bytes, size));
    fprintf(stderr, "peak memory: %s\n", out_size_text(dllm_peak_rss_bytes(), size));
}

static json_t *stop_array(const struct dllm_generate_options *settings)
{
    json_t *array = json_array();

    for (size_t i = 0; array && i < settings->stop_count; i++)
        json_array_append_new(array, out_json_text(settings->stop[i].data, settings->stop[i].size));
    return array;
}

/* The settings that save rows; fails as object does. */
static void add_savings(json_t *object, const struct dllm_generate_options *settings)
{
    json_t *savings = json_pack("{s:b, s:s, s:i, s:i, s:i}", "early_commit", settings->early_commit,
                                "cache", run_cache_name(settings->cache), "cache_refresh",
                                settings->cache_refresh, "prompt_refresh", settings->prompt_refresh,
                                "suffix_window", settings->suffix_window);

    json_object_update(object, savings);
    json_decref(savings);
}

json_t *run_settings_json(const struct dllm_generate_options *settings, bool chat)
{
    int steps = scheduled_steps(settings);

    json_t *object = json_pack(
        "{s:b, s:i, s:o, s:i, s:f, s:s, s:f, s:i, s:f, s:f, s:f, s:f, s:f, s:f, s:s, "
        "s:I, s:o, s:b, s:b}",
        "chat", chat, "max_tokens", settings->max_tokens, "steps",
        steps ? json_integer(steps) : json_null(), "block_length", block_length(settings),
        "temperature", settings->temperature, "remasking", run_remasking_name(settings->remasking),
        "top_p", settings->top_p, "top_k", settings->top_k, "alg_temp", settings->alg_temp, "eps",
        settings->eps, "cfg_scale", settings->cfg_scale, "threshold", settings->threshold, "factor",
        settings->factor, "entropy_bound", settings->entropy_bound, "eos_policy",
        run_eos_policy_name(settings->eos_policy), "suffix_tokens",
        (json_int_t)settings->suffix_count, "stop", stop_array(settings), "early_stop",
        !settings->no_early_stop, "allow_long", settings->allow_long);

    add_savings(object, settings);
    return object;
}

static json_t *step_times(const struct dllm_timings *times)
{
    json_t *array = json_array();

    for (int i = 0; array && i < times->computed_steps; i++)
        json_array_append_new(array, json_real(times->step_seconds[i] * 1000));
    return array;
}

static json_t *gap_array(const struct dllm_result *result)
{
    json_t *array = json_array();

    for (size_t i = 0; array && i < result->gap_count; i++) {
        const struct dllm_gap *gap = &result->gaps[i];
        json_array_append_new(
            array,
            json_pack("{s:I, s:I, s:o, s:i, s:s}", "start", (json_int_t)gap->start, "positions",
                      (json_int_t)gap->count, "text", out_json_text(gap->text.data, gap->text.size),
                      "answer_tokens", gap->tokens, "finish_reason", run_finish_name(gap->finish)));
    }
    return array;
}

json_t *run_facts_json(const struct run_facts *facts)
{
    const char *name = facts->model.name;

    return json_pack("{s:o, s:s, s:I, s:o, s:I}", "model", out_json_text(name, strlen(name)),
                     "quantization", facts->model.quantization, "seed",
                     (json_int_t)facts->settings.seed, "settings",
                     run_settings_json(&facts->settings, facts->chat), "prompt_tokens",
                     (json_int_t)facts->prompt_tokens);
}

json_t *run_result_json(const struct run_facts *facts, const struct dllm_result *result)
{
    const struct dllm_timings *times = &result->timings;
    double step_seconds = 0;
    json_t *object = run_facts_json(facts), *rest;

    for (int i = 0; i < times->computed_steps; i++)
        step_seconds += times->step_seconds[i];
    rest = json_pack("{s:o, s:o, s:s, s:i, s:i, s:I, s:b, s:f, s:f}", "generated_ids",
                     out_json_ids(result->ids.ids, result->ids.count), "text",
                     out_json_text(result->text.data, result->text.size), "finish_reason",
                     run_finish_name(result->finish), "answer_tokens", result->answer_tokens,
                     "forward_passes", result->forward_passes, "rows_computed",
                     (json_int_t)result->rows_computed, "stopped_early", result->stopped_early,
                     "generate_s", times->generate_seconds, "ms_per_step",
                     per_step_ms(step_seconds, result));
    json_object_update(object, rest);
    json_decref(rest);
    if (object && facts->filled)
        json_object_set_new(object, "gaps", gap_array(result));
    return object;
}

int run_print_json(const struct run_facts *facts, const struct dllm_result *result)
{
    const struct dllm_model_info *model = &facts->model;
    json_t *object =
        json_pack("{s:s, s:o, s:s, s:s, s:s, s:s, s:i}", "version", dllm_version(), "model",
                  out_json_text(model->name, strlen(model->name)), "arch", model->architecture,
                  "quantization", model->quantization, "device", model->device, "cpu_level",
                  model->cpu_level, "threads", model->threads);
    json_t *run = run_result_json(facts, result);
    json_t *rest = json_pack("{s:o, s:f, s:o, s:o}", "workspace_bytes",
                             out_json_unsigned(result->workspace_bytes), "load_s",
                             model->load_seconds, "step_ms", step_times(&result->timings),
                             "peak_rss_bytes", out_json_unsigned(dllm_peak_rss_bytes()));
    bool whole =
        run && rest && !json_object_update(object, run) && !json_object_update(object, rest);

    json_decref(run);
    json_decref(rest);
    if (!whole) {
        json_decref(object);
        object = NULL;
    }
    return out_print_json(object);
}
