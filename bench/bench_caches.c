/*
 * bench_caches.c: what a cache saves: the first blocks of one generation (prompt
 * of 100, 256 tokens in blocks of 32) without a cache and with the dual one, in
 * turn, in one process. Every block computes as many rows as any other.
 *
 *   build/bench/bench_caches MODEL STEPS BLOCKS PAIRS [THREADS]
 *
 * STEPS is the schedule of the whole generation, BLOCKS how many of its eight
 * blocks are run. Prints one JSON object with every step's time.
 */
#include "dllm.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { PROMPT = 100, REGION = 256, BLOCK = 32, SIDES = 2 };

static const char *const side_names[SIDES] = {"none", "dual"};
static const enum dllm_cache side_caches[SIDES] = {DLLM_CACHE_NONE, DLLM_CACHE_DUAL};

struct bench {
    struct dllm_engine *engine;
    struct dllm_session *session;
    struct dllm_model_info info;
    int steps, blocks, pairs;
    int32_t prompt[PROMPT];
    json_t *sides[SIDES]; /* a list of runs each */
};

static int fail(const char *what)
{
    fprintf(stderr, "bench_caches: %s\n", what);
    return 1;
}

static int stop_after_blocks(void *context, const struct dllm_step *step)
{
    const struct bench *bench = context;

    fprintf(stderr, "\rstep %d of %d ", step->step + 1, bench->steps);
    return (step->step + 1) * REGION >= bench->steps * BLOCK * bench->blocks;
}

static double processor_seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static json_t *run_json(const struct dllm_result *result, double processor)
{
    json_t *steps = json_array();

    for (int i = 0; i < result->timings.computed_steps; i++)
        json_array_append_new(steps, json_real(result->timings.step_seconds[i] * 1000));
    return json_pack("{s:f, s:f, s:i, s:I, s:I, s:f, s:f, s:f, s:o}", "wall_s",
                     result->timings.generate_seconds, "processor_s", processor, "forward_passes",
                     result->forward_passes, "rows_computed", (json_int_t)result->rows_computed,
                     "workspace_bytes", (json_int_t)result->workspace_bytes, "operations",
                     result->timings.products.int8_operations +
                         result->timings.products.float_operations,
                     "matmul_s", result->timings.matmul_seconds, "attention_s",
                     result->timings.attention_seconds, "step_ms", steps);
}

static int run_side(struct bench *bench, int side)
{
    struct dllm_generate_options options;
    struct dllm_result result;
    struct dllm_error error;
    double processor = processor_seconds();

    dllm_generate_defaults(bench->engine, false, &options);
    options.max_tokens = REGION;
    options.block_length = BLOCK;
    options.steps = bench->steps;
    options.cache = side_caches[side];
    options.no_early_stop = true; /* the answers of random weights end anywhere */
    options.on_step = stop_after_blocks;
    options.context = bench;
    if (dllm_generate(bench->session, bench->prompt, PROMPT, &options, &result, &error))
        return fail(error.message);
    json_array_append_new(bench->sides[side], run_json(&result, processor_seconds() - processor));
    dllm_result_free(&result);
    return 0;
}

static int open_bench(struct bench *bench, const char *path, int threads)
{
    struct dllm_engine_options options = {.model_path = path, .threads = threads};
    struct dllm_error error;

    if (dllm_engine_open(&options, &bench->engine, &error) ||
        dllm_session_create(bench->engine, &bench->session, &error))
        return fail(error.message);
    dllm_engine_info(bench->engine, &bench->info);
    for (int i = 0; i < PROMPT; i++)
        bench->prompt[i] = (i * 37 + 5) % 256;
    for (int side = 0; side < SIDES; side++)
        bench->sides[side] = json_array();
    return 0;
}

static void print_results(struct bench *bench)
{
    const struct dllm_model_info *info = &bench->info;
    json_t *sides = json_object(), *root;

    for (int side = 0; side < SIDES; side++)
        json_object_set(sides, side_names[side], bench->sides[side]);
    root = json_pack("{s:s, s:s, s:s, s:i, s:s, s:i, s:i, s:i, s:i, s:i, s:i, s:o}", "version",
                     dllm_version(), "arch", info->architecture, "quantization", info->quantization,
                     "layers", info->layers, "cpu_level", info->cpu_level, "threads", info->threads,
                     "prompt", PROMPT, "max_tokens", REGION, "block_length", BLOCK, "steps",
                     bench->steps, "blocks_run", bench->blocks, "runs", sides);
    json_dumpf(root, stdout, JSON_INDENT(1) | JSON_REAL_PRECISION(7));
    printf("\n");
    json_decref(root);
}

int main(int argc, char **argv)
{
    struct bench bench = {0};
    int code;

    if (argc < 5)
        return fail("usage: bench_caches MODEL STEPS BLOCKS PAIRS [THREADS]");
    bench.steps = atoi(argv[2]);
    bench.blocks = atoi(argv[3]);
    bench.pairs = atoi(argv[4]);
    code = open_bench(&bench, argv[1], argc > 5 ? atoi(argv[5]) : 0);
    for (int i = 0; i < bench.pairs * SIDES && !code; i++)
        code = run_side(&bench, i % SIDES);
    fprintf(stderr, "\n");
    if (!code)
        print_results(&bench);
    for (int side = 0; side < SIDES; side++)
        json_decref(bench.sides[side]);
    dllm_session_destroy(bench.session);
    dllm_engine_close(bench.engine);
    return code;
}
