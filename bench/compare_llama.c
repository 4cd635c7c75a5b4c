/*
 * compare_llama.c: times the forward pass of dllm and of llama.cpp on the same
 * file, canvas and device, in turns, in one process. bench/compare runs it and
 * judges the times.
 *
 * usage: compare_llama MODEL THREADS CANVAS ROWS PAIRS CHANGED [CPU LEVEL]
 *        compare_llama MODEL gpu CANVAS ROWS PAIRS PROMPTS
 *
 * A pair is three passes: llama.cpp's (which computes every row's logits),
 * dllm's with every row, and dllm's with the ROWS that a denoising step can
 * choose from. Their order turns from pair to pair. CHANGED positions get
 * another token before each pass; dllm reuses its first layer's projections of
 * the others, as it does from step to step.
 *
 * On a GPU both have all layers there. llama.cpp's pass ends with all logits in
 * the host's memory, dllm's third is a denoising step with the choice of tokens,
 * which is made on the GPU. Of several PROMPTS each side computes all in one
 * pass; instead of dllm's with every row llama.cpp then takes the prompts one
 * after the other too, since its attention in a pass goes over all pairs of
 * positions of all prompts, and bench/compare takes the faster of the two.
 * Prints one JSON object: facts and every time.
 */
#include "bench_pass.h"
#include "clock.h"
#include "dllm.h"
#include "llama_peer.h"
#include "parity.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { CONTENDERS = 3, PAUSE_MICROSECONDS = 100000 };
/* The second is ALL_ROWS with one prompt, else LLAMA_EACH. */
enum contender { LLAMA = 0, ALL_ROWS = 1, LLAMA_EACH = 1, CANDIDATES = 2 };

/* Wall and processor time of a pass. */
struct pass_time {
    double wall, processor;
};

struct bench {
    const char *path, *level;
    bool gpu;
    int threads, canvas, candidates, pairs, changed, prompts, first_mask;
    int passes; /* so far: what the changing positions hold */
    struct llama_peer_model *peer_model;
    struct llama_peer_context *peer;
    struct dllm_engine *engine;
    struct dllm_session *session;
    struct dllm_model_info info;
    struct bench_pass steps; /* with gpu */
    int32_t *ids, *rows;     /* [prompts, canvas], [canvas] */
    float *logits;           /* [canvas, vocab] */
    struct pass_time *times; /* [CONTENDERS][pairs] */
};

static void die(const char *what, const char *why)
{
    fprintf(stderr, "error: %s: %s\n", what, why);
    exit(1);
}

static int integer_argument(char **argv, int index, int low, int high)
{
    char *end;
    long value = strtol(argv[index], &end, 10);

    if (*end != '\0' || end == argv[index] || value < low || value > high) {
        fprintf(stderr, "error: argument %d is \"%s\", expected a number in %d..%d\n", index,
                argv[index], low, high);
        exit(2);
    }
    return (int)value;
}

static void check(const char *what, const char *message)
{
    if (message)
        die(what, message);
}

static void open_peer(struct bench *bench)
{
    struct llama_peer_options options = {.canvas = bench->canvas,
                                         .threads = bench->info.threads,
                                         .prompts = bench->prompts,
                                         .flash_attention = true};

    check("llama.cpp", llama_peer_open(NULL));
    if (bench->gpu)
        check("llama.cpp", llama_peer_model_load_on_gpu(bench->path, (size_t)bench->info.file_bytes,
                                                        &bench->peer_model));
    else
        check("llama.cpp", llama_peer_model_load(bench->path, false, &bench->peer_model));
    check("llama.cpp", llama_peer_context_create(bench->peer_model, &options, &bench->peer));
}

static void open_both(struct bench *bench)
{
    struct dllm_engine_options options = {.model_path = bench->path,
                                          .threads = bench->threads,
                                          .cpu_level = bench->level,
                                          .device = bench->gpu ? "gpu" : "cpu"};
    struct dllm_error error = {0};

    if (dllm_engine_open(&options, &bench->engine, &error) != DLLM_OK ||
        dllm_session_create(bench->engine, &bench->session, &error) != DLLM_OK)
        die("dllm", error.message);
    dllm_engine_info(bench->engine, &bench->info);
    if (bench->gpu &&
        bench_pass_create(&bench->steps, bench->engine, bench->prompts, bench->canvas))
        exit(1);
    open_peer(bench);
    if (llama_peer_vocab_size(bench->peer_model) != bench->info.vocab)
        die("llama.cpp", "the two sides see different vocabularies");
}

static bool has_experts(const struct bench *bench)
{
    return strcmp(bench->info.architecture, "llada-moe") == 0 ||
           strcmp(bench->info.architecture, "rnd1") == 0;
}

static void make_memory(struct bench *bench)
{
    bench->ids = calloc((size_t)bench->prompts * (size_t)bench->canvas, sizeof *bench->ids);
    bench->rows = calloc((size_t)bench->canvas, sizeof *bench->rows);
    bench->logits =
        calloc((size_t)bench->canvas * (size_t)bench->info.vocab, sizeof *bench->logits);
    bench->times = calloc((size_t)bench->pairs * CONTENDERS, sizeof *bench->times);
    if (!bench->ids || !bench->rows || !bench->logits || !bench->times)
        die("bench", "out of memory");
}

/* Scattered ids, others at a position in each prompt and pass. */
static int32_t id_at(const struct bench *bench, int prompt, int position)
{
    return (position * 37 + 5 + prompt * 11 + bench->passes) % bench->info.vocab;
}

/* A prompt of scattered ids, then masks, as in the first step of a run. With experts
 * the candidates alone are masks, as in a last block: these are alike, and a router
 * would send a canvas of them to the same few experts. */
static void fill_canvases(struct bench *bench)
{
    const int most = bench->canvas - bench->candidates;
    const int given = has_experts(bench) ? most : bench->canvas * 20 / 148;

    bench->first_mask = given < most ? given : most;
    for (int i = 0; i < bench->canvas; i++) {
        bench->rows[i] = i;
        for (int prompt = 0; prompt < bench->prompts; prompt++)
            bench->ids[prompt * bench->canvas + i] =
                i < bench->first_mask ? id_at(bench, prompt, i) : bench->info.mask_id;
    }
}

/* Another token at each of the first `changed` positions. */
static void change_canvases(struct bench *bench)
{
    bench->passes++;
    for (int prompt = 0; prompt < bench->prompts; prompt++)
        for (int i = 0; i < bench->changed; i++)
            bench->ids[prompt * bench->canvas + i] = id_at(bench, prompt, i);
    if (bench->gpu && bench->canvas > bench->candidates)
        bench_pass_change(&bench->steps, bench->passes, bench->canvas - bench->candidates);
}

static double processor_seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void run_dllm(struct bench *bench, int prompt, int first, int count)
{
    struct dllm_error error = {0};

    if (dllm_logits(bench->session, bench->ids + (size_t)prompt * (size_t)bench->canvas,
                    (size_t)bench->canvas, bench->rows + first, (size_t)count, true, bench->logits,
                    &error) != DLLM_OK)
        die("dllm", error.message);
}

static void run_llama(struct bench *bench)
{
    check("llama.cpp",
          llama_peer_forward_many(bench->peer, bench->ids, bench->prompts, bench->canvas));
}

static void run_llama_each(struct bench *bench)
{
    for (int prompt = 0; prompt < bench->prompts; prompt++)
        check("llama.cpp",
              llama_peer_forward(bench->peer, bench->ids + prompt * bench->canvas, bench->canvas));
}

/* The pause lets the other side's threads go to sleep; a GPU would only slow down. */
static struct pass_time time_pass(struct bench *bench, enum contender contender)
{
    struct pass_time time;

    change_canvases(bench);
    if (!bench->gpu)
        usleep(PAUSE_MICROSECONDS);
    time = (struct pass_time){clock_seconds(), processor_seconds()};
    if (contender == LLAMA)
        run_llama(bench);
    else if (contender == LLAMA_EACH && bench->prompts > 1)
        run_llama_each(bench);
    else if (contender == ALL_ROWS)
        run_dllm(bench, 0, 0, bench->canvas);
    else
        run_dllm(bench, 0, bench->first_mask, bench->candidates);
    return (struct pass_time){clock_seconds() - time.wall, processor_seconds() - time.processor};
}

/* On a GPU, where the step's own threads start before its time does. */
static struct pass_time time_step(struct bench *bench)
{
    double processor = processor_seconds();
    struct bench_step step;

    change_canvases(bench);
    if (bench_pass_run(&bench->steps, bench->candidates, &step))
        exit(1);
    return (struct pass_time){step.seconds, processor_seconds() - processor};
}

/* Lowest cosine between the two sides' rows: a fast wrong answer is no result. */
static double compare_answers(struct bench *bench)
{
    size_t vocab = (size_t)bench->info.vocab;
    double lowest = 1;

    run_llama(bench);
    for (int prompt = 0; prompt < bench->prompts; prompt++) {
        run_dllm(bench, prompt, 0, bench->canvas);
        for (int row = 0; row < bench->canvas; row++) {
            const float *own = bench->logits + (size_t)row * vocab;
            const float *peer = llama_peer_logits(bench->peer, prompt * bench->canvas + row);

            lowest = fmin(lowest, parity_of_row(own, peer, vocab).cosine);
        }
    }
    return lowest;
}

static struct pass_time time_contender(struct bench *bench, int contender)
{
    if (bench->gpu && contender == CANDIDATES)
        return time_step(bench);
    return time_pass(bench, (enum contender)contender);
}

static void run_pairs(struct bench *bench)
{
    for (int contender = 0; contender < CONTENDERS; contender++)
        time_contender(bench, contender);
    for (int pair = 0; pair < bench->pairs; pair++) {
        for (int turn = 0; turn < CONTENDERS; turn++) {
            int contender = (turn + pair) % CONTENDERS;

            bench->times[contender * bench->pairs + pair] = time_contender(bench, contender);
        }
        fprintf(stderr, "pair %d of %d: llama.cpp %.4f s, %s %.4f s, dllm with %d rows %.4f s\n",
                pair + 1, bench->pairs, bench->times[LLAMA * bench->pairs + pair].wall,
                bench->prompts == 1 ? "dllm" : "one by one",
                bench->times[ALL_ROWS * bench->pairs + pair].wall, bench->candidates,
                bench->times[CANDIDATES * bench->pairs + pair].wall);
    }
}

/* {"wall": [...], "processor": [...]}: seconds of a contender's passes. */
static json_t *times_json(const struct bench *bench, enum contender contender)
{
    json_t *wall = json_array(), *processor = json_array();

    for (int pair = 0; pair < bench->pairs; pair++) {
        const struct pass_time *time = &bench->times[(int)contender * bench->pairs + pair];

        json_array_append_new(wall, json_real(time->wall));
        json_array_append_new(processor, json_real(time->processor));
    }
    return json_pack("{s:o,s:o}", "wall", wall, "processor", processor);
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

static json_t *all_times_json(const struct bench *bench)
{
    return json_pack("{s:o,s:o,s:o}", "llama", times_json(bench, LLAMA),
                     bench->prompts == 1 ? "dllm_all_rows" : "llama_each",
                     times_json(bench, ALL_ROWS), "dllm_rows", times_json(bench, CANDIDATES));
}

static void print_result(const struct bench *bench, double cosine)
{
    const struct dllm_model_info *info = &bench->info;
    json_t *result =
        json_pack("{s:s,s:s,s:s,s:I,s:s,s:s,s:s,s:i,s:i,s:i,s:i,s:i,s:i,s:f,s:s,s:o}", "version",
                  dllm_version(), "model", base_name(bench->path), "arch", info->architecture,
                  "file_bytes", (json_int_t)info->file_bytes, "quantization", info->quantization,
                  "device", info->device, "cpu_level", info->cpu_level, "layers", info->layers,
                  "threads", info->threads, "canvas", bench->canvas, "prompts", bench->prompts,
                  "rows", bench->candidates, "changed", bench->changed, "lowest_cosine", cosine,
                  "llama_libraries", llama_peer_describe(), "seconds", all_times_json(bench));

    if (!result || json_dumpf(result, stdout, JSON_REAL_PRECISION(6)))
        die("bench", "the result could not be written");
    putchar('\n');
    json_decref(result);
}

static void close_both(struct bench *bench)
{
    free(bench->ids);
    free(bench->rows);
    free(bench->logits);
    free(bench->times);
    bench_pass_free(&bench->steps);
    llama_peer_context_free(bench->peer);
    llama_peer_model_free(bench->peer_model);
    dllm_session_destroy(bench->session);
    dllm_engine_close(bench->engine);
}

/* Both forms; one changed position, and every core for llama.cpp's embedding, on a GPU. */
static void read_arguments(struct bench *bench, int argc, char **argv)
{
    bench->path = argv[1];
    bench->gpu = strcmp(argv[2], "gpu") == 0;
    bench->threads = bench->gpu ? 0 : integer_argument(argv, 2, 1, 256);
    bench->canvas = integer_argument(argv, 3, 1, 16384);
    bench->candidates = integer_argument(argv, 4, 1, bench->canvas);
    bench->pairs = integer_argument(argv, 5, 1, 1000);
    bench->prompts = bench->gpu ? integer_argument(argv, 6, 1, BENCH_PROMPTS_MOST) : 1;
    bench->changed = bench->gpu ? 1 : integer_argument(argv, 6, 0, bench->canvas);
    bench->level = argc == 8 ? argv[7] : NULL;
}

int main(int argc, char **argv)
{
    struct bench bench = {0};
    double cosine;

    if (argc != 7 && argc != 8) {
        fprintf(stderr,
                "usage: %s MODEL THREADS CANVAS ROWS PAIRS CHANGED [CPU LEVEL]\n"
                "       %s MODEL gpu CANVAS ROWS PAIRS PROMPTS\n",
                argv[0], argv[0]);
        return 2;
    }
    read_arguments(&bench, argc, argv);
    open_both(&bench);
    make_memory(&bench);
    fill_canvases(&bench);
    cosine = compare_answers(&bench);
    run_pairs(&bench);
    print_result(&bench, cosine);
    close_both(&bench);
    return 0;
}
