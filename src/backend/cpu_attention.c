/*
 * cpu_attention.c: attention in two launches: keys are turned so that sixteen
 * of them lie side by side, then items of eight queries of one head run over
 * all keys.
 */
#include "backend_cpu.h"

enum { TURN_KEYS = 64 }; /* keys per item of the first launch, a multiple of ATTENTION_KEY_PAD */

struct attention_job {
    struct cpu_backend *backend;
    const struct backend_heads *heads;
    const struct backend_attention_io *io;
    int items_per_head;
};

/* Where the turned keys of a head start. */
static float *head_keys(const struct attention_job *job, int kv_head)
{
    size_t keys = (size_t)ROUND_UP(job->io->key_count, ATTENTION_KEY_PAD);

    return job->backend->turned_keys + (size_t)kv_head * keys * (size_t)job->heads->head_dim;
}

static void turn_item(void *context, int item, int worker)
{
    const struct attention_job *job = context;
    const int dim = job->heads->head_dim;
    int head = item / job->items_per_head, first = item % job->items_per_head * TURN_KEYS;

    (void)worker;
    job->backend->kernels.turn_keys(row_of(job->io->k, job->io->kv_row + first) + head * dim,
                                    (size_t)job->io->k->width,
                                    MIN(TURN_KEYS, job->io->key_count - first), dim,
                                    head_keys(job, head) + (size_t)first * (size_t)dim);
}

static void query_item(void *context, int item, int worker)
{
    const struct attention_job *job = context;
    const struct backend_heads *heads = job->heads;
    int head = item / job->items_per_head;
    int kv_head = head / (heads->heads / heads->kv_heads);
    int first = item % job->items_per_head * ATTENTION_QUERIES;
    size_t column = (size_t)head * (size_t)heads->head_dim;
    struct attention_item attention = {
        .q = row_of(job->io->q, job->io->q_row + first) + column,
        .q_step = (size_t)job->io->q->width,
        .queries = MIN(ATTENTION_QUERIES, job->io->query_count - first),
        .keys = head_keys(job, kv_head),
        .v = row_of(job->io->v, job->io->kv_row) + (size_t)kv_head * (size_t)heads->head_dim,
        .v_step = (size_t)job->io->v->width,
        .key_count = job->io->key_count,
        .head_dim = heads->head_dim,
        .out = row_of(job->io->out, job->io->out_row + first) + column,
        .out_step = (size_t)job->io->out->width,
        .scratch = backend_cpu_scratch(job->backend, worker),
    };

    job->backend->kernels.attention(&attention);
}

static void attend(struct cpu_backend *backend, const struct backend_heads *geometry,
                   const struct backend_attention_io *io)
{
    struct attention_job job = {.backend = backend, .heads = geometry, .io = io};

    job.items_per_head = DIV_UP(io->key_count, TURN_KEYS);
    backend_cpu_run(backend, geometry->kv_heads * job.items_per_head, turn_item, &job,
                    &backend->base.profile.attention);
    job.items_per_head = DIV_UP(io->query_count, ATTENTION_QUERIES);
    backend_cpu_run(backend, geometry->heads * job.items_per_head, query_item, &job,
                    &backend->base.profile.attention);
}

void cpu_attention(struct backend *base, const struct backend_heads *geometry,
                   const struct backend_attention_io *canvases, int count)
{
    for (int i = 0; i < count; i++)
        attend(cpu_of(base), geometry, &canvases[i]);
}
