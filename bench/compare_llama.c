/*
 * compare_llama.c: times the forward pass of dllm and of llama.cpp on the same
 * file, canvas and threads, in turns, in one process. bench/compare runs it and
 * judges the times.
 *
 * usage: compare_llama MODEL THREADS CANVAS ROWS PAIRS CHANGED [CPU LEVEL]
 *
 * A pair is three passes: llama.cpp's (which computes every row's logits),
 * dllm's with every row, and dllm's with the ROWS that a denoising step can
 * choose from. Their order turns from pair to pair. CHANGED positions get
 * another token before each pass; dllm reuses its first layer's projections of
 * the others, as it does from step to step.
 * Prints one JSON object: facts and every time.
 */
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
enum contender { LLAMA = 0, ALL_ROWS, CANDIDATES };

/* Wall and processor time of a pass. */
struct pass_time {
    double wall, processor;
};

struct bench {
    const char *path, *level;
    int threads, canvas, candidates, pairs, changed, first_mask;
    int passes; /* so far: what the changing positions hold */
    struct llama_peer_model *peer_model;
    struct llama_peer_context *peer;
    struct dllm_engine *engine;
    struct dllm_session *session;
    struct dllm_model_info info;
    int32_t *ids, *rows;     /* [canvas] */
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

static void open_both(struct bench *bench)
{
    struct dllm_engine_options options = {
        .model_path = bench->path, .threads = bench->threads, .cpu_level = bench->level};
    struct llama_peer_options peer_options = {
        .canvas = bench->canvas, .threads = bench->threads, .flash_attention = true};
    struct dllm_error error = {0};

    if (dllm_engine_open(&options, &bench->engine, &error) != DLLM_OK ||
        dllm_session_create(bench->engine, &bench->session, &error) != DLLM_OK)
        die("dllm", error.message);
    dllm_engine_info(bench->engine, &bench->info);
    check("llama.cpp", llama_peer_open(NULL));
    check("llama.cpp", llama_peer_model_load(bench->path, false, &bench->peer_model));
    check("llama.cpp", llama_peer_context_create(bench->peer_model, &peer_options, &bench->peer));
    if (llama_peer_vocab_size(bench->peer_model) != bench->info.vocab)
        die("llama.cpp", "the two sides see different vocabularies");
}

static bool has_experts(const struct bench *bench)
{
    return strcmp(bench->info.architecture, "llada-moe") == 0 ||
           strcmp(bench->info.architecture, "rnd1") == 0;
}

/* A prompt of scattered ids, then masks, as in the first step of a run. With experts
 * the candidates alone are masks, as in a last block: these are alike, and a router
 * would send a canvas of them to the same few experts. */
static void fill_canvas(struct bench *bench)
{
    const int most = bench->canvas - bench->candidates;
    const int prompt = has_experts(bench) ? most : bench->canvas * 20 / 148;

    bench->first_mask = prompt < most ? prompt : most;
    bench->ids = calloc((size_t)bench->canvas, sizeof *bench->ids);
    bench->rows = calloc((size_t)bench->canvas, sizeof *bench->rows);
    bench->logits =
        calloc((size_t)bench->canvas * (size_t)bench->info.vocab, sizeof *bench->logits);
    bench->times = calloc((size_t)bench->pairs * CONTENDERS, sizeof *bench->times);
    if (!bench->ids || !bench->rows || !bench->logits || !bench->times)
        die("bench", "out of memory");
    for (int i = 0; i < bench->canvas; i++) {
        bench->ids[i] =
            i < bench->first_mask ? (i * 37 + 5) % bench->info.vocab : bench->info.mask_id;
        bench->rows[i] = i;
    }
}

/* Another token at each of the first `changed` positions. */
static void change_canvas(struct bench *bench)
{
    bench->passes++;
    for (int i = 0; i < bench->changed; i++)
        bench->ids[i] = (i * 37 + 5 + bench->passes) % bench->info.vocab;
}

static double processor_seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void run_pass(struct bench *bench, enum contender contender)
{
    int count = contender == CANDIDATES ? bench->candidates : bench->canvas;
    const int32_t *rows = bench->rows + (contender == CANDIDATES ? bench->first_mask : 0);
    struct dllm_error error = {0};

    if (contender == LLAMA)
        check("llama.cpp", llama_peer_forward(bench->peer, bench->ids, bench->canvas));
    else if (dllm_logits(bench->session, bench->ids, (size_t)bench->canvas, rows, (size_t)count,
                         true, bench->logits, &error) != DLLM_OK)
        die("dllm", error.message);
}

/* The pause lets the other side's threads go to sleep. */
static struct pass_time time_pass(struct bench *bench, enum contender contender)
{
    struct pass_time time;

    change_canvas(bench);
    usleep(PAUSE_MICROSECONDS);
    time = (struct pass_time){clock_seconds(), processor_seconds()};
    run_pass(bench, contender);
    return (struct pass_time){clock_seconds() - time.wall, processor_seconds() - time.processor};
}

/* Lowest cosine between the two sides' rows: a fast wrong answer is no result. */
static double compare_answers(struct bench *bench)
{
    size_t vocab = (size_t)bench->info.vocab;
    double lowest = 1;

    run_pass(bench, LLAMA);
    run_pass(bench, ALL_ROWS);
    for (int row = 0; row < bench->canvas; row++)
        lowest = fmin(lowest, parity_of_row(bench->logits + (size_t)row * vocab,
                                            llama_peer_logits(bench->peer, row), vocab)
                                  .cosine);
    return lowest;
}

static void run_pairs(struct bench *bench)
{
    for (int contender = 0; contender < CONTENDERS; contender++)
        time_pass(bench, (enum contender)contender);
    for (int pair = 0; pair < bench->pairs; pair++) {
        for (int turn = 0; turn < CONTENDERS; turn++) {
            int contender = (turn + pair) % CONTENDERS;

            bench->times[contender * bench->pairs + pair] =
                time_pass(bench, (enum contender)contender);
        }
        fprintf(stderr, "pair %d of %d: llama.cpp %.3f s, dllm %.3f s, with %d rows %.3f s\n",
                pair + 1, bench->pairs, bench->times[LLAMA * bench->pairs + pair].wall,
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

static void print_result(const struct bench *bench, double cosine)
{
    json_t *result = json_pack(
        "{s:s,s:s,s:s,s:I,s:s,s:s,s:i,s:i,s:i,s:i,s:i,s:f,s:s,s:o}", "version", dllm_version(),
        "model", base_name(bench->path), "arch", bench->info.architecture, "file_bytes",
        (json_int_t)bench->info.file_bytes, "quantization", bench->info.quantization, "cpu_level",
        bench->info.cpu_level, "layers", bench->info.layers, "threads", bench->threads, "canvas",
        bench->canvas, "rows", bench->candidates, "changed", bench->changed, "lowest_cosine",
        cosine, "llama_libraries", llama_peer_describe(), "seconds",
        json_pack("{s:o,s:o,s:o}", "llama", times_json(bench, LLAMA), "dllm_all_rows",
                  times_json(bench, ALL_ROWS), "dllm_rows", times_json(bench, CANDIDATES)));

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
    llama_peer_context_free(bench->peer);
    llama_peer_model_free(bench->peer_model);
    dllm_session_destroy(bench->session);
    dllm_engine_close(bench->engine);
}

int main(int argc, char **argv)
{
    struct bench bench = {0};
    double cosine;

    if (argc != 7 && argc != 8) {
        fprintf(stderr, "usage: %s MODEL THREADS CANVAS ROWS PAIRS CHANGED [CPU LEVEL]\n", argv[0]);
        return 2;
    }
    bench.path = argv[1];
    bench.threads = integer_argument(argv, 2, 1, 256);
    bench.canvas = integer_argument(argv, 3, 1, 16384);
    bench.candidates = integer_argument(argv, 4, 1, bench.canvas);
    bench.pairs = integer_argument(argv, 5, 1, 1000);
    bench.changed = integer_argument(argv, 6, 0, bench.canvas);
    bench.level = argc == 8 ? argv[7] : NULL;
    open_both(&bench);
    fill_canvas(&bench);
    cosine = compare_answers(&bench);
    run_pairs(&bench);
    print_result(&bench, cosine);
    close_both(&bench);
    return 0;
}
