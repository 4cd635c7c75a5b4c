/*
 * forward.c: the transformer as a list of operations over the rows of all
 * canvases of a pass; only attention looks at each canvas by itself. Where two
 * backends share the layers, each has a workspace, and the first one's rows cross.
 */
#include "workspace.h"

#include <string.h>

/* The canvases of a pass and their rows together. */
struct pass {
    const struct forward_canvas *canvases;
    int count;
    int rows; /* of all windows */
    int kept; /* whose logits are wanted */
};

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

static struct backend_rotation rotation_of(const struct forward *f, struct backend_buffer *x,
                                           int heads, const float *norm)
{
    return (struct backend_rotation){x, heads, {norm, f->model->hparams.rms_eps}};
}

/* Rows [0, count) of queries and keys, each NULL: not those. */
static void rotate(struct forward *f, const struct layer_weights *layer, struct backend_buffer *q,
                   struct backend_buffer *k, const int32_t *positions, int count)
{
    const struct backend_turn turn = {f->angles, positions, count};
    struct backend_rotation rotations[2];
    int parts = 0;

    if (q)
        rotations[parts++] = rotation_of(f, q, f->heads.heads, layer->q_norm);
    if (k)
        rotations[parts++] = rotation_of(f, k, f->heads.kv_heads, layer->k_norm);
    backend_rope(f->backend, &f->heads, &turn, rotations, parts);
}

/* Queries, keys and values of rows [0, count) of x, which stand at positions. */
static void project(struct forward *f, const struct layer_weights *layer, struct backend_buffer *x,
                    const int32_t *positions, int count)
{
    const struct backend_product products[] = {
        {&layer->q, layer->q_bias, f->q, false},
        {&layer->k, layer->k_bias, f->k, false},
        {&layer->v, layer->v_bias, f->v, false},
    };

    prepare_normed(f, (struct backend_rows){x, 0, count}, layer->attn_norm,
                   type_bit(&layer->q) | type_bit(&layer->k) | type_bit(&layer->v));
    backend_matmul(f->backend, f->hidden_in, products, 3);
    rotate(f, layer, f->q, f->k, positions, count);
}

/* What keeps rows of canvas c between passes, NULL: nothing. */
static struct kvcache *cache_of(const struct forward *f, const struct pass *pass, int c)
{
    if (pass->canvases[c].cache)
        return pass->canvases[c].cache;
    return f->caches ? f->caches[c] : NULL;
}

/* Whether that is so for keys and values of a layer. */
static bool keeps(const struct kvcache *cache, int layer)
{
    return cache && layer < cache->layers;
}

/* Positions of the windows whose token is not the one that the first layer's
 * rows belong to. */
static int list_changed(struct forward *f, const struct pass *pass)
{
    int count = 0;

    for (int c = 0; c < pass->count; c++) {
        const struct forward_canvas *canvas = &pass->canvases[c];
        struct kvcache *cache = cache_of(f, pass, c);
        int before = count;

        for (int i = canvas->low; i < canvas->high; i++)
            if (canvas->ids[i] != cache->ids[i]) {
                f->changed_positions[count] = i;
                f->changed_ids[count++] = cache->ids[i] = canvas->ids[i];
            }
        cache->changed = count - before;
    }
    return count;
}

/* The first layer sees only a token and its position, so what it made of a
 * position holds until the token there changes. */
static void project_first(struct forward *f, const struct layer_weights *layer,
                          const struct pass *pass)
{
    int count = list_changed(f, pass), row = 0;

    if (count == 0)
        return;
    backend_lists_send(f->backend, f->changed_ids, count);
    backend_lists_send(f->backend, f->changed_positions, count);
    backend_embed(f->backend, &f->model->weights.embedding, f->changed_ids, count, f->kept);
    project(f, layer, f->kept, f->changed_positions, count);
    for (int c = 0; c < pass->count; c++) {
        struct kvcache *cache = cache_of(f, pass, c);
        const int32_t *positions = f->changed_positions + row;

        backend_scatter(f->backend, (struct backend_rows){f->q, row, cache->changed}, positions,
                        cache->q);
        backend_scatter(f->backend, (struct backend_rows){f->k, row, cache->changed}, positions,
                        cache->k[0]);
        backend_scatter(f->backend, (struct backend_rows){f->v, row, cache->changed}, positions,
                        cache->v[0]);
        row += cache->changed;
    }
}

/* The last layer: keys and values of every row, queries of the kept rows alone,
 * whose residuals move to f->kept. */
static void project_kept(struct forward *f, const struct layer_weights *layer,
                         const struct pass *pass)
{
    const struct backend_product kv[] = {
        {&layer->k, layer->k_bias, f->k, false},
        {&layer->v, layer->v_bias, f->v, false},
    };
    const struct backend_product q = {&layer->q, layer->q_bias, f->q, false};

    prepare_normed(f, (struct backend_rows){f->x, 0, pass->rows}, layer->attn_norm,
                   type_bit(&layer->k) | type_bit(&layer->v));
    backend_matmul(f->backend, f->hidden_in, kv, 2);
    rotate(f, layer, NULL, f->k, f->positions, pass->rows);
    backend_gather(f->backend, f->x, f->kept_from, pass->kept, f->kept);
    prepare_normed(f, (struct backend_rows){f->kept, 0, pass->kept}, layer->attn_norm,
                   type_bit(&layer->q));
    backend_matmul(f->backend, f->hidden_in, &q, 1);
    rotate(f, layer, f->q, NULL, f->kept_positions, pass->kept);
}

static bool is_last(const struct forward *f, int layer)
{
    return layer == f->model->hparams.layers - 1;
}

/* Keys and values of the windows' rows into the caches that keep this layer. */
static void store(struct forward *f, int layer, const struct pass *pass)
{
    int row = 0;

    for (int c = 0; c < pass->count; c++) {
        const struct forward_canvas *canvas = &pass->canvases[c];
        struct kvcache *cache = cache_of(f, pass, c);
        int count = canvas->high - canvas->low;

        if (keeps(cache, layer)) {
            backend_scatter(f->backend, (struct backend_rows){f->k, row, count}, f->positions + row,
                            cache->k[layer]);
            backend_scatter(f->backend, (struct backend_rows){f->v, row, count}, f->positions + row,
                            cache->v[layer]);
        }
        row += count;
    }
}

/* Attention of each canvas's queries, in the last layer those of the kept rows,
 * over all of its keys; into f->q. */
static void attend(struct forward *f, int layer, const struct pass *pass)
{
    bool last = is_last(f, layer), first = layer == 0 && !last && f->keeps_first;
    int row = 0, out = 0;

    for (int c = 0; c < pass->count; c++) {
        const struct forward_canvas *canvas = &pass->canvases[c];
        const struct kvcache *cache = cache_of(f, pass, c);
        bool kept = keeps(cache, layer);
        int window = canvas->high - canvas->low;

        f->attention[c] = (struct backend_attention_io){
            .q = first ? cache->q : f->q,
            .k = kept ? cache->k[layer] : f->k,
            .v = kept ? cache->v[layer] : f->v,
            .out = f->q,
            .q_row = first ? canvas->low : out,
            .kv_row = kept ? 0 : row,
            .out_row = out,
            .query_count = last ? canvas->count : window,
            .key_count = canvas->length,
        };
        row += window;
        out += f->attention[c].query_count;
    }
    backend_attention(f->backend, &f->heads, f->attention, pass->count);
}

/* Attention and feed-forward of `count` rows, each added to x. */
static void finish_layer(struct forward *f, int layer, const struct pass *pass,
                         struct backend_buffer *x, int count)
{
    const struct layer_weights *weights = &f->model->weights.layers[layer];
    const struct backend_product output = {&weights->output, NULL, x, true};

    attend(f, layer, pass);
    backend_prepare(f->backend, (struct backend_rows){f->q, 0, count}, NULL,
                    type_bit(&weights->output), f->hidden_in);
    backend_matmul(f->backend, f->hidden_in, &output, 1);
    feed_forward_run(f->feed_forward, weights, f->hidden_in, x, count);
}

/* Fills in the lists of rows and sends them. */
static struct pass open_pass(struct forward *f, const struct forward_canvas *canvases, int count)
{
    struct pass pass = {canvases, count, 0, 0};

    for (int c = 0; c < count; c++) {
        const struct forward_canvas *canvas = &canvases[c];

        for (int i = 0; i < canvas->count; i++) {
            f->kept_from[pass.kept] = pass.rows + canvas->rows[i] - canvas->low;
            f->kept_positions[pass.kept++] = canvas->rows[i];
        }
        for (int i = canvas->low; i < canvas->high; i++) {
            f->ids[pass.rows] = canvas->ids[i];
            f->positions[pass.rows++] = i;
        }
    }
    backend_lists_send(f->backend, f->ids, pass.rows);
    backend_lists_send(f->backend, f->positions, pass.rows);
    backend_lists_send(f->backend, f->kept_from, pass.kept);
    backend_lists_send(f->backend, f->kept_positions, pass.kept);
    return pass;
}

void forward_watch(struct forward *f, forward_layer_callback *on_layer, void *context)
{
    f->on_layer = on_layer;
    f->layer_context = context;
    if (f->before)
        forward_watch(f->before, on_layer, context);
}

static void show(const struct forward *f, int layer, const struct backend_buffer *x, int rows)
{
    const struct forward_layer shown = {layer, rows, f->backend, x};

    if (f->on_layer)
        f->on_layer(f->layer_context, &shown);
}

/* Where the layers end that every row goes through. */
static int end_of_all_rows(const struct forward *f)
{
    return MIN(f->end_layer, f->model->hparams.layers - 1);
}

/* The embedding, unless that came before, and all layers but the last. */
static void run_layers(struct forward *f, const struct pass *pass)
{
    const struct weights *weights = &f->model->weights;

    if (!f->before) {
        backend_embed(f->backend, &weights->embedding, f->ids, pass->rows, f->x);
        show(f, -1, f->x, pass->rows);
    }
    for (int i = f->first_layer; i < end_of_all_rows(f); i++) {
        if (i == 0 && f->keeps_first) {
            project_first(f, &weights->layers[i], pass);
        } else {
            project(f, &weights->layers[i], f->x, f->positions, pass->rows);
            store(f, i, pass);
        }
        finish_layer(f, i, pass, f->x, pass->rows);
        show(f, i, f->x, pass->rows);
    }
}

/* All that these layers' operations depend on besides the contents of buffers and
 * lists; the rows whose logits are wanted come in with the last layer only. */
static size_t describe_shape(struct forward *f, const struct pass *pass)
{
    size_t bytes = (size_t)pass->count * sizeof *f->shape;

    memset(f->shape, 0, bytes);
    for (int c = 0; c < pass->count; c++) {
        const struct forward_canvas *canvas = &pass->canvases[c];

        f->shape[c].cache = canvas->cache ? canvas->cache->serial : 0;
        f->shape[c].length = canvas->length;
        f->shape[c].low = canvas->low;
        f->shape[c].high = canvas->high;
    }
    return bytes;
}

/* As recorded, where they were and nobody looks. */
static void replay_layers(struct forward *f, const struct pass *pass)
{
    size_t bytes = describe_shape(f, pass);

    if (f->before && f->first_layer >= end_of_all_rows(f))
        return;
    if (f->on_layer) {
        run_layers(f, pass);
        return;
    }
    if (backend_replay(f->backend, f->recordings, f->shape, bytes))
        return;
    do
        run_layers(f, pass);
    while (!backend_record_end(f->backend, f->recordings));
}

/* The last layer, past whose keys and values only the kept rows go. */
static void run_last(struct forward *f, const struct pass *pass)
{
    const int last = f->model->hparams.layers - 1;

    project_kept(f, &f->model->weights.layers[last], pass);
    store(f, last, pass);
    finish_layer(f, last, pass, f->kept, pass->kept);
    show(f, last, f->kept, pass->kept);
}

static void carry(struct forward *f, const struct backend_buffer *from, struct backend_buffer *to,
                  int rows)
{
    if (rows == 0)
        return;
    /* The host has them: that cannot fail. */
    backend_buffer_read(f->before->backend, from, 0, rows, f->crossing, NULL);
    backend_buffer_write(f->backend, to, 0, rows, f->crossing);
}

/* The layers on the other backend, and what comes out of them: of every row, or of the kept
 * ones where all layers are there. */
static void run_before(struct forward *f, const struct forward_canvas *canvases,
                       const struct pass *pass)
{
    forward_run(f->before, canvases, pass->count);
    if (f->first_layer < f->end_layer)
        carry(f, f->before->x, f->x, pass->rows);
    else
        carry(f, f->before->kept, f->kept, pass->kept);
}

void forward_run(struct forward *f, const struct forward_canvas *canvases, int count)
{
    const struct pass pass = open_pass(f, canvases, count);

    if (f->before)
        run_before(f, canvases, &pass);
    replay_layers(f, &pass);
    if (f->first_layer < f->end_layer && f->end_layer == f->model->hparams.layers)
        run_last(f, &pass);
}

/* Output norm and head of hidden states into f->logits. */
static struct backend_buffer *project_head(struct forward *f, struct backend_rows hidden)
{
    const struct weights *weights = &f->model->weights;
    const struct backend_product product = {&weights->head, NULL, f->logits, false};

    prepare_normed(f, hidden, weights->output_norm, type_bit(&weights->head));
    backend_matmul(f->backend, f->hidden_in, &product, 1);
    return f->logits;
}

struct backend_buffer *forward_logits(struct forward *f, int first, int count)
{
    return project_head(f, (struct backend_rows){f->kept, first, count});
}

/* The rows of both canvases go through the head side by side; the residual
 * stream's buffer is free by then. */
struct backend_buffer *forward_logits_guided(struct forward *f, int first, int unguided, int count,
                                             double scale)
{
    for (int i = 0; i < count; i++) {
        f->kept_from[i] = first + i;
        f->kept_from[count + i] = unguided + i;
    }
    backend_lists_send(f->backend, f->kept_from, 2 * count);
    backend_gather(f->backend, f->kept, f->kept_from, 2 * count, f->x);
    project_head(f, (struct backend_rows){f->x, 0, 2 * count});
    backend_guide(f->backend, f->logits, count, scale);
    return f->logits;
}
