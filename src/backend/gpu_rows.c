/* gpu_rows.c: operations over rows: copies, rotation, attention. */
#include "gpu_backend.h"

#include "cuda_attention.h"

static float *row_of(const struct backend_buffer *buffer, int row)
{
    return buffer->data + (size_t)row * (size_t)buffer->width;
}

void gpu_embed(struct backend *base, const struct backend_matrix *matrix, const int32_t *ids,
               int count, struct backend_buffer *x)
{
    struct gpu_backend *backend = gpu_of(base);
    const struct cuda_embedding embedding = {.type = matrix->type,
                                             .width = matrix->width,
                                             .weights = gpu_constant(backend, matrix->data),
                                             .ids = gpu_list(backend, ids),
                                             .count = count,
                                             .x = x->data};

    if (gpu_ready(backend))
        gpu_check(backend, cuda_embed(&embedding, backend->stream), "embedding");
}

void gpu_gather(struct backend *base, const struct backend_buffer *x, const int32_t *rows,
                int count, struct backend_buffer *out)
{
    struct gpu_backend *backend = gpu_of(base);
    const int32_t *list = gpu_list(backend, rows);

    if (gpu_ready(backend))
        gpu_check(backend,
                  cuda_gather_rows(x->data, list, count, x->width, out->data, backend->stream),
                  "gathering of rows");
}

void gpu_scatter(struct backend *base, struct backend_rows x, const int32_t *rows,
                 struct backend_buffer *out)
{
    struct gpu_backend *backend = gpu_of(base);
    const int32_t *list = gpu_list(backend, rows);

    if (gpu_ready(backend))
        gpu_check(backend,
                  cuda_scatter_rows(row_of(x.buffer, x.first), list, x.count, x.buffer->width,
                                    out->data, backend->stream),
                  "scattering of rows");
}

void gpu_rope(struct backend *base, const struct backend_heads *geometry,
              const struct backend_turn *turn, const struct backend_rotation *rotations, int count)
{
    struct gpu_backend *backend = gpu_of(base);
    struct cuda_rotation parts[CUDA_ROTATIONS];
    const struct cuda_rope rope = {.rows = turn->rows,
                                   .head_dim = geometry->head_dim,
                                   .rope_dims = geometry->rope_dims,
                                   .halves = geometry->pairing == ROPE_HALVES,
                                   .angles = turn->angles->data,
                                   .positions = gpu_list(backend, turn->positions),
                                   .parts = parts,
                                   .count = count};

    for (int i = 0; i < count; i++)
        parts[i] = (struct cuda_rotation){.x = rotations[i].x->data,
                                          .step = (size_t)rotations[i].x->width,
                                          .heads = rotations[i].heads,
                                          .norm = gpu_constant(backend, rotations[i].norm.weight),
                                          .eps = rotations[i].norm.eps};
    if (gpu_ready(backend))
        gpu_check(backend, cuda_rotate_heads(&rope, backend->stream), "rotation");
}

/* As many canvases as a launch takes. */
static void attend(struct gpu_backend *backend, const struct backend_heads *geometry,
                   const struct backend_attention_io *canvases, int count)
{
    struct cuda_attention_window windows[CUDA_ATTENTION_WINDOWS];
    const struct cuda_attention attention = {.heads = geometry->heads,
                                             .kv_heads = geometry->kv_heads,
                                             .head_dim = geometry->head_dim,
                                             .q_step = (size_t)canvases->q->width,
                                             .kv_step = (size_t)canvases->k->width,
                                             .out_step = (size_t)canvases->out->width,
                                             .exact = geometry->exact,
                                             .windows = windows,
                                             .count = count,
                                             .workspace = backend->attention};

    for (int i = 0; i < count; i++) {
        const struct backend_attention_io *io = &canvases[i];

        windows[i] = (struct cuda_attention_window){.q = row_of(io->q, io->q_row),
                                                    .k = row_of(io->k, io->kv_row),
                                                    .v = row_of(io->v, io->kv_row),
                                                    .out = row_of(io->out, io->out_row),
                                                    .queries = io->query_count,
                                                    .keys = io->key_count};
    }
    gpu_check(backend, cuda_attend(&attention, backend->stream), "attention");
}

void gpu_attention(struct backend *base, const struct backend_heads *geometry,
                   const struct backend_attention_io *canvases, int count)
{
    struct gpu_backend *backend = gpu_of(base);

    for (int i = 0; i < count && gpu_ready(backend); i += CUDA_ATTENTION_WINDOWS)
        attend(backend, geometry, canvases + i, MIN(count - i, (int)CUDA_ATTENTION_WINDOWS));
}
