/* bench_samples.c: samples of repeated measurements: medians, rates, JSON. */
#include "bench.h"

#include "out.h"
#include "progress_line.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool bench_samples_create(struct bench_samples *samples, int capacity)
{
    *samples = (struct bench_samples){.capacity = capacity};
    samples->values = calloc((size_t)capacity * (BENCH_QUANTITIES + 1), sizeof *samples->values);
    return samples->values != NULL;
}

void bench_samples_free(struct bench_samples *samples)
{
    free(samples->values);
    *samples = (struct bench_samples){0};
}

double *bench_values(const struct bench_samples *samples, enum bench_quantity quantity)
{
    return samples->values + (size_t)quantity * (size_t)samples->capacity;
}

static void put(struct bench_samples *samples, enum bench_quantity quantity, double value)
{
    bench_values(samples, quantity)[samples->count] = value;
}

/* 0 where the divisor is not known. */
static double share(double value, double of)
{
    return of > 0 ? value / of : 0;
}

void bench_put_products(struct bench_samples *samples, const struct dllm_products *products,
                        struct bench_ceilings ceilings)
{
    double operations = products->int8_operations + products->float_operations;
    double rate = operations / products->seconds;
    double bandwidth = products->weight_bytes / products->seconds;
    double computing = share(operations, ceilings.operations);
    double reading = share(products->weight_bytes, ceilings.bandwidth);
    double floor = computing > 0 && reading > 0 ? fmax(computing, reading) : 0;

    put(samples, BENCH_OPERATIONS, rate);
    put(samples, BENCH_CEILING, ceilings.operations);
    put(samples, BENCH_SHARE, share(rate, ceilings.operations));
    put(samples, BENCH_BANDWIDTH, bandwidth);
    put(samples, BENCH_BANDWIDTH_CEILING, ceilings.bandwidth);
    put(samples, BENCH_BANDWIDTH_SHARE, share(bandwidth, ceilings.bandwidth));
    put(samples, BENCH_FLOOR, floor);
    put(samples, BENCH_TIMES_FLOOR,
        share(bench_values(samples, BENCH_SECONDS)[samples->count], floor));
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

struct bench_spread bench_spread_of(const struct bench_samples *samples,
                                    enum bench_quantity quantity)
{
    int count = samples->count;
    double *sorted = bench_values(samples, BENCH_QUANTITIES);

    memcpy(sorted, bench_values(samples, quantity), (size_t)count * sizeof *sorted);
    qsort(sorted, (size_t)count, sizeof *sorted, compare);
    return (struct bench_spread){.median = (sorted[(count - 1) / 2] + sorted[count / 2]) / 2,
                                 .low = sorted[0],
                                 .high = sorted[count - 1]};
}

double bench_median(const struct bench_samples *samples, enum bench_quantity quantity)
{
    return bench_spread_of(samples, quantity).median;
}

const char *bench_rate_text(const struct bench_samples *samples, char text[80])
{
    double rate = bench_median(samples, BENCH_OPERATIONS) * 1e-9;
    double ceiling = bench_median(samples, BENCH_CEILING) * 1e-9;

    if (ceiling > 0)
        snprintf(text, 80, "%.1f Gop/s of %.1f (%.1f %%)", rate, ceiling,
                 100 * bench_median(samples, BENCH_SHARE));
    else
        snprintf(text, 80, "%.1f Gop/s (this level has no ceiling)", rate);
    return text;
}

const char *bench_bandwidth_text(const struct bench_samples *samples, char text[80])
{
    double rate = bench_median(samples, BENCH_BANDWIDTH) * 1e-9;
    double ceiling = bench_median(samples, BENCH_BANDWIDTH_CEILING) * 1e-9;

    if (ceiling > 0)
        snprintf(text, 80, "%.2f GB/s of %.1f (%.1f %%)", rate, ceiling,
                 100 * bench_median(samples, BENCH_BANDWIDTH_SHARE));
    else
        snprintf(text, 80, "%.2f GB/s", rate);
    return text;
}

/* The median times unit; null where that of `known` is 0, which stands for not known. */
static json_t *json_if(const struct bench_samples *samples, enum bench_quantity known,
                       enum bench_quantity quantity, double unit)
{
    return bench_median(samples, known) > 0 ? json_real(bench_median(samples, quantity) * unit)
                                            : json_null();
}

static json_t *each_ms(const struct bench_samples *samples)
{
    const double *seconds = bench_values(samples, BENCH_SECONDS);
    json_t *array = json_array();

    for (int i = 0; array && i < samples->count; i++)
        json_array_append_new(array, json_real(seconds[i] * 1000));
    return array;
}

bool bench_add_json(json_t *object, const struct bench_samples *samples)
{
    struct bench_spread time = bench_spread_of(samples, BENCH_SECONDS);
    json_t *more = json_pack(
        "{s:f, s:f, s:f, s:o, s:f, s:f, s:o, s:o, s:o, s:o, s:o, s:o}", "ms", time.median * 1000,
        "ms_min", time.low * 1000, "ms_max", time.high * 1000, "ms_each", each_ms(samples),
        "weight_gb_per_s", bench_median(samples, BENCH_BANDWIDTH) * 1e-9, "gop_per_s",
        bench_median(samples, BENCH_OPERATIONS) * 1e-9, "ceiling_gop_per_s",
        json_if(samples, BENCH_CEILING, BENCH_CEILING, 1e-9), "share_of_ceiling",
        json_if(samples, BENCH_CEILING, BENCH_SHARE, 1), "bandwidth_ceiling_gb_per_s",
        json_if(samples, BENCH_BANDWIDTH_CEILING, BENCH_BANDWIDTH_CEILING, 1e-9),
        "share_of_bandwidth", json_if(samples, BENCH_BANDWIDTH_CEILING, BENCH_BANDWIDTH_SHARE, 1),
        "floor_ms", json_if(samples, BENCH_FLOOR, BENCH_FLOOR, 1000), "times_floor",
        json_if(samples, BENCH_FLOOR, BENCH_TIMES_FLOOR, 1));
    bool failed = !object || !more || json_object_update(object, more);

    json_decref(more);
    return !failed;
}

void bench_progress(const char *what, int done, int count)
{
    if (what)
        progress_line(-1, "%s: %d of %d", what, done, count);
    else
        progress_line_clear();
}
