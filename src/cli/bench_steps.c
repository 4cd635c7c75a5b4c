/* bench_steps.c: dllm bench -m: denoising steps of a model (bench_pass.h), timed and told of. */
#include "bench.h"
#include "bench_pass.h"
#include "memory_check.h"
#include "out.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { DEFAULT_CANVAS = 148, DEFAULT_ROWS = 32 };

struct step_bench {
    const struct opts *opts;
    int reps, prompts, canvas, rows;
    double start; /* of the command */
    struct dllm_engine *engine;
    struct dllm_model_info info;
    struct bench_pass pass;
    double ready_seconds, first_seconds; /* from the start until the first step began, ended */
    uint64_t peak_bytes, workspace_bytes;
    struct bench_samples candidates, all;
};

static double seconds_of(clockid_t clock)
{
    struct timespec now;

    clock_gettime(clock, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* The operations that matrix products of this mix could do in a second; 0: not known. */
static double ceiling_for(const struct step_bench *bench, const struct dllm_products *products)
{
    const double operations[] = {products->int8_operations, products->float_operations};
    double least_seconds = 0;

    for (int floats = 0; floats < 2; floats++) {
        double rate = operations[floats] > 0 ? dllm_engine_ceiling(bench->engine, floats) : 1;

        if (rate <= 0)
            return 0;
        least_seconds += operations[floats] / rate;
    }
    return (operations[0] + operations[1]) / least_seconds;
}

static void keep_sample(struct bench_samples *samples, const struct bench_step *step,
                        double processor, struct bench_ceilings ceilings)
{
    const double values[] = {
        [BENCH_SECONDS] = step->seconds,
        [BENCH_MATMUL] = step->matmul_seconds,
        [BENCH_ATTENTION] = step->attention_seconds,
        [BENCH_HEAD] = step->head_seconds,
        [BENCH_REST] = step->rest_seconds,
    };

    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        bench_values(samples, (enum bench_quantity)i)[samples->count] = values[i];
    bench_values(samples, BENCH_PROCESSOR)[samples->count] = processor;
    bench_put_products(samples, &step->products, ceilings);
    samples->count++;
}

/* What is measured again and again. */
struct workload {
    int rows;
    struct dllm_products mix; /* that a step has */
    double bandwidth;         /* bytes a second that the GPU can read; 0: not known */
};

/* A step between two measurements of the ceiling. */
static int sample_step(struct step_bench *bench, const struct workload *workload,
                       struct bench_samples *samples)
{
    struct bench_step step;
    double ceiling = ceiling_for(bench, &workload->mix);
    double wall = seconds_of(CLOCK_MONOTONIC), processor = seconds_of(CLOCK_PROCESS_CPUTIME_ID);
    int code = bench_pass_run(&bench->pass, workload->rows, &step);

    if (code)
        return code;
    processor = seconds_of(CLOCK_PROCESS_CPUTIME_ID) - processor;
    wall = seconds_of(CLOCK_MONOTONIC) - wall;
    ceiling = (ceiling + ceiling_for(bench, &workload->mix)) / 2;
    keep_sample(samples, &step, processor / wall,
                (struct bench_ceilings){ceiling, workload->bandwidth});
    return CLI_OK;
}

static int sample_steps(struct step_bench *bench, int rows, const struct dllm_products *mix,
                        struct bench_samples *samples)
{
    const struct workload workload = {rows, *mix, dllm_engine_bandwidth(bench->engine)};
    int given = bench->canvas - rows, code = CLI_OK;

    if (!bench_samples_create(samples, bench->reps))
        return cli_fail(CLI_FAILURE, "out of memory");
    for (int i = 0; i < bench->reps && !code; i++) {
        bench_progress("step", i + 1, bench->reps);
        if (given > 0)
            bench_pass_change(&bench->pass, i, given);
        code = sample_step(bench, &workload, samples);
    }
    bench_progress(NULL, 0, 0);
    return code;
}

/* The first step: from the start of the command until a token is there. */
static int run_first(struct step_bench *bench, struct dllm_products *mix)
{
    struct bench_step step;
    int code = bench_pass_run(&bench->pass, bench->rows, &step);

    if (code)
        return code;
    bench->first_seconds = seconds_of(CLOCK_MONOTONIC) - bench->start;
    bench->ready_seconds = bench->first_seconds - step.seconds;
    bench->workspace_bytes = step.workspace_bytes;
    *mix = step.products;
    return CLI_OK;
}

static int measure(struct step_bench *bench)
{
    struct dllm_products mix;
    struct bench_step step;
    int code = run_first(bench, &mix);

    /* Not counted: a GPU's second step records what later ones replay. */
    if (!code && bench->info.device_is_gpu)
        code = bench_pass_run(&bench->pass, bench->rows, &step);
    if (!code)
        code = sample_steps(bench, bench->rows, &mix, &bench->candidates);
    bench->peak_bytes = dllm_peak_rss_bytes();
    if (code || !bench->opts->values[BENCH_ALL_ROWS].given)
        return code;
    /* Not counted either: they make room for more rows, and a GPU records again. */
    for (int i = 0; i < (bench->info.device_is_gpu ? 2 : 1) && !code; i++)
        code = bench_pass_run(&bench->pass, bench->canvas, &step);
    if (code)
        return code;
    return sample_steps(bench, bench->canvas, &step.products, &bench->all);
}

static void print_part(const char *name, const struct bench_samples *samples,
                       enum bench_quantity quantity)
{
    double seconds = bench_median(samples, quantity);

    printf("  %-18s%10.3f ms  %5.1f %%\n", name, seconds * 1000,
           100 * seconds / bench_median(samples, BENCH_SECONDS));
}

static void print_steps(const struct step_bench *bench, int rows,
                        const struct bench_samples *samples)
{
    struct bench_spread time = bench_spread_of(samples, BENCH_SECONDS);
    char rate[80];

    if (bench->prompts > 1)
        printf("\nstep of %d prompts, logits of %d rows each: ", bench->prompts, rows);
    else
        printf("\nstep, logits of %d rows: ", rows);
    printf("%.3f ms (%.3f to %.3f)\n", time.median * 1000, time.low * 1000, time.high * 1000);
    if (bench->prompts > 1)
        printf("  %-18s%10.3f ms\n", "each prompt", time.median / bench->prompts * 1000);
    if (!bench->info.device_is_gpu) {
        print_part("matmul", samples, BENCH_MATMUL);
        print_part("attention", samples, BENCH_ATTENTION);
    }
    print_part("head", samples, BENCH_HEAD);
    print_part(bench->info.device_is_gpu ? "layers" : "rest", samples, BENCH_REST);
    printf("  %-18s%10.1f a second\n", "canvas tokens",
           bench->prompts * bench->canvas / time.median);
    if (bench->info.device_is_gpu)
        printf("  %-18s%s\n", "weights read", bench_bandwidth_text(samples, rate));
    else
        printf("  %-18s%10.2f GB/s\n", "weights read",
               bench_median(samples, BENCH_BANDWIDTH) * 1e-9);
    printf("  %-18s%s\n", "matrix products", bench_rate_text(samples, rate));
    if (bench_median(samples, BENCH_FLOOR) > 0)
        printf("  %-18s%10.3f ms, the step takes %.2f times as long\n", "floor",
               bench_median(samples, BENCH_FLOOR) * 1000, bench_median(samples, BENCH_TIMES_FLOOR));
    printf("  %-18s%10.2f of %d threads\n", "processor use", bench_median(samples, BENCH_PROCESSOR),
           bench->info.threads);
}

static int print_text(const struct step_bench *bench)
{
    const struct dllm_model_info *info = &bench->info;
    char size[32];

    fputs("model ", stdout);
    out_print_quoted(stdout, info->name, strlen(info->name), 80);
    printf(", %s, %s, %s\n", info->architecture, info->quantization,
           out_size_text(info->file_bytes, size));
    if (info->device_is_gpu)
        printf("%s, ", info->device);
    printf("level %s, %d thread%s, canvas %d, ", info->cpu_level, info->threads,
           info->threads == 1 ? "" : "s", bench->canvas);
    if (bench->prompts > 1)
        printf("%d prompts a pass, ", bench->prompts);
    printf("%d repetitions\n", bench->reps);
    printf("loaded in %.4f s; first step began after %.4f s, was finished after %.4f s\n",
           info->load_seconds, bench->ready_seconds, bench->first_seconds);
    printf("peak memory %s", out_size_text(bench->peak_bytes, size));
    printf(", workspace %s\n", out_size_text(bench->workspace_bytes, size));
    print_steps(bench, bench->rows, &bench->candidates);
    if (bench->all.count)
        print_steps(bench, bench->canvas, &bench->all);
    return out_finish();
}

/* null for what is not measured on the device at hand. */
static json_t *part_ms(const struct bench_samples *samples, enum bench_quantity quantity,
                       bool measured)
{
    return measured ? json_real(bench_median(samples, quantity) * 1000) : json_null();
}

static json_t *steps_json(const struct step_bench *bench, int rows,
                          const struct bench_samples *samples)
{
    bool gpu = bench->info.device_is_gpu;
    double seconds = bench_median(samples, BENCH_SECONDS);
    json_t *steps = json_pack("{s:i, s:o, s:o, s:f, s:o, s:o, s:f, s:f, s:f}", "rows", rows,
                              "matmul_ms", part_ms(samples, BENCH_MATMUL, !gpu), "attention_ms",
                              part_ms(samples, BENCH_ATTENTION, !gpu), "head_ms",
                              bench_median(samples, BENCH_HEAD) * 1000, "rest_ms",
                              part_ms(samples, BENCH_REST, !gpu), "layers_ms",
                              part_ms(samples, BENCH_REST, gpu), "ms_per_prompt",
                              seconds / bench->prompts * 1000, "canvas_tokens_per_s",
                              bench->prompts * bench->canvas / seconds, "processor_use",
                              bench_median(samples, BENCH_PROCESSOR));

    if (bench_add_json(steps, samples))
        return steps;
    json_decref(steps);
    return NULL;
}

static int print_json(const struct step_bench *bench)
{
    const struct dllm_model_info *info = &bench->info;

    return out_print_json(json_pack(
        "{s:s, s:o, s:s, s:s, s:o, s:s, s:s, s:i, s:i, s:i, s:i, s:f, s:f, s:f, s:o, s:o, s:o, "
        "s:o}",
        "version", dllm_version(), "model", out_json_text(info->name, strlen(info->name)), "arch",
        info->architecture, "quantization", info->quantization, "file_bytes",
        out_json_unsigned(info->file_bytes), "device", info->device, "cpu_level", info->cpu_level,
        "threads", info->threads, "canvas", bench->canvas, "prompts", bench->prompts, "reps",
        bench->reps, "load_s", info->load_seconds, "first_step_began_s", bench->ready_seconds,
        "first_step_finished_s", bench->first_seconds, "peak_rss_bytes",
        out_json_unsigned(bench->peak_bytes), "workspace_bytes",
        out_json_unsigned(bench->workspace_bytes), "step",
        steps_json(bench, bench->rows, &bench->candidates), "all_rows",
        bench->all.count ? steps_json(bench, bench->canvas, &bench->all) : json_null()));
}

static int open_model(struct step_bench *bench)
{
    const struct opt_value *values = bench->opts->values;
    const struct cli_engine_values engine_values = {&values[BENCH_MODEL],
                                                    &values[BENCH_PULL],
                                                    &values[BENCH_THREADS],
                                                    &values[BENCH_DEVICE],
                                                    &values[BENCH_GPU_LAYERS],
                                                    &values[BENCH_CPU_LEVEL],
                                                    NULL};
    struct memory_need need = {.canvas = (size_t)bench->canvas,
                               .sessions = bench->prompts,
                               .sessions_option = "--prompts",
                               .allow_long = true,
                               .force = values[BENCH_FORCE].given};
    int code = cli_open_engine(&engine_values, &bench->engine);

    if (!code)
        code = bench_pass_create(&bench->pass, bench->engine, bench->prompts, bench->canvas);
    if (code)
        return code;
    dllm_engine_info(bench->engine, &bench->info);
    need.workspace = dllm_engine_workspace_bytes(bench->engine, need.canvas, need.canvas);
    return memory_check(bench->engine, &need);
}

static int run_bench(struct step_bench *bench)
{
    int code = open_model(bench);

    if (!code)
        code = measure(bench);
    if (code)
        return code;
    return bench->opts->values[BENCH_JSON].given ? print_json(bench) : print_text(bench);
}

int bench_run_steps(const struct opts *opts)
{
    const struct opt_value *canvas = &opts->values[BENCH_CANVAS], *rows = &opts->values[BENCH_ROWS];
    struct step_bench bench = {
        .opts = opts,
        .reps = bench_reps(opts),
        .prompts = opts->values[BENCH_PROMPTS].given ? (int)opts->values[BENCH_PROMPTS].integer : 1,
        .canvas = canvas->given ? (int)canvas->integer : DEFAULT_CANVAS,
        .rows = rows->given ? (int)rows->integer : DEFAULT_ROWS,
        .start = seconds_of(CLOCK_MONOTONIC),
    };
    int code;

    if (rows->given && bench.rows > bench.canvas)
        return cli_fail(CLI_USAGE,
                        "--rows is %d, but the canvas has %d positions; give at most as many rows, "
                        "or a longer --canvas",
                        bench.rows, bench.canvas);
    if (bench.rows > bench.canvas)
        bench.rows = bench.canvas;
    code = run_bench(&bench);
    bench_samples_free(&bench.candidates);
    bench_samples_free(&bench.all);
    bench_pass_free(&bench.pass);
    dllm_engine_close(bench.engine);
    return code;
}
