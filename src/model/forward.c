/*
 * forward.c: the transformer as a list of operations. The workspace is sized
 * once; a pass allocates nothing.
 */
#include "forward.h"

#include "feed_forward.h"

#include <math.h>
#include <stdlib.h>

/* Queries, keys and values, [length, heads * head_dim] and [length, kv_heads *
 * head_dim], rotated. */
struct projections {
    struct backend_buffer *q, *k, *v;
};

/* Buffers that hold a value per position of the canvas. */
struct forward {
    struct backend *backend;
    const struct model *model;
    int max_length, max_rows;
    struct backend_heads heads;
    float *angles;                   /* [max_length, rope_dims / 2, 2] */
    struct backend_buffer *x;        /* [length, hidden] residual stream */
    struct projections now;          /* of the layer at hand; attention's output goes to q */
    struct projections first;        /* of the first layer, kept between passes */
    int32_t *first_ids;              /* [max_length] the tokens they belong to, or -1 */
    int32_t *changed;                /* [max_length] positions to compute anew */
    int32_t *changed_ids;            /* [max_length] their tokens */
    struct backend_buffer *kept;     /* [length, hidden] rows whose logits are asked for */
    struct backend_buffer *unguided; /* [length, hidden] the same of the masked prompt's pass */
    struct backend_buffer *logits, *unguided_logits; /* [max_rows, vocab] */
    struct backend_activations *hidden_in; /* inputs of width hidden or heads * head_dim */
    struct feed_forward *feed_forward;
};

static int q_width(const struct hparams *h)
{
    return h->heads * h->head_dim;
}

static int kv_width(const struct hparams *h)
{
    return h->kv_heads * h->head_dim;
}

static struct backend_limits limits_of(const struct hparams *h, int max_length)
{
    return (struct backend_limits){
        .rows = max_length,
        .width = MAX(MAX(h->hidden, q_width(h)), h->ffn),
        .keys = max_length,
        .kv_heads = h->kv_heads,
        .head_dim = h->head_dim,
        .vocab = h->vocab,
    };
}

/* A buffer of the workspace: where it goes and its size. */
struct plan {
    struct backend_buffer **buffer;
    int rows, width;
};

enum { PLANNED = 11 };

static void plan_buffers(struct forward *f, const struct hparams *h, int length, int rows,
                         struct plan plan[PLANNED])
{
    const struct plan all[PLANNED] = {
        {&f->x, length, h->hidden},
        {&f->now.q, length, q_width(h)},
        {&f->now.k, length, kv_width(h)},
        {&f->now.v, length, kv_width(h)},
        {&f->first.q, length, q_width(h)},
        {&f->first.k, length, kv_width(h)},
        {&f->first.v, length, kv_width(h)},
        {&f->kept, length, h->hidden},
        {&f->unguided, length, h->hidden},
        {&f->logits, rows, h->vocab},
        {&f->unguided_logits, rows, h->vocab},
    };

    for (int i = 0; i < PLANNED; i++)
        plan[i] = all[i];
}

uint64_t forward_bytes(const struct backend *backend, const struct model *model, int max_length,
                       int max_rows)
{
    const struct hparams *h = &model->hparams;
    struct backend_limits limits = limits_of(h, max_length);
    struct forward unused;
    struct plan plan[PLANNED];
    uint64_t bytes = backend_reserve_bytes(backend, &limits);

    plan_buffers(&unused, h, max_length, max_rows, plan);
    for (int i = 0; i < PLANNED; i++)
        bytes += backend_buffer_bytes(plan[i].rows, plan[i].width);
    bytes += sizeof(float) * (uint64_t)max_length * (uint64_t)h->rope_dims;
    bytes +=
        backend_activations_bytes(max_length, MAX(h->hidden, q_width(h)), model->weights.types);
    bytes += 3 * sizeof(int32_t) * (uint64_t)max_length;
    return bytes + feed_forward_bytes(h, model->weights.types, max_length);
}

/* angle of pair i at position p: p * base^(-2i / rope_dims), in doubles. */
static enum dllm_status fill_angles(struct forward *f, struct dllm_error *error)
{
    const struct hparams *h = &f->model->hparams;
    size_t bytes = sizeof(float) * (size_t)f->max_length * (size_t)h->rope_dims;

    f->angles = malloc(bytes);
    if (!f->angles)
        return status_no_memory(error, bytes);
    for (int i = 0; i < h->rope_dims / 2; i++) {
        double frequency = pow(h->rope_base, -2.0 * i / h->rope_dims);

        for (int p = 0; p < f->max_length; p++) {
            float *pair = f->angles + ((size_t)p * (size_t)h->rope_dims + 2 * (size_t)i);

            pair[0] = (float)cos(p * frequency);
            pair[1] = (float)sin(p * frequency);
        }
    }
    return DLLM_OK;
}

static enum dllm_status create_buffers(struct forward *f, struct dllm_error *error)
{
    const struct hparams *h = &f->model->hparams;
    uint64_t types = f->model->weights.types;
    struct backend_limits limits = limits_of(h, f->max_length);
    struct plan plan[PLANNED];

    TRY(backend_reserve(f->backend, &limits, error));
    plan_buffers(f, h, f->max_length, f->max_rows, plan);
    for (int i = 0; i < PLANNED; i++)
        TRY(backend_buffer_create(f->backend, plan[i].rows, plan[i].width, plan[i].buffer, error));
    TRY(backend_activations_create(f->backend, f->max_length, MAX(h->hidden, q_width(h)), types,
                                   &f->hidden_in, error));
    return feed_forward_create(f->backend, h, types, f->max_length, &f->feed_forward, error);
}

static enum dllm_status create_first_ids(struct forward *f, struct dllm_error *error)
{
    size_t count = 3 * (size_t)f->max_length;

    f->first_ids = malloc(sizeof *f->first_ids * count);
    if (!f->first_ids)
        return status_no_memory(error, sizeof *f->first_ids * count);
    f->changed = f->first_ids + f->max_length;
    f->changed_ids = f->changed + f->max_length;
    for (int i = 0; i < f->max_length; i++)
        f->first_ids[i] = -1;
    return DLLM_OK;
}

enum dllm_status forward_create(struct backend *backend, const struct model *model, int max_length,
                                int max_rows, struct forward **out, struct dllm_error *error)
{
    enum dllm_status status;
    const struct hparams *h = &model->hparams;
    struct forward *f = calloc(1, sizeof *f);

    if (!f)
        return status_no_memory(error, sizeof *f);
    f->backend = backend;
    f->model = model;
    f->max_length = max_length;
    f->max_rows = max_rows;
    f->heads =
        (struct backend_heads){h->heads, h->kv_heads, h->head_dim, h->rope_dims, h->arch->pairing};
    TRY_GOTO(fill_angles(f, error));
    TRY_GOTO(create_first_ids(f, error));
    TRY_GOTO(create_buffers(f, error));
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
    plan_buffers(f, &f->model->hparams, 0, 0, plan);
    for (int i = 0; i < PLANNED; i++)
        backend_buffer_destroy(*plan[i].buffer);
    backend_activations_destroy(f->hidden_in);
    feed_forward_destroy(f->feed_forward);
    free(f->angles);
    free(f->first_ids);
    free(f);
}

int forward_max_length(const struct forward *forward)
{
    return forward->max_length;
}

int forward_max_rows(const struct forward *forward)
{
    return forward->max_rows;
}

static uint64_t type_bit(const struct backend_matrix *matrix)
{
    return (uint64_t)1 << matrix->type;
}

static void prepare_normed(struct forward *f, struct backend_rows x, const float *weight,
                           uint64_t types)
{
    const struct backend_norm norm = {weight, f->model->hparams.rms_eps};

    backend_prepare(f->backend, x, &norm, types, f->hidden_in);
}

static void rotate(struct forward *f, struct backend_buffer *x, int heads, const int32_t *positions,
                   int count)
{
    const struct backend_rotation rotation = {x, heads, count, f->angles, positions};

    backend_rope(f->backend, &f->heads, &rotation);
}

/* Queries, keys and values of rows [0, count) of x, which stand at positions
 * (NULL: 0, 1, ...). */
static void project(struct forward *f, const struct layer_weights *layer, struct backend_buffer *x,
                    const int32_t *positions, int count)
{
    const struct backend_product products[] = {
        {&layer->q, layer->q_bias, f->now.q, false},
        {&layer->k, layer->k_bias, f->now.k, false},
        {&layer->v, layer->v_bias, f->now.v, false},
    };

    prepare_normed(f, (struct backend_rows){x, 0, count}, layer->attn_norm,
                   type_bit(&layer->q) | type_bit(&layer->k) | type_bit(&layer->v));
    backend_matmul(f->backend, f->hidden_in, products, 3);
    rotate(f, f->now.q, f->heads.heads, positions, count);
    rotate(f, f->now.k, f->heads.kv_heads, positions, count);
}

/* Positions whose token is not the one that f->first holds. */
static int list_changed(struct forward *f, const int32_t *ids, int length)
{
    int count = 0;

    for (int i = 0; i < length; i++)
        if (ids[i] != f->first_ids[i]) {
            f->changed[count] = i;
            f->changed_ids[count++] = f->first_ids[i] = ids[i];
        }
    return count;
}

/* The first layer sees only a token and its position, so what it made of a
 * position holds until the token there changes. */
static void project_first(struct forward *f, const struct layer_weights *layer, const int32_t *ids,
                          int length)
{
    int count = list_changed(f, ids, length);

    if (count == 0)
        return;
    backend_embed(f->backend, &f->model->weights.embedding, f->changed_ids, count, f->kept);
    project(f, layer, f->kept, f->changed, count);
    backend_scatter(f->backend, f->now.q, f->changed, count, f->first.q);
    backend_scatter(f->backend, f->now.k, f->changed, count, f->first.k);
    backend_scatter(f->backend, f->now.v, f->changed, count, f->first.v);
}

/* The last layer: keys and values of every position, queries of the kept rows
 * alone, whose residuals move to f->kept. */
static void project_kept(struct forward *f, const struct layer_weights *layer, int length,
                         const int32_t *rows, int count)
{
    const struct backend_product kv[] = {
        {&layer->k, layer->k_bias, f->now.k, false},
        {&layer->v, layer->v_bias, f->now.v, false},
    };
    const struct backend_product q = {&layer->q, layer->q_bias, f->now.q, false};

    prepare_normed(f, (struct backend_rows){f->x, 0, length}, layer->attn_norm,
                   type_bit(&layer->k) | type_bit(&layer->v));
    backend_matmul(f->backend, f->hidden_in, kv, 2);
    rotate(f, f->now.k, f->heads.kv_heads, NULL, length);
    backend_gather(f->backend, f->x, rows, count, f->kept);
    prepare_normed(f, (struct backend_rows){f->kept, 0, count}, layer->attn_norm,
                   type_bit(&layer->q));
    backend_matmul(f->backend, f->hidden_in, &q, 1);
    rotate(f, f->now.q, f->heads.heads, rows, count);
}

/* Attention of `count` queries over `length` keys and its output projection,
 * added to x. */
static void attend(struct forward *f, const struct layer_weights *layer,
                   const struct projections *in, struct backend_buffer *x, int count, int length)
{
    const struct backend_product output = {&layer->output, NULL, x, true};
    const struct backend_attention_io io = {in->q, in->k, in->v, f->now.q, count, length};

    backend_attention(f->backend, &f->heads, &io);
    backend_prepare(f->backend, (struct backend_rows){f->now.q, 0, count}, NULL,
                    type_bit(&layer->output), f->hidden_in);
    backend_matmul(f->backend, f->hidden_in, &output, 1);
}

void forward_run(struct forward *f, const int32_t *ids, int length, const int32_t *rows, int count)
{
    const struct weights *weights = &f->model->weights;
    const int last = f->model->hparams.layers - 1;

    backend_embed(f->backend, &weights->embedding, ids, length, f->x);
    for (int i = 0; i < last; i++) {
        const struct layer_weights *layer = &weights->layers[i];

        if (i == 0)
            project_first(f, layer, ids, length);
        else
            project(f, layer, f->x, NULL, length);
        attend(f, layer, i == 0 ? &f->first : &f->now, f->x, length, length);
        feed_forward_run(f->feed_forward, layer, f->hidden_in, f->x, length);
    }
    project_kept(f, &weights->layers[last], length, rows, count);
    attend(f, &weights->layers[last], &f->now, f->kept, count, length);
    feed_forward_run(f->feed_forward, &weights->layers[last], f->hidden_in, f->kept, count);
}

/* Output norm and head of rows of kept hidden states. */
static void project_head(struct forward *f, struct backend_rows kept, struct backend_buffer *logits)
{
    const struct weights *weights = &f->model->weights;
    const struct backend_product product = {&weights->head, NULL, logits, false};

    prepare_normed(f, kept, weights->output_norm, type_bit(&weights->head));
    backend_matmul(f->backend, f->hidden_in, &product, 1);
}

struct backend_buffer *forward_logits(struct forward *f, int first, int count)
{
    project_head(f, (struct backend_rows){f->kept, first, count}, f->logits);
    return f->logits;
}

void forward_keep_unguided(struct forward *f)
{
    struct backend_buffer *kept = f->kept;

    f->kept = f->unguided;
    f->unguided = kept;
}

struct backend_buffer *forward_logits_guided(struct forward *f, int first, int count, double scale)
{
    project_head(f, (struct backend_rows){f->unguided, first, count}, f->unguided_logits);
    project_head(f, (struct backend_rows){f->kept, first, count}, f->logits);
    backend_guide(f->backend, f->logits, f->unguided_logits, count, scale);
    return f->logits;
}
