/*
 * bench_pass.c: see bench_pass.h. Generations that share a pass each need a thread of
 * their own; the caller's runs the first one.
 */
#include "bench_pass.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>

/* A prompt's part in a step. */
struct guest {
    struct bench_pass *pass;
    int number, rows;
    pthread_t thread;
    double began, ended; /* seconds of a clock */
    struct dllm_timings timings;
    uint64_t workspace_bytes;
    enum dllm_status status;
    struct dllm_error error;
};

static double seconds_now(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* --- prompts --- */

static int32_t next_id(const struct dllm_model_info *info, int32_t id)
{
    id = (id + 1) % info->vocab;
    return id == info->mask_id ? (id + 1) % info->vocab : id;
}

static int make_ids(struct bench_pass *pass, const struct dllm_model_info *info)
{
    int count = pass->prompts * pass->canvas;

    pass->ids = calloc((size_t)count, sizeof *pass->ids);
    if (!pass->ids)
        return cli_fail(CLI_FAILURE, "out of memory");
    for (int i = 0; i < count; i++)
        pass->ids[i] = next_id(info, (int32_t)(((int64_t)i * 37 + 4) % info->vocab));
    return CLI_OK;
}

int bench_pass_create(struct bench_pass *pass, struct dllm_engine *engine, int prompts, int canvas)
{
    struct dllm_model_info info;
    struct dllm_error error = {0};

    *pass = (struct bench_pass){.engine = engine, .prompts = prompts, .canvas = canvas};
    dllm_engine_info(engine, &info);
    if (prompts > 1 && !info.device_is_gpu)
        return cli_fail(CLI_USAGE,
                        "--prompts %d has no effect on the CPU, where prompts share no pass; leave "
                        "it out, or compute on a GPU (--device gpu)",
                        prompts);
    for (int i = 0; i < prompts; i++)
        if (dllm_session_create(engine, &pass->sessions[i], &error))
            return cli_fail_error(&error);
    return make_ids(pass, &info);
}

void bench_pass_free(struct bench_pass *pass)
{
    for (int i = 0; i < pass->prompts; i++)
        dllm_session_destroy(pass->sessions[i]);
    free(pass->ids);
    *pass = (struct bench_pass){0};
}

void bench_pass_change(struct bench_pass *pass, int turn, int count)
{
    struct dllm_model_info info;

    dllm_engine_info(pass->engine, &info);
    for (int i = 0; i < pass->prompts; i++) {
        int32_t *id = &pass->ids[i * pass->canvas + turn % count];

        *id = next_id(&info, *id);
    }
}

/* --- a step --- */

/* Ends the run after the first step that was computed. */
static int stop_after_step(void *context, const struct dllm_step *step)
{
    struct guest *guest = context;

    guest->ended = seconds_now();
    guest->began = guest->ended - step->seconds;
    return step->computed || cli_interrupted();
}

/* The masks are the candidates alone, as in a last block: masks are alike, so that a router
 * would send all of them to the same few experts. */
static void generate(struct guest *guest)
{
    struct bench_pass *pass = guest->pass;
    const int32_t *ids = pass->ids + (size_t)guest->number * (size_t)pass->canvas;
    struct dllm_generate_options options;
    struct dllm_result result;

    dllm_generate_defaults(pass->engine, false, &options);
    options.max_tokens = options.block_length = guest->rows;
    options.allow_long = true;
    options.on_step = stop_after_step;
    options.context = guest;
    guest->status =
        dllm_generate(pass->sessions[guest->number], ids, (size_t)(pass->canvas - guest->rows),
                      &options, &result, &guest->error);
    if (guest->status)
        return;
    guest->timings = result.timings;
    guest->workspace_bytes = result.workspace_bytes;
    dllm_result_free(&result);
}

/* The others wait for all to begin: one that fails must not keep them. */
static void *run_guest(void *context)
{
    struct guest *guest = context;

    generate(guest);
    if (guest->status)
        dllm_share_passes(guest->pass->engine, 0, NULL);
    return NULL;
}

/* How many of the guests have run; the first on this thread, which alone hears of ctrl-c. */
static int run_guests(struct guest *guests, int count)
{
    sigset_t interrupt, before;
    int started = 1;

    sigemptyset(&interrupt);
    sigaddset(&interrupt, SIGINT);
    pthread_sigmask(SIG_BLOCK, &interrupt, &before);
    while (started < count &&
           pthread_create(&guests[started].thread, NULL, run_guest, &guests[started]) == 0)
        started++;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (started < count)
        dllm_share_passes(guests->pass->engine, 0, NULL);
    run_guest(&guests[0]);
    for (int i = 1; i < started; i++)
        pthread_join(guests[i].thread, NULL);
    return started;
}

static int check_guests(const struct guest *guests, int count)
{
    for (int i = 0; i < count; i++)
        if (guests[i].status)
            return cli_fail_error(&guests[i].error);
    if (cli_interrupted())
        return CLI_INTERRUPTED;
    for (int i = 0; i < count; i++)
        if (guests[i].timings.pass_sessions != count)
            return cli_fail(CLI_FAILURE,
                            "of %d prompts only %d shared a pass; give fewer --prompts", count,
                            guests[i].timings.pass_sessions);
    return CLI_OK;
}

/* Each has all of the pass's times, and its part of the products. */
static struct bench_step step_of(const struct guest *guests, int count)
{
    const struct dllm_timings *first = &guests[0].timings;
    struct bench_step step = {.matmul_seconds = first->matmul_seconds,
                              .attention_seconds = first->attention_seconds,
                              .head_seconds = first->head_seconds,
                              .rest_seconds = first->rest_seconds,
                              .products.seconds = first->products.seconds,
                              .workspace_bytes = guests[0].workspace_bytes};
    double began = guests[0].began, ended = guests[0].ended;

    for (int i = 0; i < count; i++) {
        const struct dllm_products *products = &guests[i].timings.products;

        step.products.int8_operations += products->int8_operations;
        step.products.float_operations += products->float_operations;
        step.products.weight_bytes += products->weight_bytes;
        began = guests[i].began > began ? guests[i].began : began;
        ended = guests[i].ended > ended ? guests[i].ended : ended;
    }
    step.seconds = ended - began;
    return step;
}

int bench_pass_run(struct bench_pass *pass, int rows, struct bench_step *out)
{
    struct guest guests[BENCH_PROMPTS_MOST];
    struct dllm_error error = {0};
    int code;

    if (pass->prompts > 1 && dllm_share_passes(pass->engine, pass->prompts, &error))
        return cli_fail_error(&error);
    for (int i = 0; i < pass->prompts; i++)
        guests[i] = (struct guest){.pass = pass, .number = i, .rows = rows};
    if (run_guests(guests, pass->prompts) < pass->prompts)
        return cli_fail(CLI_FAILURE, "a thread could not be started");
    code = check_guests(guests, pass->prompts);
    if (!code)
        *out = step_of(guests, pass->prompts);
    return code;
}
