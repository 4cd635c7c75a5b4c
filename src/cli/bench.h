/*
 * bench.h: what the two measurements of dllm bench share: samples, their
 * medians, and how rates are printed.
 */
#ifndef BENCH_H
#define BENCH_H

#include "cli.h"

#include <jansson.h>

/* What is kept of each repetition. Seconds unless said otherwise. */
enum bench_quantity {
    BENCH_SECONDS = 0, /* all of it */
    BENCH_MATMUL,
    BENCH_ATTENTION,
    BENCH_HEAD,
    BENCH_REST,
    BENCH_OPERATIONS,        /* a second, inside matrix products */
    BENCH_CEILING,           /* operations a second that the processor can reach; 0: unknown */
    BENCH_SHARE,             /* operations / ceiling */
    BENCH_BANDWIDTH,         /* bytes of weights a second, inside matrix products */
    BENCH_BANDWIDTH_CEILING, /* bytes a second that a GPU can read; 0: not measured */
    BENCH_BANDWIDTH_SHARE,   /* bandwidth / its ceiling */
    BENCH_FLOOR,             /* seconds that both ceilings allow at least; 0: unknown */
    BENCH_TIMES_FLOOR,       /* all of it / floor */
    BENCH_PROCESSOR,         /* seconds of processor time a second */
    BENCH_QUANTITIES
};

struct bench_samples {
    int count, capacity;
    double *values; /* [BENCH_QUANTITIES + 1][capacity], owned; the last for sorting */
};

struct bench_spread {
    double median, low, high;
};

/* Room for `capacity` repetitions; false without memory. Free with
 * bench_samples_free, which takes a zeroed record. */
bool bench_samples_create(struct bench_samples *samples, int capacity);
void bench_samples_free(struct bench_samples *samples);

/* The values of a quantity, [count] so far. */
double *bench_values(const struct bench_samples *samples, enum bench_quantity quantity);

/* What the device reaches at most: operations (of products' mix) and bytes a second; 0: not
 * known. */
struct bench_ceilings {
    double operations, bandwidth;
};

/* Fills in rates, ceilings, shares and floor of the repetition at hand, number count, whose
 * seconds are there. */
void bench_put_products(struct bench_samples *samples, const struct dllm_products *products,
                        struct bench_ceilings ceilings);

/* Of at least one repetition. */
struct bench_spread bench_spread_of(const struct bench_samples *samples,
                                    enum bench_quantity quantity);
double bench_median(const struct bench_samples *samples, enum bench_quantity quantity);

/* "612.3 Gop/s of 932.0 (65.7 %)", or the first part where there is no ceiling. */
const char *bench_rate_text(const struct bench_samples *samples, char text[80]);

/* Of a GPU: "2100.0 GB/s of 4100.0 (51.2 %)", or the first part. */
const char *bench_bandwidth_text(const struct bench_samples *samples, char text[80]);

/* Adds median, min, max and each time in milliseconds, and the rates, to an
 * object; false without memory. */
bool bench_add_json(json_t *object, const struct bench_samples *samples);

/* On a terminal: one line on stderr that the next call replaces; NULL clears it. */
void bench_progress(const char *what, int done, int count);

/* How often each measurement is repeated. */
int bench_reps(const struct opts *opts);

/* The two measurements; each returns the exit code. Indices of opts are those
 * of enum bench_option. */
int bench_run_steps(const struct opts *opts);
int bench_run_products(const struct opts *opts);

enum bench_option {
    BENCH_MODEL,
    BENCH_PULL,
    BENCH_PRODUCTS,
    BENCH_CANVAS,
    BENCH_PROMPTS,
    BENCH_ROWS,
    BENCH_ALL_ROWS,
    BENCH_REPS,
    BENCH_FORCE,
    BENCH_THREADS,
    BENCH_DEVICE,
    BENCH_GPU_LAYERS,
    BENCH_CPU_LEVEL,
    BENCH_JSON,
    BENCH_OPTIONS
};

#endif
