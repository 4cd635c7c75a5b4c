/* cpu_logits.c: guidance, picks and cross entropies over rows of logits, an item a row. */
#include "backend_cpu.h"
#include "cross_entropy.h"

#include <stdatomic.h>

struct guide_job {
    const struct cpu_kernels *kernels;
    struct backend_buffer *logits;
    int count;
    double scale;
};

static void guide_item(void *context, int item, int worker)
{
    const struct guide_job *job = context;
    size_t width = (size_t)job->logits->width;
    float *guided = job->logits->data + (size_t)item * width;

    (void)worker;
    job->kernels->guide(guided, guided + (size_t)job->count * width, job->scale,
                        job->logits->width);
}

void cpu_guide(struct backend *base, struct backend_buffer *logits, int count, double scale)
{
    struct cpu_backend *backend = cpu_of(base);
    struct guide_job job = {&backend->kernels, logits, count, scale};

    backend_cpu_run(backend, count, guide_item, &job, &backend->base.profile.other);
}

struct pick_job {
    const struct cpu_backend *backend;
    struct backend_rows logits;
    const struct pick_rules *rules;
    const int32_t *positions;
    struct pick *picks;
    atomic_int first_bad; /* lowest item that failed */
};

static enum dllm_status pick_one(const struct pick_job *job, int item, int worker,
                                 struct dllm_error *error)
{
    const struct backend_buffer *logits = job->logits.buffer;
    size_t at = (size_t)(job->logits.first + item) * (size_t)logits->width;

    return pick_row(logits->data + at, logits->width, job->rules, job->positions[item],
                    backend_cpu_scratch(job->backend, worker), &job->picks[item], error);
}

static void pick_item(void *context, int item, int worker)
{
    struct pick_job *job = context;
    int bad = atomic_load(&job->first_bad);

    if (pick_one(job, item, worker, NULL) == DLLM_OK)
        return;
    while (item < bad && !atomic_compare_exchange_weak(&job->first_bad, &bad, item))
        ;
}

enum dllm_status cpu_pick_rows(struct backend *base, struct backend_rows logits,
                               const struct pick_rules *rules, const int32_t *positions,
                               struct pick *picks, struct dllm_error *error)
{
    struct cpu_backend *backend = cpu_of(base);
    struct pick_job job = {.backend = backend,
                           .logits = logits,
                           .rules = rules,
                           .positions = positions,
                           .picks = picks};

    atomic_init(&job.first_bad, logits.count);
    backend_cpu_run(backend, logits.count, pick_item, &job, &backend->base.profile.other);
    if (atomic_load(&job.first_bad) == logits.count)
        return DLLM_OK;
    /* The first bad row again, now for its message: the same on any thread count. */
    return pick_one(&job, atomic_load(&job.first_bad), 0, error);
}

struct cross_entropy_job {
    const struct cpu_backend *backend;
    struct backend_rows logits;
    const int32_t *targets;
    double *losses;
};

static void cross_entropy_item(void *context, int item, int worker)
{
    const struct cross_entropy_job *job = context;
    const struct backend_buffer *logits = job->logits.buffer;

    job->losses[item] =
        cross_entropy_row(row_of(logits, job->logits.first + item), logits->width,
                          job->targets[item], backend_cpu_scratch(job->backend, worker));
}

enum dllm_status cpu_cross_entropy_rows(struct backend *base, struct backend_rows logits,
                                        const int32_t *targets, double *losses,
                                        struct dllm_error *error)
{
    struct cpu_backend *backend = cpu_of(base);
    struct cross_entropy_job job = {backend, logits, targets, losses};

    (void)error;
    backend_cpu_run(backend, logits.count, cross_entropy_item, &job, &backend->base.profile.other);
    return DLLM_OK;
}
