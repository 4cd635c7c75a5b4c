/* bench_products.c: dllm bench --matmul: products of random matrices of given shapes. */
#include "bench.h"
#include "out.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct product_bench {
    const struct opts *opts;
    int reps;
    struct dllm_product_options options; /* of the shape at hand */
    double bandwidth;                    /* as dllm_product_bandwidth, of it */
    json_t *results;                     /* NULL: text */
    bool headed;                         /* the table's head is printed */
};

/* GGUF types are numbered below this. */
enum { TYPES = 64 };

static bool find_type(const char *name, size_t length, uint32_t *out)
{
    for (uint32_t type = 0; type < TYPES; type++) {
        const char *known = dllm_type_name(type);

        if (known && strlen(known) == length && strncasecmp(known, name, length) == 0) {
            *out = type;
            return true;
        }
    }
    return false;
}

/* A positive number at *at, which moves behind it and behind `end`. */
static bool take_size(const char **at, char end, int *out)
{
    char *behind;
    long value;

    if (**at < '1' || **at > '9')
        return false;
    value = strtol(*at, &behind, 10);
    if (*behind != end || value > INT32_MAX)
        return false;
    *out = (int)value;
    *at = behind + (end != '\0');
    return true;
}

static int parse_shape(const char *text, struct dllm_product_options *out)
{
    size_t length = strcspn(text, ":");
    const char *at = text + length + 1;

    if (text[length] && take_size(&at, 'x', &out->rows) && take_size(&at, 'x', &out->width) &&
        take_size(&at, '\0', &out->tokens)) {
        if (find_type(text, length, &out->type))
            return CLI_OK;
        return cli_fail(CLI_USAGE,
                        "--matmul %.60s: there is no type \"%.*s\"; Q4_K and Q6_K are two", text,
                        (int)(length < 20 ? length : 20), text);
    }
    return cli_fail(CLI_USAGE,
                    "--matmul needs TYPE:ROWSxWIDTHxTOKENS, such as Q4_K:4096x4096x148, not "
                    "\"%.60s\"",
                    text);
}

/* All of them, before the first is measured. */
static int check_shapes(const struct opts *opts)
{
    const struct opt_value *shapes = &opts->values[BENCH_PRODUCTS];
    struct dllm_product_options options = {0};
    struct dllm_error error = {0};

    for (int i = 0; i < shapes->given; i++) {
        int code = parse_shape(shapes->texts[i], &options);

        if (code)
            return code;
        if (dllm_product_check(&options, &error))
            return cli_fail(CLI_USAGE, "--matmul %.60s: %s", shapes->texts[i], error.message);
    }
    return CLI_OK;
}

static bool on_gpu(const struct dllm_product *product)
{
    return strcmp(dllm_product_device(product), "cpu") != 0;
}

static void print_head(struct product_bench *bench, const struct dllm_product *product)
{
    if (bench->headed)
        return;
    bench->headed = true;
    if (on_gpu(product))
        printf("%s, ", dllm_product_device(product));
    printf("level %s, %d thread%s, %d repetitions\n\n", dllm_product_cpu_level(product),
           dllm_product_threads(product), dllm_product_threads(product) == 1 ? "" : "s",
           bench->reps);
    if (on_gpu(product))
        printf("%-6s %-21s %10s %10s %10s  %s\n", "type", "rows x width x tokens", "ms", "min",
               "max", "int8 or float operations, weights read, ceilings");
    else
        printf("%-6s %-21s %10s %10s %10s %8s  %s\n", "type", "rows x width x tokens", "ms", "min",
               "max", "GB/s", "int8 or f32 operations, ceiling");
}

static void print_row(const struct product_bench *bench, const struct dllm_product *product,
                      const struct bench_samples *samples)
{
    const struct dllm_product_options *options = &bench->options;
    struct bench_spread time = bench_spread_of(samples, BENCH_SECONDS);
    char shape[64], rate[80], bandwidth[80];

    snprintf(shape, sizeof shape, "%dx%dx%d", options->rows, options->width, options->tokens);
    printf("%-6s %-21s %10.3f %10.3f %10.3f ", dllm_type_name(options->type), shape,
           time.median * 1000, time.low * 1000, time.high * 1000);
    if (on_gpu(product))
        printf(" %s, %s\n", bench_rate_text(samples, rate),
               bench_bandwidth_text(samples, bandwidth));
    else
        printf("%8.2f  %s\n", bench_median(samples, BENCH_BANDWIDTH) * 1e-9,
               bench_rate_text(samples, rate));
    fflush(stdout);
}

static int add_result(struct product_bench *bench, const struct dllm_product *product,
                      const struct bench_samples *samples)
{
    const struct dllm_product_options *options = &bench->options;
    json_t *result =
        json_pack("{s:s, s:i, s:i, s:i, s:s, s:s, s:i}", "type", dllm_type_name(options->type),
                  "rows", options->rows, "width", options->width, "tokens", options->tokens,
                  "device", dllm_product_device(product), "cpu_level",
                  dllm_product_cpu_level(product), "threads", dllm_product_threads(product));

    if (bench_add_json(result, samples) && !json_array_append(bench->results, result)) {
        json_decref(result);
        return CLI_OK;
    }
    json_decref(result);
    return cli_fail(CLI_FAILURE, "out of memory");
}

static int sample_product(struct product_bench *bench, struct dllm_product *product,
                          struct bench_samples *samples)
{
    struct dllm_products run;
    struct dllm_error error;
    double ceiling;

    bench_progress(dllm_type_name(bench->options.type), samples->count + 1, bench->reps);
    if (dllm_product_run(product, &run, &ceiling, &error))
        return cli_fail_error(&error);
    bench_values(samples, BENCH_SECONDS)[samples->count] = run.seconds;
    bench_put_products(samples, &run, (struct bench_ceilings){ceiling, bench->bandwidth});
    samples->count++;
    return cli_interrupted() ? CLI_INTERRUPTED : CLI_OK;
}

static int measure(struct product_bench *bench, struct dllm_product *product,
                   struct bench_samples *samples)
{
    struct dllm_products first;
    struct dllm_error error;
    int code = CLI_OK;

    if (dllm_product_run(product, &first, NULL, &error))
        return cli_fail_error(&error);
    bench->bandwidth = dllm_product_bandwidth(product);
    while (samples->count < bench->reps && !code)
        code = sample_product(bench, product, samples);
    bench_progress(NULL, 0, 0);
    return code;
}

static int run_shape(struct product_bench *bench, const char *text)
{
    struct dllm_product *product = NULL;
    struct bench_samples samples = {0};
    struct dllm_error error = {0};
    int code;

    parse_shape(text, &bench->options);
    if (dllm_product_create(&bench->options, &product, &error))
        return cli_fail_error(&error);
    if (bench_samples_create(&samples, bench->reps))
        code = measure(bench, product, &samples);
    else
        code = cli_fail(CLI_FAILURE, "out of memory");
    if (!code && bench->results)
        code = add_result(bench, product, &samples);
    if (!code && !bench->results) {
        print_head(bench, product);
        print_row(bench, product, &samples);
    }
    bench_samples_free(&samples);
    dllm_product_destroy(product);
    return code;
}

static int print_results(struct product_bench *bench)
{
    return out_print_json(json_pack("{s:s, s:i, s:O}", "version", dllm_version(), "reps",
                                    bench->reps, "products", bench->results));
}

static int run_shapes(struct product_bench *bench)
{
    const struct opt_value *shapes = &bench->opts->values[BENCH_PRODUCTS];
    int code = CLI_OK;

    for (int i = 0; i < shapes->given && !code; i++)
        code = run_shape(bench, shapes->texts[i]);
    if (code)
        return code;
    return bench->results ? print_results(bench) : out_finish();
}

int bench_run_products(const struct opts *opts)
{
    struct product_bench bench = {.opts = opts, .reps = bench_reps(opts)};
    int code = check_shapes(opts);

    if (code)
        return code;
    bench.options.threads = (int)opts->values[BENCH_THREADS].integer;
    bench.options.cpu_level = opts->values[BENCH_CPU_LEVEL].text;
    bench.options.device =
        cli_device_name(&opts->values[BENCH_DEVICE], &opts->values[BENCH_GPU_LAYERS]);
    if (opts->values[BENCH_JSON].given && !(bench.results = json_array()))
        return cli_fail(CLI_FAILURE, "out of memory");
    code = run_shapes(&bench);
    json_decref(bench.results);
    return code;
}
