/*
 * bench_matmul.c: rates of the matmul kernels beside the ceiling of their
 * instruction set, measured before and after each run on the same threads.
 *
 *   build/bench/bench_matmul [-t THREADS] [-r RUNS] [-k PART OF A KERNEL'S NAME]
 *                            [-i ROWS PER ITEM] [-c] ROWSxWIDTHxTOKENS...
 *
 * Weights come from a pool larger than the last-level cache, as they do in a
 * model. Runs of all kernels alternate; medians are printed, and the best
 * run as a share of the best ceiling, which is steadier on a machine that others
 * use. With -c time is the CPU time of the process by its threads.
 */
#include "ceiling.h"
#include "clock.h"
#include "compiler.h"
#include "matmul_cases.h"
#include "pool.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MAX_RUNS = 201, MAX_KERNELS = 32, MAX_THREADS = 256, CEILING_ITEMS = 40 };

/* Larger than the last-level caches of the machines this was made for. */
static const size_t weights_bytes = (size_t)320 << 20;

struct kernel {
    char name[40];
    uint32_t type;
    enum cpu_level level;
    matmul_kernel *run;
    char *weights; /* weights_bytes, shared by the kernels of a type */
    double rate[MAX_RUNS], ceiling[MAX_RUNS], share[MAX_RUNS]; /* G operations a second */
};

struct options {
    int threads, runs, item_rows;
    bool cpu_time;
    const char *only;
};

struct bench {
    struct options options;
    struct pool *pool;
    struct kernel kernels[MAX_KERNELS];
    int count;
    void *scratch[MAX_THREADS];
    size_t next; /* where the next run's weights start, whatever the kernel */
};

static void fail(const char *what)
{
    fprintf(stderr, "bench_matmul: %s\n", what);
    exit(1);
}

static void *allocate(size_t bytes)
{
    /* Apart by pages, as the backend's scratch is. */
    void *p = aligned_alloc(4096, ROUND_UP(bytes + 4096, (size_t)4096));
    if (!p) {
        fail("out of memory");
    }
    return p;
}

/* Random blocks; one megabyte of them repeated, which caches cannot know. */
static char *make_weights(uint32_t type)
{
    uint64_t state = type;
    size_t block = 5 * dtype_info(type)->block_bytes * 4096;
    char *weights = allocate(weights_bytes);
    case_fill_weights(&state, type, WEIGHTS_RANDOM, block, weights);
    for (size_t at = block; at < weights_bytes; at += block) {
        memcpy(weights + at, weights, MIN(block, weights_bytes - at));
    }
    return weights;
}

static void add_kernels(struct bench *bench, uint32_t type)
{
    char *weights = NULL;
    matmul_kernel *lower = NULL;
    for (int level = CPU_AVX2; level < CPU_LEVELS; level++) {
        struct cpu_kernels table;
        if (!cpu_level_available((enum cpu_level)level)) {
            continue;
        }
        cpu_kernels_init(&table, (enum cpu_level)level);
        struct kernel *k = &bench->kernels[bench->count];
        *k = (struct kernel){
            .type = type, .level = (enum cpu_level)level, .run = table.matmul[type]};
        snprintf(k->name, sizeof(k->name), "%s %s", dtype_info(type)->name,
                 cpu_level_name((enum cpu_level)level));
        bool same = k->run == lower;
        lower = k->run;
        if (same || (bench->options.only && !strstr(k->name, bench->options.only))) {
            continue;
        }
        weights = weights ? weights : make_weights(type);
        k->weights = weights;
        bench->count++;
    }
}

/* ---------------------------------------------------------------- runs --- */

struct job {
    const struct bench *bench;
    const struct kernel *kernel;
    struct matmul_item item; /* of the whole matrix */
};

static void run_item(void *context, int index, int worker)
{
    const struct job *job = context;
    int step = job->bench->options.item_rows, r = index * step;
    struct matmul_item item = job->item;
    item.weights = (const char *)item.weights + (size_t)r * item.row_bytes;
    item.rows = MIN(step, item.rows - r);
    item.out += r;
    item.scratch = job->bench->scratch[worker];
    job->kernel->run(&item);
}

static void run_ceiling(void *context, int index, int worker)
{
    const struct kernel *k = ((const struct job *)context)->kernel;
    (void)index, (void)worker;
    ceiling_of(k->level, activation_form_of(k->type) == ACTIVATION_F32)();
}

/* Seconds since some moment: of the wall clock, or of CPU time per thread. */
static double bench_seconds(const struct bench *bench)
{
    struct timespec t;
    if (!bench->options.cpu_time) {
        return clock_seconds();
    }
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return ((double)t.tv_sec + (double)t.tv_nsec * 1e-9) / bench->options.threads;
}

/* G operations a second of all threads. */
static double measure_ceiling(const struct bench *bench, struct job *job)
{
    const struct kernel *k = job->kernel;
    double each = ceiling_of(k->level, activation_form_of(k->type) == ACTIVATION_F32)();
    int items = CEILING_ITEMS * bench->options.threads;
    double start = bench_seconds(bench);
    pool_run(bench->pool, items, run_ceiling, job);
    return each * items / (bench_seconds(bench) - start) * 1e-9;
}

struct shape {
    int rows, width, tokens;
};

static void measure(struct bench *bench, struct kernel *k, const struct shape *shape, int run,
                    const struct activations *in, float *out)
{
    size_t row_bytes = dtype_row_bytes(k->type, (uint64_t)shape->width);
    size_t bytes = row_bytes * (size_t)shape->rows;
    if (bytes > weights_bytes) {
        fail("the matrix is larger than the pool of weights");
    }
    bench->next = bench->next + bytes > weights_bytes ? 0 : bench->next / row_bytes * row_bytes;
    struct job job = {.bench = bench,
                      .kernel = k,
                      .item = {.weights = k->weights + bench->next,
                               .row_bytes = row_bytes,
                               .rows = shape->rows,
                               .in = in,
                               .tokens = in->tokens,
                               .out = out,
                               .out_step = (size_t)shape->rows}};
    bench->next += bytes;
    double before = measure_ceiling(bench, &job);
    double start = bench_seconds(bench);
    pool_run(bench->pool, DIV_UP(shape->rows, bench->options.item_rows), run_item, &job);
    double seconds = bench_seconds(bench) - start;
    k->rate[run] = 2e-9 * shape->rows * shape->width * shape->tokens / seconds;
    k->ceiling[run] = (before + measure_ceiling(bench, &job)) / 2;
    k->share[run] = k->rate[run] / k->ceiling[run];
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values, int count)
{
    qsort(values, (size_t)count, sizeof(*values), compare);
    return values[count / 2];
}

/* One line; sorts what was measured. */
static void print_kernel(struct kernel *k, const struct shape *shape, const struct options *o)
{
    double rate = median(k->rate, o->runs), ceiling = median(k->ceiling, o->runs);
    double share = median(k->share, o->runs), best = k->rate[o->runs - 1];
    printf("%-18s %6d %6d %6d %4d %9.1f %9.1f %7.1f %% %7.1f %7.1f %%\n", k->name, shape->rows,
           shape->width, shape->tokens, o->threads, rate, ceiling, 100 * share, best,
           100 * best / k->ceiling[o->runs - 1]);
}

static void bench_shape(struct bench *bench, const struct shape *shape)
{
    const unsigned forms = ACTIVATION_F32 | ACTIVATION_Q8_256 | ACTIVATION_Q8_32;
    void *storage = allocate(activations_bytes(shape->tokens, shape->width, forms));
    float *x = allocate((size_t)shape->width * sizeof(*x));
    float *out = allocate((size_t)shape->rows * (size_t)shape->tokens * sizeof(*out));
    struct cpu_kernels table;
    struct activations in;
    uint64_t state = 1;
    activations_layout(&in, storage, shape->tokens, shape->width, forms);
    cpu_kernels_init(&table, cpu_level_best());
    for (int t = 0; t < shape->tokens; t++) {
        case_fill_inputs(&state, INPUTS_NORMAL, t, shape->width, x);
        table.prepare(x, t, &in);
    }
    memset(out, 0, (size_t)shape->rows * (size_t)shape->tokens * sizeof(*out));
    for (int i = 0; i < bench->options.threads; i++) {
        bench->scratch[i] = allocate(matmul_scratch_bytes(shape->tokens));
    }
    for (int run = 0; run < bench->options.runs; run++) {
        for (int i = 0; i < bench->count; i++) {
            measure(bench, &bench->kernels[i], shape, run, &in, out);
        }
    }
    for (int i = 0; i < bench->count; i++) {
        print_kernel(&bench->kernels[i], shape, &bench->options);
    }
    for (int i = 0; i < bench->options.threads; i++) {
        free(bench->scratch[i]);
    }
    free(out);
    free(x);
    free(storage);
}

static struct options read_options(int argc, char **argv)
{
    struct options o = {.threads = 2, .runs = 9, .item_rows = 128};
    for (int c; (c = getopt(argc, argv, "t:r:k:i:c")) != -1;) {
        switch (c) {
        case 't':
            o.threads = atoi(optarg);
            break;
        case 'r':
            o.runs = atoi(optarg);
            break;
        case 'k':
            o.only = optarg;
            break;
        case 'i':
            o.item_rows = atoi(optarg);
            break;
        case 'c':
            o.cpu_time = true;
            break;
        default:
            fail("options are -t THREADS, -r RUNS, -k KERNEL, -i ROWS, -c");
        }
    }
    if (o.threads < 1 || o.threads > MAX_THREADS || o.runs < 1 || o.runs > MAX_RUNS ||
        o.item_rows < 1) {
        fail("threads are 1..256, runs 1..201, rows per item at least 1");
    }
    return o;
}

int main(int argc, char **argv)
{
    static const uint32_t types[] = {DTYPE_Q4_K, DTYPE_Q5_K, DTYPE_Q6_K, DTYPE_Q8_0,
                                     DTYPE_F16,  DTYPE_BF16, DTYPE_F32};
    static struct bench bench;
    bench.options = read_options(argc, argv);
    for (size_t i = 0; i < ARRAY_COUNT(types); i++) {
        add_kernels(&bench, types[i]);
    }
    struct dllm_error error;
    if (pool_create(bench.options.threads, &bench.pool, &error)) {
        fail(error.message);
    }
    printf("%-18s %6s %6s %6s %4s %9s %9s %9s %7s %9s\n", "kernel", "rows", "width", "tokens",
           "thr", "Gop/s", "ceiling", "share", "best", "share");
    for (int i = optind; i < argc; i++) {
        struct shape shape;
        if (sscanf(argv[i], "%dx%dx%d", &shape.rows, &shape.width, &shape.tokens) != 3) {
            fail("a shape is ROWSxWIDTHxTOKENS, such as 4096x4096x148");
        }
        bench_shape(&bench, &shape);
    }
    for (int i = 0; i < bench.count; i++) {
        if (i == 0 || bench.kernels[i].weights != bench.kernels[i - 1].weights) {
            free(bench.kernels[i].weights);
        }
    }
    pool_destroy(bench.pool);
    return 0;
}
