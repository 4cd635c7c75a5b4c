/* workspace.c: the life of a workspace, sized once; a pass allocates nothing. One on each
 * backend, where two share the layers. */
#include "workspace.h"

#include "dtype.h"

#include <math.h>
#include <stdlib.h>

static int q_width(const struct hparams *h)
{
    return h->heads * h->head_dim;
}

static int kv_width(const struct hparams *h)
{
    return h->kv_heads * h->head_dim;
}

static int total_rows(const struct forward_limits *limits)
{
    return limits->positions ? limits->positions : limits->canvases * limits->length;
}

static struct backend_limits backend_limits_of(const struct hparams *h,
                                               const struct forward_limits *limits)
{
    return (struct backend_limits){
        .rows = MAX(total_rows(limits), limits->rows),
        .width = MAX(MAX(h->hidden, q_width(h)), h->ffn),
        .keys = limits->length,
        .kv_heads = h->kv_heads,
        .head_dim = h->head_dim,
        .vocab = h->vocab,
        .canvases = limits->canvases,
    };
}

/* A buffer of the workspace: where it goes and its size. */
struct plan {
    struct backend_buffer **buffer;
    int rows, width;
};

enum { PLANNED = 7, LISTS = 6, LISTS_ALIGNMENT = 256 };

static bool has_layers(const struct forward *f)
{
    return f->first_layer < f->end_layer;
}

static bool has_head(const struct forward *f)
{
    return f->backend == f->placement.main;
}

/* What a workspace has no use for gets no rows. */
static void plan_buffers(struct forward *f, struct plan plan[PLANNED])
{
    const struct hparams *h = &f->model->hparams;
    const int rows = total_rows(&f->limits), of_layers = has_layers(f) ? rows : 0;
    const bool keeps = has_head(f) || f->end_layer == h->layers;
    const struct plan all[PLANNED] = {
        {&f->x, rows, h->hidden},
        {&f->q, of_layers, q_width(h)},
        {&f->k, of_layers, kv_width(h)},
        {&f->v, of_layers, kv_width(h)},
        {&f->kept, keeps ? rows : 0, h->hidden},
        {&f->logits, has_head(f) ? f->limits.rows : 0, h->vocab},
        {&f->angles, has_layers(f) ? f->limits.length : 0, h->rope_dims},
    };

    for (int i = 0; i < PLANNED; i++)
        plan[i] = all[i];
}

/* A workspace on main, or on the backend before it, without anything in it. */
static struct forward describe(const struct placement *placement, bool before,
                               const struct model *model, const struct forward_limits *limits)
{
    const struct hparams *h = &model->hparams;

    return (struct forward){
        .placement = *placement,
        .backend = before ? placement->before : placement->main,
        .first_layer = before ? 0 : placement->layers_before,
        .end_layer = before ? placement->layers_before : h->layers,
        .model = model,
        .limits = *limits,
        .keeps_first = placement_is_host(placement),
        .heads = {h->heads, h->kv_heads, h->head_dim, h->rope_dims, h->arch->pairing,
                  model->weights.types == (uint64_t)1 << DTYPE_F32},
    };
}

/* Of all that the backend is asked to create. */
static uint64_t device_bytes(const struct forward *described)
{
    struct forward f = *described;
    const struct hparams *h = &f.model->hparams;
    const uint64_t types = f.model->weights.types;
    struct plan plan[PLANNED];
    int rows = total_rows(&f.limits);
    uint64_t bytes = 0;

    if (!f.limits.guests)
        bytes = (uint64_t)f.limits.canvases *
                kvcache_bytes(&f.placement, f.backend, h, f.limits.length, f.limits.cached);
    plan_buffers(&f, plan);
    for (int i = 0; i < PLANNED; i++)
        if (plan[i].rows)
            bytes += backend_buffer_bytes(f.backend, plan[i].rows, plan[i].width);
    bytes += backend_activations_bytes(f.backend, rows, MAX(h->hidden, q_width(h)), types);
    bytes += ROUND_UP(LISTS * sizeof(int32_t) * (uint64_t)rows, LISTS_ALIGNMENT);
    if (has_layers(&f))
        bytes += feed_forward_bytes(f.backend, h, &f.model->weights, rows);
    return bytes;
}

static uint64_t part_bytes(const struct placement *placement, bool before,
                           const struct model *model, const struct forward_limits *limits)
{
    const struct forward f = describe(placement, before, model, limits);
    const struct backend_limits needs = backend_limits_of(&model->hparams, limits);

    return backend_reserve_bytes(f.backend, &needs) + device_bytes(&f);
}

uint64_t forward_bytes(const struct placement *placement, const struct backend *of,
                       const struct model *model, const struct forward_limits *limits)
{
    uint64_t bytes = 0;

    if (!of || of == placement->main)
        bytes += part_bytes(placement, false, model, limits);
    if (placement->before && (!of || of == placement->before))
        bytes += part_bytes(placement, true, model, limits);
    return bytes;
}

/* angle of pair i at position p: p * base^(-2i / rope_dims), in doubles. */
static enum dllm_status fill_angles(struct forward *f, struct dllm_error *error)
{
    const struct hparams *h = &f->model->hparams;
    size_t bytes = sizeof(float) * (size_t)f->limits.length * (size_t)h->rope_dims;
    float *angles = malloc(bytes);

    if (!angles)
        return status_no_memory(error, bytes);
    for (int i = 0; i < h->rope_dims / 2; i++) {
        double frequency = pow(h->rope_base, -2.0 * i / h->rope_dims);

        for (int p = 0; p < f->limits.length; p++) {
            float *pair = angles + ((size_t)p * (size_t)h->rope_dims + 2 * (size_t)i);

            pair[0] = (float)cos(p * frequency);
            pair[1] = (float)sin(p * frequency);
        }
    }
    backend_buffer_write(f->backend, f->angles, 0, f->limits.length, angles);
    free(angles);
    return DLLM_OK;
}

static enum dllm_status create_lists(struct forward *f, struct dllm_error *error)
{
    int32_t **const lists[LISTS] = {&f->ids,         &f->positions,
                                    &f->kept_from,   &f->kept_positions,
                                    &f->changed_ids, &f->changed_positions};
    size_t rows = (size_t)total_rows(&f->limits);
    int32_t *block;

    TRY(backend_lists_create(f->backend, LISTS * rows, &block, error));
    for (size_t i = 0; i < LISTS; i++)
        *lists[i] = block + i * rows;
    return DLLM_OK;
}

static enum dllm_status create_caches(struct forward *f, struct dllm_error *error)
{
    size_t canvases = (size_t)f->limits.canvases;

    if (f->limits.guests)
        return DLLM_OK;
    f->caches = calloc(canvases, sizeof *f->caches);
    if (!f->caches)
        return status_no_memory(error, canvases * sizeof *f->caches);
    for (size_t i = 0; i < canvases; i++)
        TRY(kvcache_create(&f->placement, &f->model->hparams, f->limits.length, f->limits.cached,
                           &f->caches[i], error));
    return DLLM_OK;
}

/* What describes the canvases of a pass. */
static enum dllm_status create_descriptions(struct forward *f, struct dllm_error *error)
{
    size_t canvases = (size_t)f->limits.canvases;

    f->attention = calloc(canvases, sizeof *f->attention);
    f->shape = calloc(canvases, sizeof *f->shape);
    if (f->attention && f->shape)
        return DLLM_OK;
    return status_no_memory(error, canvases * (sizeof *f->attention + sizeof *f->shape));
}

static enum dllm_status create_buffers(struct forward *f, struct dllm_error *error)
{
    const struct hparams *h = &f->model->hparams;
    uint64_t types = f->model->weights.types;
    struct plan plan[PLANNED];
    int rows = total_rows(&f->limits);

    plan_buffers(f, plan);
    for (int i = 0; i < PLANNED; i++)
        if (plan[i].rows)
            TRY(backend_buffer_create(f->backend, plan[i].rows, plan[i].width, plan[i].buffer,
                                      error));
    TRY(backend_activations_create(f->backend, rows, MAX(h->hidden, q_width(h)), types,
                                   &f->hidden_in, error));
    if (!has_layers(f))
        return DLLM_OK;
    TRY(fill_angles(f, error));
    return feed_forward_create(f->backend, h, &f->model->weights, rows, &f->feed_forward, error);
}

static enum dllm_status reserve(struct forward *f, struct dllm_error *error)
{
    struct backend_limits limits = backend_limits_of(&f->model->hparams, &f->limits);

    limits.bytes = device_bytes(f);
    return backend_reserve(f->backend, &limits, error);
}

static enum dllm_status fill(struct forward *f, struct dllm_error *error)
{
    TRY(reserve(f, error));
    TRY(create_lists(f, error));
    TRY(create_descriptions(f, error));
    TRY(create_buffers(f, error));
    return backend_recordings_create(f->backend, &f->recordings, error);
}

static enum dllm_status create_part(const struct placement *placement, bool before,
                                    const struct model *model, const struct forward_limits *limits,
                                    struct forward **out, struct dllm_error *error)
{
    struct forward *f = malloc(sizeof *f);
    enum dllm_status status;

    if (!f)
        return status_no_memory(error, sizeof *f);
    *f = describe(placement, before, model, limits);
    status = fill(f, error);
    if (status == DLLM_OK)
        *out = f;
    else
        forward_destroy(f);
    return status;
}

/* The workspace on the other backend, which shares the caches, and the way from there. */
static enum dllm_status create_before(struct forward *f, struct dllm_error *error)
{
    size_t bytes =
        sizeof *f->crossing * (size_t)total_rows(&f->limits) * (size_t)f->model->hparams.hidden;

    if (!f->placement.before)
        return DLLM_OK;
    f->crossing = malloc(bytes);
    if (!f->crossing)
        return status_no_memory(error, bytes);
    TRY(create_part(&f->placement, true, f->model, &f->limits, &f->before, error));
    f->before->caches = f->caches;
    return DLLM_OK;
}

enum dllm_status forward_create(const struct placement *placement, const struct model *model,
                                const struct forward_limits *limits, struct forward **out,
                                struct dllm_error *error)
{
    enum dllm_status status;
    struct forward *f;

    TRY(create_part(placement, false, model, limits, &f, error));
    TRY_GOTO(create_caches(f, error));
    TRY_GOTO(create_before(f, error));
    *out = f;
    return DLLM_OK;
fail:
    forward_destroy(f);
    return status;
}

void forward_destroy(struct forward *f)
{
    struct plan plan[PLANNED];

    if (!f)
        return;
    if (f->before)
        f->before->caches = NULL;
    forward_destroy(f->before);
    free(f->crossing);
    backend_recordings_destroy(f->backend, f->recordings);
    plan_buffers(f, plan);
    for (int i = 0; i < PLANNED; i++)
        backend_buffer_destroy(f->backend, *plan[i].buffer);
    for (int i = 0; f->caches && i < f->limits.canvases; i++)
        kvcache_destroy(f->caches[i]);
    backend_activations_destroy(f->backend, f->hidden_in);
    feed_forward_destroy(f->feed_forward);
    backend_lists_destroy(f->backend, f->ids);
    free(f->caches);
    free(f->attention);
    free(f->shape);
    free(f);
}

struct forward_limits forward_limits_of(const struct forward *forward)
{
    return forward->limits;
}
