/* cpu_rows.c: the operations that go over rows one by one, an item a row. */
#include "backend_cpu.h"

#include <string.h>

struct embed_job {
    const struct backend_matrix *matrix;
    const int32_t *ids;
    struct backend_buffer *x;
};

static void embed_item(void *context, int item, int worker)
{
    const struct embed_job *job = context;
    const struct backend_matrix *matrix = job->matrix;
    size_t bytes = dtype_row_bytes(matrix->type, (uint64_t)matrix->width);

    (void)worker;
    dequantize_row(matrix->type, (const char *)matrix->data + (size_t)job->ids[item] * bytes,
                   matrix->width, row_of(job->x, item));
}

void cpu_embed(struct backend *base, const struct backend_matrix *matrix, const int32_t *ids,
               int count, struct backend_buffer *x)
{
    struct cpu_backend *backend = cpu_of(base);
    struct embed_job job = {matrix, ids, x};

    backend_cpu_run(backend, count, embed_item, &job, &backend->base.profile.other);
}

void cpu_gather(struct backend *base, const struct backend_buffer *x, const int32_t *rows,
                int count, struct backend_buffer *out)
{
    (void)base;
    for (int t = 0; t < count; t++)
        memcpy(row_of(out, t), row_of(x, rows[t]), sizeof(float) * (size_t)x->width);
}

void cpu_scatter(struct backend *base, struct backend_rows x, const int32_t *rows,
                 struct backend_buffer *out)
{
    (void)base;
    for (int t = 0; t < x.count; t++)
        memcpy(row_of(out, rows[t]), row_of(x.buffer, x.first + t),
               sizeof(float) * (size_t)x.buffer->width);
}

struct prepare_job {
    const struct cpu_backend *backend;
    struct backend_rows x;
    const struct backend_norm *norm; /* NULL: none */
    const struct backend_buffer *up; /* NULL: no gate */
    struct activations *out;
};

static void prepare_item(void *context, int item, int worker)
{
    const struct prepare_job *job = context;
    const struct cpu_kernels *kernels = &job->backend->kernels;
    const int width = job->x.buffer->width;
    const float *x = row_of(job->x.buffer, job->x.first + item);
    float *row = backend_cpu_scratch(job->backend, worker);

    if (job->norm) {
        kernels->rms_norm(x, job->norm->weight, job->norm->eps, width, row);
        x = row;
    } else if (job->up) {
        kernels->gated(x, row_of(job->up, item), width, row);
        x = row;
    }
    kernels->prepare(x, item, job->out);
}

static void prepare(struct cpu_backend *backend, struct prepare_job *job, uint64_t types,
                    struct backend_activations *out)
{
    job->backend = backend;
    job->out = &out->view;
    activations_layout(&out->view, out->storage, job->x.count, job->x.buffer->width,
                       backend_cpu_forms(types));
    backend_cpu_run(backend, job->x.count, prepare_item, job, &backend->base.profile.other);
}

void cpu_prepare(struct backend *base, struct backend_rows x, const struct backend_norm *norm,
                 uint64_t types, struct backend_activations *out)
{
    struct cpu_backend *backend = cpu_of(base);
    struct prepare_job job = {.x = x, .norm = norm};

    prepare(backend, &job, types, out);
}

void cpu_prepare_gated(struct backend *base, const struct backend_buffer *gate,
                       const struct backend_buffer *up, int count, uint64_t types,
                       struct backend_activations *out)
{
    struct cpu_backend *backend = cpu_of(base);
    struct prepare_job job = {.x = {gate, 0, count}, .up = up};

    prepare(backend, &job, types, out);
}

struct rope_job {
    const struct cpu_kernels *kernels;
    const struct backend_heads *geometry;
    const struct backend_turn *turn;
    const struct backend_rotation *rotation;
};

static void rope_item(void *context, int item, int worker)
{
    const struct rope_job *job = context;
    const struct backend_rotation *rotation = job->rotation;
    const struct rope_row row = {
        .x = row_of(rotation->x, item),
        .angles = row_of(job->turn->angles, job->turn->positions[item]),
        .heads = rotation->heads,
        .head_dim = job->geometry->head_dim,
        .rope_dims = job->geometry->rope_dims,
        .halves = job->geometry->pairing == ROPE_HALVES,
        .norm = rotation->norm.weight,
        .eps = rotation->norm.eps,
    };

    (void)worker;
    job->kernels->rope(&row);
}

void cpu_rope(struct backend *base, const struct backend_heads *geometry,
              const struct backend_turn *turn, const struct backend_rotation *rotations, int count)
{
    struct cpu_backend *backend = cpu_of(base);

    for (int i = 0; i < count; i++) {
        struct rope_job job = {&backend->kernels, geometry, turn, &rotations[i]};

        backend_cpu_run(backend, turn->rows, rope_item, &job, &backend->base.profile.other);
    }
}
