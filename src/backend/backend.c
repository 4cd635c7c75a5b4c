/* backend.c: hands each operation to the device that a backend is of. */
#include "backend_ops.h"

#include "dtype.h"

void backend_destroy(struct backend *backend)
{
    if (backend)
        backend->ops->destroy(backend);
}

const char *backend_device_name(const struct backend *backend)
{
    return backend->ops->device_name(backend);
}

const char *backend_level_name(const struct backend *backend)
{
    return backend->ops->level_name(backend);
}

int backend_threads(const struct backend *backend)
{
    return backend->ops->threads(backend);
}

struct backend_profile backend_profile_read(const struct backend *backend)
{
    return backend->profile;
}

void backend_profile_reset(struct backend *backend)
{
    backend->profile = (struct backend_profile){0};
}

void backend_count_product(struct backend *backend, const struct backend_matrix *matrix, int tokens)
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

double backend_ceiling(struct backend *backend, uint32_t type)
{
    return backend->ops->ceiling(backend, type);
}

double backend_bandwidth(struct backend *backend)
{
    return backend->ops->bandwidth(backend);
}

/* --- memory --- */

enum dllm_status backend_load(struct backend *backend, const struct backend_constants *constants,
                              struct dllm_error *error)
{
    return backend->ops->load(backend, constants, error);
}

bool backend_fits(struct backend *backend, const struct backend_constants *constants)
{
    return backend->ops->fits(backend, constants);
}

bool backend_is_host(const struct backend *backend)
{
    return backend->ops->is_host;
}

enum dllm_status backend_wait(struct backend *backend, struct dllm_error *error)
{
    return backend->ops->wait(backend, error);
}

enum dllm_status backend_reserve(struct backend *backend, const struct backend_limits *limits,
                                 struct dllm_error *error)
{
    return backend->ops->reserve(backend, limits, error);
}

uint64_t backend_reserve_bytes(const struct backend *backend, const struct backend_limits *limits)
{
    return backend->ops->reserve_bytes(backend, limits);
}

enum dllm_status backend_buffer_create(struct backend *backend, int rows, int width,
                                       struct backend_buffer **out, struct dllm_error *error)
{
    return backend->ops->buffer_create(backend, rows, width, out, error);
}

void backend_buffer_destroy(struct backend *backend, struct backend_buffer *buffer)
{
    if (buffer)
        backend->ops->buffer_destroy(backend, buffer);
}

uint64_t backend_buffer_bytes(const struct backend *backend, int rows, int width)
{
    return backend->ops->buffer_bytes(backend, rows, width);
}

enum dllm_status backend_buffer_read(struct backend *backend, const struct backend_buffer *buffer,
                                     int row, int count, float *out, struct dllm_error *error)
{
    return backend->ops->buffer_read(backend, buffer, row, count, out, error);
}

void backend_buffer_write(struct backend *backend, struct backend_buffer *buffer, int row,
                          int count, const float *values)
{
    backend->ops->buffer_write(backend, buffer, row, count, values);
}

enum dllm_status backend_lists_create(struct backend *backend, size_t count, int32_t **out,
                                      struct dllm_error *error)
{
    return backend->ops->lists_create(backend, count, out, error);
}

void backend_lists_destroy(struct backend *backend, int32_t *lists)
{
    if (lists)
        backend->ops->lists_destroy(backend, lists);
}

void backend_lists_send(struct backend *backend, const int32_t *values, int count)
{
    backend->ops->lists_send(backend, values, count);
}

enum dllm_status backend_activations_create(struct backend *backend, int rows, int width,
                                            uint64_t types, struct backend_activations **out,
                                            struct dllm_error *error)
{
    return backend->ops->activations_create(backend, rows, width, types, out, error);
}

void backend_activations_destroy(struct backend *backend, struct backend_activations *activations)
{
    if (activations)
        backend->ops->activations_destroy(backend, activations);
}

uint64_t backend_activations_bytes(const struct backend *backend, int rows, int width,
                                   uint64_t types)
{
    return backend->ops->activations_bytes(backend, rows, width, types);
}

enum dllm_status backend_routing_create(struct backend *backend,
                                        const struct backend_routing_limits *limits,
                                        struct backend_routing **out, struct dllm_error *error)
{
    return backend->ops->routing_create(backend, limits, out, error);
}

void backend_routing_destroy(struct backend *backend, struct backend_routing *routing)
{
    if (routing)
        backend->ops->routing_destroy(backend, routing);
}

uint64_t backend_routing_bytes(const struct backend *backend,
                               const struct backend_routing_limits *limits)
{
    return backend->ops->routing_bytes(backend, limits);
}

enum dllm_status backend_visits_create(struct backend *backend,
                                       const struct backend_routing_limits *limits, int width,
                                       uint64_t types, struct backend_visits **out,
                                       struct dllm_error *error)
{
    return backend->ops->visits_create(backend, limits, width, types, out, error);
}

void backend_visits_destroy(struct backend *backend, struct backend_visits *visits)
{
    if (visits)
        backend->ops->visits_destroy(backend, visits);
}

uint64_t backend_visits_bytes(const struct backend *backend,
                              const struct backend_routing_limits *limits, int width,
                              uint64_t types)
{
    return backend->ops->visits_bytes(backend, limits, width, types);
}

/* --- recordings --- */

enum dllm_status backend_recordings_create(struct backend *backend, struct backend_recordings **out,
                                           struct dllm_error *error)
{
    return backend->ops->recordings_create(backend, out, error);
}

void backend_recordings_destroy(struct backend *backend, struct backend_recordings *recordings)
{
    if (recordings)
        backend->ops->recordings_destroy(backend, recordings);
}

bool backend_replay(struct backend *backend, struct backend_recordings *recordings, const void *key,
                    size_t key_bytes)
{
    return backend->ops->replay(backend, recordings, key, key_bytes);
}

bool backend_record_end(struct backend *backend, struct backend_recordings *recordings)
{
    return backend->ops->record_end(backend, recordings);
}

/* --- rows --- */

void backend_embed(struct backend *backend, const struct backend_matrix *matrix, const int32_t *ids,
                   int count, struct backend_buffer *x)
{
    backend->ops->embed(backend, matrix, ids, count, x);
}

void backend_gather(struct backend *backend, const struct backend_buffer *x, const int32_t *rows,
                    int count, struct backend_buffer *out)
{
    backend->ops->gather(backend, x, rows, count, out);
}

void backend_scatter(struct backend *backend, struct backend_rows x, const int32_t *rows,
                     struct backend_buffer *out)
{
    backend->ops->scatter(backend, x, rows, out);
}

void backend_rope(struct backend *backend, const struct backend_heads *geometry,
                  const struct backend_turn *turn, const struct backend_rotation *rotations,
                  int count)
{
    backend->ops->rope(backend, geometry, turn, rotations, count);
}

void backend_attention(struct backend *backend, const struct backend_heads *geometry,
                       const struct backend_attention_io *canvases, int count)
{
    backend->ops->attention(backend, geometry, canvases, count);
}

/* --- products --- */

void backend_prepare(struct backend *backend, struct backend_rows x,
                     const struct backend_norm *norm, uint64_t types,
                     struct backend_activations *out)
{
    backend->ops->prepare(backend, x, norm, types, out);
}

void backend_prepare_gated(struct backend *backend, const struct backend_buffer *gate,
                           const struct backend_buffer *up, int count, uint64_t types,
                           struct backend_activations *out)
{
    backend->ops->prepare_gated(backend, gate, up, count, types, out);
}

void backend_matmul(struct backend *backend, const struct backend_activations *in,
                    const struct backend_product *products, int count)
{
    backend->ops->matmul(backend, in, products, count);
}

void backend_route(struct backend *backend, const struct backend_buffer *scores, int count,
                   bool renormalise, struct backend_routing *routing)
{
    backend->ops->route(backend, scores, count, renormalise, routing);
}

void backend_prepare_visits(struct backend *backend, const struct backend_buffer *x,
                            const struct backend_norm *norm, uint64_t types,
                            const struct backend_routing *routing, struct backend_visits *out)
{
    backend->ops->prepare_visits(backend, x, norm, types, routing, out);
}

void backend_prepare_gated_visits(struct backend *backend, const struct backend_buffer *gate,
                                  const struct backend_buffer *up, uint64_t types,
                                  const struct backend_routing *routing, struct backend_visits *out)
{
    backend->ops->prepare_gated_visits(backend, gate, up, types, routing, out);
}

void backend_matmul_visits(struct backend *backend, const struct backend_visits *in,
                           const struct backend_routing *routing,
                           const struct backend_product *products, int count)
{
    backend->ops->matmul_visits(backend, in, routing, products, count);
}

void backend_mix_visits(struct backend *backend, const struct backend_buffer *y,
                        const struct backend_routing *routing, struct backend_buffer *x)
{
    backend->ops->mix_visits(backend, y, routing, x);
}

/* --- logits --- */

void backend_guide(struct backend *backend, struct backend_buffer *logits, int count, double scale)
{
    backend->ops->guide(backend, logits, count, scale);
}

enum dllm_status backend_pick_rows(struct backend *backend, struct backend_rows logits,
                                   const struct pick_rules *rules, const int32_t *positions,
                                   struct pick *picks, struct dllm_error *error)
{
    return backend->ops->pick_rows(backend, logits, rules, positions, picks, error);
}

enum dllm_status backend_cross_entropy_rows(struct backend *backend, struct backend_rows logits,
                                            const int32_t *targets, double *losses,
                                            struct dllm_error *error)
{
    return backend->ops->cross_entropy_rows(backend, logits, targets, losses, error);
}
