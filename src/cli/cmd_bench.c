/*
 * cmd_bench.c: dllm bench: how fast denoising steps of a model are here, or
 * products of single matrices, beside what the processor can reach.
 */
#include "bench.h"
#include "bench_pass.h"

/* As in the table's fallback texts. */
enum { DEFAULT_REPS = 9 };

static const struct opt options[BENCH_OPTIONS] = {
    [BENCH_MODEL] = {.name = "model",
                     .letter = 'm',
                     .kind = OPT_PATH,
                     .group = 1,
                     .metavar = "MODEL",
                     .help = "measure denoising steps of this model, named as for run"},
    [BENCH_PULL] = CLI_OPTION_PULL,
    [BENCH_PRODUCTS] = {.name = "matmul",
                        .kind = OPT_TEXT,
                        .group = 1,
                        .repeatable = true,
                        .metavar = "SHAPE",
                        .help = "measure products of random matrices instead, no model needed; "
                                "TYPE:ROWSxWIDTHxTOKENS, such as Q4_K:4096x4096x148"},
    [BENCH_CANVAS] = {.name = "canvas",
                      .kind = OPT_INTEGER,
                      .low = 1,
                      .high = 65536,
                      .metavar = "N",
                      .fallback = "148",
                      .help = "positions of the canvas, prompt and masks"},
    [BENCH_PROMPTS] = {.name = "prompts",
                       .kind = OPT_INTEGER,
                       .low = 1,
                       .high = BENCH_PROMPTS_MOST,
                       .metavar = "N",
                       .fallback = "1",
                       .help = "canvases that are computed in one shared pass, each with its own "
                               "candidates; several on a GPU alone"},
    [BENCH_ROWS] = {.name = "rows",
                    .kind = OPT_INTEGER,
                    .low = 1,
                    .high = 65536,
                    .metavar = "N",
                    .fallback = "32, or the canvas if that is shorter",
                    .help = "candidates of a step: positions whose logits are computed"},
    [BENCH_ALL_ROWS] = {.name = "all-rows",
                        .kind = OPT_FLAG,
                        .help = "also measure steps that compute the logits of every position"},
    [BENCH_REPS] = {.name = "reps",
                    .kind = OPT_INTEGER,
                    .low = 1,
                    .high = 100000,
                    .metavar = "N",
                    .fallback = "9",
                    .help = "how often each measurement is repeated"},
    [BENCH_FORCE] = CLI_OPTION_FORCE,
    [BENCH_THREADS] = CLI_OPTION_THREADS,
    [BENCH_DEVICE] = CLI_OPTION_DEVICE,
    [BENCH_GPU_LAYERS] = CLI_OPTION_GPU_LAYERS,
    [BENCH_CPU_LEVEL] = CLI_OPTION_CPU_LEVEL,
    [BENCH_JSON] = {.name = "json", .kind = OPT_FLAG, .help = "print one JSON object"},
};

static const struct opt_conflict conflicts[] = {
    {BENCH_PRODUCTS, BENCH_PULL, "without a model there is nothing to fetch"},
    {BENCH_PRODUCTS, BENCH_FORCE, "without a model there is nothing to fit"},
    {BENCH_PRODUCTS, BENCH_CANVAS, "a shape says its tokens"},
    {BENCH_PRODUCTS, BENCH_PROMPTS, "without a model there are no prompts"},
    {BENCH_PRODUCTS, BENCH_ROWS, "a shape says its rows"},
    {BENCH_PRODUCTS, BENCH_GPU_LAYERS, "without a model there are no layers"},
    {BENCH_PRODUCTS, BENCH_ALL_ROWS, "without a model there are no logits"},
};

static const struct opt_table table = {
    .command = "bench",
    .usage = "-m MODEL | --matmul SHAPE [options]",
    .summary = "Measure the speed of a model's steps, or of matrix products",
    .notes = "A step is one forward pass over the canvas with the choice of a token for each\n"
             "candidate. Before each one a token of the prompt changes, as a step changes\n"
             "one; the first step, which has nothing to reuse, is reported apart. Gop/s are\n"
             "thousand million operations a second, two per multiply-add. The ceiling is what\n"
             "the same threads, or a GPU's tensor cores, reach in a loop on registers alone,\n"
             "measured before and after each repetition. Times are medians.\n",
    .options = options,
    .count = BENCH_OPTIONS,
    .conflicts = conflicts,
    .conflict_count = sizeof conflicts / sizeof *conflicts,
    .group_why = {[1] = "one run measures one or the other"},
    .group_missing = {[1] = "there is nothing to measure: give --model or --matmul"},
};

int bench_reps(const struct opts *opts)
{
    return opts->values[BENCH_REPS].given ? (int)opts->values[BENCH_REPS].integer : DEFAULT_REPS;
}

static int run_bench(struct opts *opts)
{
    cli_catch_interrupt();
    return opts->values[BENCH_PRODUCTS].given ? bench_run_products(opts) : bench_run_steps(opts);
}

const struct command command_bench = {&table, run_bench};
