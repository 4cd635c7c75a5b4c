/*
 * compare_llama.c: the forward pass of dllm and of llama.cpp on the same file,
 * canvas and threads, one after the other in one process, in turns.
 *
 * usage: compare_llama MODEL [THREADS [CANVAS [CANDIDATES [ROUNDS]]]]
 *
 * A round times three passes: llama.cpp's (which computes every row's logits),
 * dllm's with every row, and dllm's with the rows that a denoising step can
 * choose from. Their order turns from round to round. A ratio is the median of
 * the rounds' ratios, so that a machine that slows down and speeds up moves
 * both sides; when the ratios still scatter, nothing is reported (exit 3).
 * The result goes to stdout as one JSON object.
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
#include <unistd.h>

enum { MAX_ROUNDS = 101, CONTENDERS = 3, PAUSE_MICROSECONDS = 100000 };
enum contender { LLAMA = 0, ALL_ROWS, CANDIDATES };

/* Quartiles of the ratios may lie this far apart, as a share of the median. */
static const double MAX_SPREAD = 0.15;
static const double MIN_COSINE = 0.99;

struct bench {
    const char *path;
    int threads, canvas, candidates, rounds, first_mask;
    struct llama_peer_model *peer_model;
    struct llama_peer_context *peer;
    struct dllm_engine *engine;
    struct dllm_session *session;
    struct dllm_model_info info;
    int32_t *ids, *rows; /* [canvas] */
    float *logits;       /* [canvas, vocab] */
    double seconds[CONTENDERS][MAX_ROUNDS];
};

static void die(const char *what, const char *why)
{
    fprintf(stderr, "error: %s: %s\n", what, why);
    exit(1);
}

static int integer_argument(int argc, char **argv, int index, int fallback, int low, int high)
{
    char *end;
    long value;

    if (index >= argc)
        return fallback;
    value = strtol(argv[index], &end, 10);
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
    struct dllm_engine_options options = {.model_path = bench->path, .threads = bench->threads};
    struct dllm_error error = {0};

    if (dllm_engine_open(&options, &bench->engine, &error) != DLLM_OK ||
        dllm_session_create(bench->engine, &bench->session, &error) != DLLM_OK)
        die("dllm", error.message);
    dllm_engine_info(bench->engine, &bench->info);
    check("llama.cpp", llama_peer_open(NULL));
    check("llama.cpp", llama_peer_model_load(bench->path, false, &bench->peer_model));
    check("llama.cpp", llama_peer_context_create(bench->peer_model, bench->canvas, bench->threads,
                                                 true, &bench->peer));
    if (llama_peer_vocab_size(bench->peer_model) != bench->info.vocab)
        die("llama.cpp", "the two sides see different vocabularies");
}

/* A prompt of scattered ids, then masks, as in the first step of a run. */
static void fill_canvas(struct bench *bench)
{
    int prompt = bench->canvas * 20 / 148;

    bench->first_mask =
        prompt < bench->canvas - bench->candidates ? prompt : bench->canvas - bench->candidates;
    bench->ids = calloc((size_t)bench->canvas, sizeof *bench->ids);
    bench->rows = calloc((size_t)bench->canvas, sizeof *bench->rows);
    bench->logits =
        calloc((size_t)bench->canvas * (size_t)bench->info.vocab, sizeof *bench->logits);
    if (!bench->ids || !bench->rows || !bench->logits)
        die("bench", "out of memory");
    for (int i = 0; i < bench->canvas; i++) {
        bench->ids[i] =
            i < bench->first_mask ? (i * 37 + 5) % bench->info.vocab : bench->info.mask_id;
        bench->rows[i] = i;
    }
}

/* Seconds of one pass. The pause lets the other side's threads go to sleep. */
static double time_pass(struct bench *bench, enum contender contender)
{
    int count = contender == CANDIDATES ? bench->candidates : bench->canvas;
    const int32_t *rows = bench->rows + (contender == CANDIDATES ? bench->first_mask : 0);
    struct dllm_error error = {0};
    double began;

    usleep(PAUSE_MICROSECONDS);
    began = clock_seconds();
    if (contender == LLAMA)
        check("llama.cpp", llama_peer_forward(bench->peer, bench->ids, bench->canvas));
    else if (dllm_logits(bench->session, bench->ids, (size_t)bench->canvas, rows, (size_t)count,
                         true, bench->logits, &error) != DLLM_OK)
        die("dllm", error.message);
    return clock_seconds() - began;
}

/* Lowest cosine between the two sides' rows: a fast wrong answer is no result. */
static double compare_answers(struct bench *bench)
{
    size_t vocab = (size_t)bench->info.vocab;
    double lowest = 1;

    time_pass(bench, LLAMA);
    time_pass(bench, ALL_ROWS);
    for (int row = 0; row < bench->canvas; row++)
        lowest = fmin(lowest, parity_of_row(bench->logits + (size_t)row * vocab,
                                            llama_peer_logits(bench->peer, row), vocab)
                                  .cosine);
    return lowest;
}

static void run_rounds(struct bench *bench)
{
    for (int contender = 0; contender < CONTENDERS; contender++)
        time_pass(bench, (enum contender)contender);
    for (int round = 0; round < bench->rounds; round++)
        for (int turn = 0; turn < CONTENDERS; turn++) {
            int contender = (turn + round) % CONTENDERS;

            bench->seconds[contender][round] = time_pass(bench, (enum contender)contender);
        }
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

struct spread {
    double low, median, high; /* quartiles */
};

static struct spread spread_of(const double *values, int count)
{
    double sorted[MAX_ROUNDS];

    memcpy(sorted, values, (size_t)count * sizeof *sorted);
    qsort(sorted, (size_t)count, sizeof *sorted, compare_doubles);
    return (struct spread){sorted[count / 4], sorted[count / 2], sorted[count - 1 - count / 4]};
}

/* How many times faster a contender is than llama.cpp, round by round. */
static struct spread ratio_of(const struct bench *bench, enum contender contender)
{
    double ratios[MAX_ROUNDS];

    for (int round = 0; round < bench->rounds; round++)
        ratios[round] = bench->seconds[LLAMA][round] / bench->seconds[contender][round];
    return spread_of(ratios, bench->rounds);
}

/* Distance of the quartiles in per cent of the median. */
static double scatter(struct spread spread)
{
    return 100 * (spread.high - spread.low) / spread.median;
}

static bool too_wide(struct spread spread)
{
    return scatter(spread) > 100 * MAX_SPREAD;
}

static double rounded(double value, double step)
{
    return round(value / step) * step;
}

static json_t *spread_json(struct spread spread, double step)
{
    return json_pack("{s:f,s:f,s:f}", "low_quartile", rounded(spread.low, step), "median",
                     rounded(spread.median, step), "high_quartile", rounded(spread.high, step));
}

/* The processor's name, as the system tells it. */
static const char *processor_name(void)
{
    static char line[256];
    FILE *file = fopen("/proc/cpuinfo", "r");
    const char *name = "unknown";

    while (file && fgets(line, sizeof line, file))
        if (strncmp(line, "model name", 10) == 0 && strchr(line, ':')) {
            line[strcspn(line, "\n")] = '\0';
            name = strchr(line, ':') + 2;
            break;
        }
    if (file)
        fclose(file);
    return name;
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

static void print_result(const struct bench *bench, double cosine)
{
    json_t *result = json_pack(
        "{s:s,s:s,s:s,s:I,s:s,s:s,s:s,s:i,s:i,s:i,s:i,s:f,s:o,s:o,s:o,s:o,s:o}", "benchmark",
        "forward pass, dllm and llama.cpp in turns", "version", dllm_version(), "model",
        base_name(bench->path), "file_bytes", (json_int_t)bench->info.file_bytes, "quantization",
        bench->info.quantization, "cpu", processor_name(), "cpu_level", bench->info.cpu_level,
        "threads", bench->threads, "canvas", bench->canvas, "candidates", bench->candidates,
        "rounds", bench->rounds, "lowest_cosine", rounded(cosine, 1e-6), "llama_seconds",
        spread_json(spread_of(bench->seconds[LLAMA], bench->rounds), 1e-4), "dllm_all_rows_seconds",
        spread_json(spread_of(bench->seconds[ALL_ROWS], bench->rounds), 1e-4),
        "dllm_candidates_seconds",
        spread_json(spread_of(bench->seconds[CANDIDATES], bench->rounds), 1e-4),
        "times_faster_all_rows", spread_json(ratio_of(bench, ALL_ROWS), 1e-3),
        "times_faster_candidates", spread_json(ratio_of(bench, CANDIDATES), 1e-3));

    if (!result)
        die("bench", "the result could not be put together");
    json_dumpf(result, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(6));
    putchar('\n');
    json_decref(result);
}

static void close_both(struct bench *bench)
{
    free(bench->ids);
    free(bench->rows);
    free(bench->logits);
    llama_peer_context_free(bench->peer);
    llama_peer_model_free(bench->peer_model);
    dllm_session_destroy(bench->session);
    dllm_engine_close(bench->engine);
}

int main(int argc, char **argv)
{
    struct bench bench = {.path = argc > 1 ? argv[1] : NULL};
    double cosine;
    int status = 0;

    if (argc < 2 || argc > 6) {
        fprintf(stderr, "usage: %s MODEL [THREADS [CANVAS [CANDIDATES [ROUNDS]]]]\n", argv[0]);
        return 2;
    }
    bench.threads = integer_argument(argc, argv, 2, (int)sysconf(_SC_NPROCESSORS_ONLN), 1, 256);
    bench.canvas = integer_argument(argc, argv, 3, 148, 8, 4096);
    bench.candidates = integer_argument(argc, argv, 4, 32, 1, bench.canvas);
    bench.rounds = integer_argument(argc, argv, 5, 7, 1, MAX_ROUNDS);
    open_both(&bench);
    fill_canvas(&bench);
    cosine = compare_answers(&bench);
    run_rounds(&bench);
    if (cosine < MIN_COSINE) {
        fprintf(stderr, "no result: the logits differ (lowest cosine %.4f)\n", cosine);
        status = 1;
    } else if (too_wide(ratio_of(&bench, ALL_ROWS)) || too_wide(ratio_of(&bench, CANDIDATES))) {
        fprintf(stderr,
                "no result: the rounds' ratios scatter by %.0f %% (all rows) and %.0f %% "
                "(candidates) between quartiles, at most %.0f %% was expected; run it again when "
                "nothing else is running\n",
                scatter(ratio_of(&bench, ALL_ROWS)), scatter(ratio_of(&bench, CANDIDATES)),
                100 * MAX_SPREAD);
        status = 3;
    } else {
        print_result(&bench, cosine);
    }
    close_both(&bench);
    return status;
}
