/*
 * cpu_visits.c: matmuls of experts. Each expert's inputs lie in a layout of
 * their own, as if its slots were all the tokens there are; an item is some
 * rows of one expert's matrix against them.
 */
#include "cpu_routing.h"

#include <stdlib.h>

enum { MAX_PRODUCTS = 4 };

/* Each view starts its arrays on a cache line of their own: what that adds to
 * one layout for all slots is less than a view of one token and block. */
static size_t storage_bytes(const struct backend_routing_limits *limits, int width, unsigned forms)
{
    return activations_bytes(limits->rows * limits->used, width, forms) +
           (size_t)limits->experts * activations_bytes(1, 1, forms);
}

uint64_t cpu_visits_bytes(const struct backend *base, const struct backend_routing_limits *limits,
                          int width, uint64_t types)
{
    (void)base;
    return storage_bytes(limits, width, backend_cpu_forms(types)) +
           sizeof(struct activations) * (uint64_t)limits->experts;
}

enum dllm_status cpu_visits_create(struct backend *base,
                                   const struct backend_routing_limits *limits, int width,
                                   uint64_t types, struct backend_visits **out,
                                   struct dllm_error *error)
{
    size_t bytes = storage_bytes(limits, width, backend_cpu_forms(types));
    struct backend_visits *visits = calloc(1, sizeof *visits);

    (void)base;
    if (!visits)
        return status_no_memory(error, sizeof *visits);
    visits->views = calloc((size_t)limits->experts, sizeof *visits->views);
    visits->storage = aligned_alloc(CACHE_LINE, bytes);
    if (!visits->views || !visits->storage) {
        cpu_visits_destroy(base, visits);
        return status_no_memory(error, bytes);
    }
    *out = visits;
    return DLLM_OK;
}

void cpu_visits_destroy(struct backend *base, struct backend_visits *visits)
{
    (void)base;
    free(visits->views);
    free(visits->storage);
    free(visits);
}

/* Cuts the storage into the views of the experts that are visited. */
static void lay_out(const struct backend_routing *routing, int width, unsigned forms,
                    struct backend_visits *out)
{
    char *at = out->storage;

    for (int i = 0; i < routing->busy_count; i++) {
        int e = routing->busy[i], slots = routing->first[e + 1] - routing->first[e];

        activations_layout(&out->views[e], at, slots, width, forms);
        at += activations_bytes(slots, width, forms);
    }
}

struct visits_job {
    struct cpu_backend *backend;
    const struct backend_routing *routing;
    const struct backend_buffer *x;  /* by row, or the gate by slot */
    const struct backend_buffer *up; /* by slot; NULL: no gate */
    const struct backend_norm *norm; /* NULL: none */
    struct backend_visits *out;
};

/* Where a visit's inputs lie: a token of its expert's view. */
static struct activations *view_of(const struct visits_job *job, int visit, int *token)
{
    const struct backend_routing *routing = job->routing;
    const int expert = routing->expert[visit];

    *token = routing->slot[visit] - routing->first[expert];
    return &job->out->views[expert];
}

/* A row, normed and rounded once, to all its slots. */
static void prepare_item(void *context, int item, int worker)
{
    const struct visits_job *job = context;
    const struct cpu_kernels *kernels = &job->backend->kernels;
    const int width = job->x->width, used = job->routing->limits.used;
    int token, other_token;
    struct activations *view = view_of(job, item * used, &token);
    const float *x = job->x->data + (size_t)item * (size_t)width;
    float *normed = backend_cpu_scratch(job->backend, worker);

    if (job->norm) {
        kernels->rms_norm(x, job->norm->weight, job->norm->eps, width, normed);
        x = normed;
    }
    kernels->prepare(x, token, view);
    for (int v = item * used + 1; v < (item + 1) * used; v++) {
        struct activations *other = view_of(job, v, &other_token);

        activations_copy_token(view, token, other, other_token);
    }
}

void cpu_prepare_visits(struct backend *base, const struct backend_buffer *x,
                        const struct backend_norm *norm, uint64_t types,
                        const struct backend_routing *routing, struct backend_visits *out)
{
    struct cpu_backend *backend = cpu_of(base);
    struct visits_job job = {
        .backend = backend, .routing = routing, .x = x, .norm = norm, .out = out};

    lay_out(routing, x->width, backend_cpu_forms(types), out);
    backend_cpu_run(backend, routing->rows, prepare_item, &job, &backend->base.profile.other);
}

/* The visits of a row of the canvas: gate and up of its slots. */
static void gated_item(void *context, int item, int worker)
{
    const struct visits_job *job = context;
    const struct cpu_kernels *kernels = &job->backend->kernels;
    const int width = job->x->width, used = job->routing->limits.used;
    float *product = backend_cpu_scratch(job->backend, worker);

    for (int v = item * used; v < (item + 1) * used; v++) {
        size_t at = (size_t)job->routing->slot[v] * (size_t)width;
        int token;
        struct activations *view = view_of(job, v, &token);

        kernels->gated(job->x->data + at, job->up->data + at, width, product);
        kernels->prepare(product, token, view);
    }
}

void cpu_prepare_gated_visits(struct backend *base, const struct backend_buffer *gate,
                              const struct backend_buffer *up, uint64_t types,
                              const struct backend_routing *routing, struct backend_visits *out)
{
    struct cpu_backend *backend = cpu_of(base);
    struct visits_job job = {
        .backend = backend, .routing = routing, .x = gate, .up = up, .out = out};

    lay_out(routing, gate->width, backend_cpu_forms(types), out);
    backend_cpu_run(backend, routing->rows, gated_item, &job, &backend->base.profile.other);
}

struct products_job {
    struct cpu_backend *backend;
    const struct backend_visits *in;
    const struct backend_routing *routing;
    const struct backend_product *products;
    int item_rows;
    int items_each[MAX_PRODUCTS];     /* items of one expert's matrix */
    int first_item[MAX_PRODUCTS + 1]; /* each product takes all busy experts */
};

static void product_item(void *context, int item, int worker)
{
    const struct products_job *job = context;
    const struct backend_matrix *matrix;
    struct matmul_part part;
    size_t bytes;
    int p = 0, expert;

    while (item >= job->first_item[p + 1])
        p++;
    item -= job->first_item[p];
    expert = job->routing->busy[item / job->items_each[p]];
    matrix = job->products[p].matrix;
    bytes = dtype_row_bytes(matrix->type, (uint64_t)matrix->width) * (size_t)matrix->rows;
    part = (struct matmul_part){
        .product = &job->products[p],
        .matrix = (const char *)matrix->data + (size_t)expert * bytes,
        .in = &job->in->views[expert],
        .first_row = item % job->items_each[p] * job->item_rows,
        .first_out = job->routing->first[expert],
    };
    part.tokens = part.in->tokens;
    part.rows = MIN(job->item_rows, matrix->rows - part.first_row);
    backend_cpu_multiply(job->backend, &part, backend_cpu_scratch(job->backend, worker));
}

void cpu_matmul_visits(struct backend *base, const struct backend_visits *in,
                       const struct backend_routing *routing,
                       const struct backend_product *products, int count)
{
    struct cpu_backend *backend = cpu_of(base);
    struct products_job job = {
        .backend = backend, .in = in, .routing = routing, .products = products};
    int64_t rows = 0;

    for (int p = 0; p < count; p++) {
        rows += (int64_t)products[p].matrix->rows * routing->busy_count;
        for (int i = 0; i < routing->busy_count; i++)
            backend_count_product(base, products[p].matrix, in->views[routing->busy[i]].tokens);
    }
    job.item_rows = backend_cpu_item_rows(backend, rows);
    for (int p = 0; p < count; p++) {
        job.items_each[p] = DIV_UP(products[p].matrix->rows, job.item_rows);
        job.first_item[p + 1] = job.first_item[p] + job.items_each[p] * routing->busy_count;
    }
    backend_cpu_run(backend, job.first_item[count], product_item, &job,
                    &backend->base.profile.matmul);
}
