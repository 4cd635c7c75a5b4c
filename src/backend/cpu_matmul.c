/*
 * cpu_matmul.c: cuts the matrices of a launch into items, consecutive rows
 * against consecutive tokens, that workers claim. Each output is the work of one
 * item, so the number of threads changes no bit.
 */
#include "backend_cpu.h"

enum { MAX_PRODUCTS = 4, PANEL_ROWS = 16, MOST_ITEM_ROWS = 128, ITEMS_PER_THREAD = 8 };

/* Of one item. Inputs of more would not stay in the last cache from one panel of
 * rows to the next: the items of a block of tokens are claimed one after the other,
 * so that all workers meet the same inputs, and weights are read once a block. */
enum { MOST_ITEM_TOKENS = 384 };

/* Inputs that stay in a second-level cache of 2 MB from one panel of rows to the next; of more, a
 * part of the width is met by all rows of an item before the next part. */
enum { NEAR_INPUT_BYTES = 640 << 10 };

struct matmul_job {
    struct cpu_backend *backend;
    const struct activations *in;
    const struct backend_product *products;
    int count, item_rows, token_blocks;
    int first_item[MAX_PRODUCTS + 1];
};

/* Long items let the prefetch of weights run on, but every worker should get
 * several. */
int backend_cpu_item_rows(const struct cpu_backend *backend, int64_t rows)
{
    int64_t items = (int64_t)pool_threads(backend->pool) * ITEMS_PER_THREAD;
    int64_t item_rows = rows / items / PANEL_ROWS * PANEL_ROWS;

    return (int)MIN(MAX(item_rows, PANEL_ROWS), MOST_ITEM_ROWS);
}

/* Parts are equal but for one block. */
static int blocks_at_once(int blocks, int tokens)
{
    const int most = MAX(NEAR_INPUT_BYTES / SUPER_BLOCK / tokens, 1);

    return DIV_UP(blocks, DIV_UP(blocks, most));
}

void backend_cpu_multiply(const struct cpu_backend *backend, const struct matmul_part *part,
                          void *scratch)
{
    const struct backend_product *product = part->product;
    const struct backend_matrix *matrix = product->matrix;
    const size_t step = (size_t)product->out->width;
    const size_t first_out = (size_t)(part->first_out + part->first_token);
    struct matmul_item item = {
        .row_bytes = dtype_row_bytes(matrix->type, (uint64_t)matrix->width),
        .rows = part->rows,
        .in = part->in,
        .first_token = part->first_token,
        .tokens = part->tokens,
        .blocks_at_once = blocks_at_once(part->in->blocks, part->tokens),
        .out = product->out->data + first_out * step + part->first_row,
        .out_step = step,
        .bias = product->bias ? product->bias + part->first_row : NULL,
        .accumulate = product->accumulate,
        .scratch = scratch,
    };

    item.weights = (const char *)part->matrix + (size_t)part->first_row * item.row_bytes;
    backend->kernels.matmul[matrix->type](&item);
}

/* Blocks are equal but for one token. */
static int first_token(const struct matmul_job *job, int block)
{
    return (int)((int64_t)job->in->tokens * block / job->token_blocks);
}

static void matmul_item(void *context, int item, int worker)
{
    const struct matmul_job *job = context;
    const int block_items = job->first_item[job->count];
    struct matmul_part part = {.in = job->in};
    int p = 0;

    part.first_token = first_token(job, item / block_items);
    part.tokens = first_token(job, item / block_items + 1) - part.first_token;
    item %= block_items;
    while (item >= job->first_item[p + 1])
        p++;
    part.product = &job->products[p];
    part.matrix = part.product->matrix->data;
    part.first_row = (item - job->first_item[p]) * job->item_rows;
    part.rows = MIN(job->item_rows, part.product->matrix->rows - part.first_row);
    backend_cpu_multiply(job->backend, &part, backend_cpu_scratch(job->backend, worker));
}

void cpu_matmul(struct backend *base, const struct backend_activations *in,
                const struct backend_product *products, int count)
{
    struct cpu_backend *backend = cpu_of(base);
    struct matmul_job job = {
        .backend = backend, .in = &in->view, .products = products, .count = count};
    int rows = 0;

    for (int p = 0; p < count; p++) {
        rows += products[p].matrix->rows;
        backend_count_product(base, products[p].matrix, in->view.tokens);
    }
    job.item_rows = backend_cpu_item_rows(backend, rows);
    job.token_blocks = DIV_UP(in->view.tokens, MOST_ITEM_TOKENS);
    for (int p = 0; p < count; p++)
        job.first_item[p + 1] = job.first_item[p] + DIV_UP(products[p].matrix->rows, job.item_rows);
    backend_cpu_run(backend, job.first_item[count] * job.token_blocks, matmul_item, &job,
                    &backend->base.profile.matmul);
}
