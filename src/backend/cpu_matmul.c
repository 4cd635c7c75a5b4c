/*
 * cpu_matmul.c: cuts the matrices of a launch into items of consecutive rows
 * that workers claim. Each output is the work of one item, so the number of
 * threads changes no bit.
 */
#include "backend_cpu.h"

enum { MAX_PRODUCTS = 4, PANEL_ROWS = 16, MOST_ITEM_ROWS = 128, ITEMS_PER_THREAD = 8 };

struct matmul_job {
    struct backend *backend;
    const struct activations *in;
    const struct backend_product *products;
    int count, item_rows;
    int first_item[MAX_PRODUCTS + 1];
};

/* Long items let the prefetch of weights run on, but every worker should get
 * several. */
static int choose_item_rows(int rows, int threads)
{
    int item_rows = rows / (threads * ITEMS_PER_THREAD) / PANEL_ROWS * PANEL_ROWS;

    return MIN(MAX(item_rows, PANEL_ROWS), MOST_ITEM_ROWS);
}

static void matmul_one(const struct matmul_job *job, const struct backend_product *product,
                       int first_row, void *scratch)
{
    const struct backend_matrix *matrix = product->matrix;
    struct matmul_item item = {
        .row_bytes = dtype_row_bytes(matrix->type, (uint64_t)matrix->width),
        .rows = MIN(job->item_rows, matrix->rows - first_row),
        .in = job->in,
        .out = product->out->data + first_row,
        .out_step = (size_t)product->out->width,
        .bias = product->bias ? product->bias + first_row : NULL,
        .accumulate = product->accumulate,
        .scratch = scratch,
    };

    item.weights = (const char *)matrix->data + (size_t)first_row * item.row_bytes;
    job->backend->kernels.matmul[matrix->type](&item);
}

static void matmul_item(void *context, int item, int worker)
{
    const struct matmul_job *job = context;
    int p = 0;

    while (item >= job->first_item[p + 1])
        p++;
    matmul_one(job, &job->products[p], (item - job->first_item[p]) * job->item_rows,
               backend_cpu_scratch(job->backend, worker));
}

/* Adds what a product takes to the profile. */
static void count_product(struct backend *backend, const struct backend_matrix *matrix, int tokens)
{
    struct backend_profile *profile = &backend->profile;
    double operations = 2.0 * matrix->rows * matrix->width * tokens;

    if (backend_multiplies_floats(matrix->type))
        profile->float_operations += operations;
    else
        profile->int8_operations += operations;
    profile->weight_bytes +=
        (double)matrix->rows * (double)dtype_row_bytes(matrix->type, (uint64_t)matrix->width);
}

void backend_matmul(struct backend *backend, const struct backend_activations *in,
                    const struct backend_product *products, int count)
{
    struct matmul_job job = {
        .backend = backend, .in = &in->view, .products = products, .count = count};
    int rows = 0;

    for (int p = 0; p < count; p++) {
        rows += products[p].matrix->rows;
        count_product(backend, products[p].matrix, in->view.tokens);
    }
    job.item_rows = choose_item_rows(rows, backend_threads(backend));
    for (int p = 0; p < count; p++)
        job.first_item[p + 1] = job.first_item[p] + DIV_UP(products[p].matrix->rows, job.item_rows);
    backend_cpu_run(backend, job.first_item[count], matmul_item, &job, &backend->profile.matmul);
}
