/*
 * weights.c: finds every tensor by name, checks type and shape, and refuses a
 * file with tensors that nothing would use: a model that needs them would
 * otherwise run and be silently wrong.
 */
#include "weights.h"

#include "dtype.h"
#include "gguf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct binder {
    const struct dllm_file *file;
    const struct hparams *hparams;
    struct weights *weights;
    struct dllm_error *error;
    bool *bound;         /* [tensors of the file] those used so far; owned */
    size_t vectors_used; /* floats cut from weights->vectors */
    char name[96];       /* of the tensor at hand */
};

/* Names tensor `suffix` of a layer; layer -1: no layer. */
static void set_name(struct binder *binder, int layer, const char *suffix)
{
    if (layer < 0)
        snprintf(binder->name, sizeof binder->name, "%s", suffix);
    else
        snprintf(binder->name, sizeof binder->name, "blk.%d.%s", layer, suffix);
}

static const struct dllm_tensor *find(struct binder *binder)
{
    return dllm_file_find_tensor(binder->file, binder->name);
}

static enum dllm_status need(struct binder *binder, const struct dllm_tensor **out)
{
    *out = find(binder);
    if (*out)
        return DLLM_OK;
    return status_fail(binder->error, DLLM_ERROR_FORMAT,
                       "tensor %s is missing; a %s model of %d layers must have it", binder->name,
                       binder->hparams->arch->name, binder->hparams->layers);
}

/* What a role asks of its tensor. */
struct expected {
    int width, rows; /* rows 0: a vector */
    int stack;       /* matrices that follow one another; 1 where there are no experts */
};

static void show_expected(const struct expected *want, char *out, size_t size)
{
    if (want->rows == 0)
        snprintf(out, size, "[%d]", want->width);
    else if (want->stack == 1)
        snprintf(out, size, "[%d, %d]", want->width, want->rows);
    else
        snprintf(out, size, "[%d, %d, %d]", want->width, want->rows, want->stack);
}

static enum dllm_status check_shape(struct binder *binder, const struct dllm_tensor *tensor,
                                    const struct expected *want)
{
    const uint64_t *shape = tensor->shape;
    char expected[64];

    if (shape[0] == (uint64_t)want->width && shape[1] == (uint64_t)MAX(want->rows, 1) &&
        shape[2] == (uint64_t)want->stack && shape[3] == 1)
        return DLLM_OK;
    show_expected(want, expected, sizeof expected);
    return status_fail(binder->error, DLLM_ERROR_FORMAT,
                       "tensor %s has shape [%llu, %llu, %llu, %llu]; %s was expected",
                       binder->name, (unsigned long long)shape[0], (unsigned long long)shape[1],
                       (unsigned long long)shape[2], (unsigned long long)shape[3], expected);
}

static void mark_bound(struct binder *binder, const struct dllm_tensor *tensor)
{
    binder->weights->bytes += tensor->size;
    binder->bound[tensor - dllm_file_tensor(binder->file, 0)] = true;
}

static const char *type_name(uint32_t type)
{
    const struct dtype_info *info = dtype_info(type);

    return info ? info->name : "unknown";
}

/* `stack` matrices of the shape that *out has. */
static enum dllm_status bind_stack(struct binder *binder, int layer, const char *suffix, int stack,
                                   struct backend_matrix *out)
{
    const struct expected want = {out->width, out->rows, stack};
    const struct dllm_tensor *tensor;
    const struct dtype_info *info;

    set_name(binder, layer, suffix);
    TRY(need(binder, &tensor));
    TRY(check_shape(binder, tensor, &want));
    info = dtype_info(tensor->type);
    if (!info || !info->matrix)
        return status_fail(binder->error, DLLM_ERROR_UNSUPPORTED,
                           "tensor %s has type %s; matrices can be %s", binder->name,
                           type_name(tensor->type), dtype_matrix_names());
    out->type = tensor->type;
    out->data = tensor->data;
    binder->weights->types |= (uint64_t)1 << tensor->type;
    mark_bound(binder, tensor);
    return DLLM_OK;
}

static enum dllm_status bind_matrix(struct binder *binder, int layer, const char *suffix,
                                    struct backend_matrix *out)
{
    return bind_stack(binder, layer, suffix, 1, out);
}

/* Copies a vector: the file need not align it. */
static enum dllm_status bind_vector(struct binder *binder, int layer, const char *suffix, int width,
                                    const float **out)
{
    const struct expected want = {width, 0, 1};
    const struct dllm_tensor *tensor;
    float *copy = binder->weights->vectors + binder->vectors_used;

    set_name(binder, layer, suffix);
    TRY(need(binder, &tensor));
    TRY(check_shape(binder, tensor, &want));
    if (tensor->type != DTYPE_F32)
        return status_fail(binder->error, DLLM_ERROR_UNSUPPORTED,
                           "tensor %s has type %s; norms and biases must be F32", binder->name,
                           type_name(tensor->type));
    memcpy(copy, tensor->data, sizeof(float) * (size_t)width);
    binder->vectors_used += (size_t)width;
    mark_bound(binder, tensor);
    *out = copy;
    return DLLM_OK;
}

static bool has_tensor(struct binder *binder, int layer, const char *suffix)
{
    set_name(binder, layer, suffix);
    return find(binder) != NULL;
}

/* All three biases or none. */
static enum dllm_status bind_biases(struct binder *binder, int i, struct layer_weights *layer)
{
    int found = has_tensor(binder, i, "attn_q.bias") + has_tensor(binder, i, "attn_k.bias") +
                has_tensor(binder, i, "attn_v.bias");

    if (found == 0)
        return DLLM_OK;
    TRY(bind_vector(binder, i, "attn_q.bias", layer->q.rows, &layer->q_bias));
    TRY(bind_vector(binder, i, "attn_k.bias", layer->k.rows, &layer->k_bias));
    return bind_vector(binder, i, "attn_v.bias", layer->v.rows, &layer->v_bias);
}

static enum dllm_status bind_attention(struct binder *binder, int i, struct layer_weights *layer)
{
    const struct hparams *h = binder->hparams;
    int q_width = h->heads * h->head_dim, kv_width = h->kv_heads * h->head_dim;

    layer->q = (struct backend_matrix){.rows = q_width, .width = h->hidden};
    layer->k = layer->v = (struct backend_matrix){.rows = kv_width, .width = h->hidden};
    layer->output = (struct backend_matrix){.rows = h->hidden, .width = q_width};
    TRY(bind_vector(binder, i, "attn_norm.weight", h->hidden, &layer->attn_norm));
    TRY(bind_matrix(binder, i, "attn_q.weight", &layer->q));
    TRY(bind_matrix(binder, i, "attn_k.weight", &layer->k));
    TRY(bind_matrix(binder, i, "attn_v.weight", &layer->v));
    TRY(bind_biases(binder, i, layer));
    if (h->arch->head_norms) {
        TRY(bind_vector(binder, i, "attn_q_norm.weight", h->head_dim, &layer->q_norm));
        TRY(bind_vector(binder, i, "attn_k_norm.weight", h->head_dim, &layer->k_norm));
    }
    return bind_matrix(binder, i, "attn_output.weight", &layer->output);
}

static enum dllm_status bind_feed_forward(struct binder *binder, int i, struct layer_weights *layer)
{
    const struct hparams *h = binder->hparams;

    layer->gate = layer->up = (struct backend_matrix){.rows = h->ffn, .width = h->hidden};
    layer->down = (struct backend_matrix){.rows = h->hidden, .width = h->ffn};
    layer->router = (struct backend_matrix){.rows = h->experts, .width = h->hidden};
    TRY(bind_vector(binder, i, "ffn_norm.weight", h->hidden, &layer->ffn_norm));
    if (!h->arch->experts) {
        TRY(bind_matrix(binder, i, "ffn_gate.weight", &layer->gate));
        TRY(bind_matrix(binder, i, "ffn_up.weight", &layer->up));
        return bind_matrix(binder, i, "ffn_down.weight", &layer->down);
    }
    TRY(bind_matrix(binder, i, "ffn_gate_inp.weight", &layer->router));
    TRY(bind_stack(binder, i, "ffn_gate_exps.weight", h->experts, &layer->gate));
    TRY(bind_stack(binder, i, "ffn_up_exps.weight", h->experts, &layer->up));
    TRY(bind_stack(binder, i, "ffn_down_exps.weight", h->experts, &layer->down));
    binder->weights->expert_types |= (uint64_t)1 << layer->gate.type |
                                     (uint64_t)1 << layer->up.type |
                                     (uint64_t)1 << layer->down.type;
    return DLLM_OK;
}

static enum dllm_status bind_layer(struct binder *binder, int i, struct layer_weights *layer)
{
    TRY(bind_attention(binder, i, layer));
    return bind_feed_forward(binder, i, layer);
}

static enum dllm_status bind_ends(struct binder *binder)
{
    const struct hparams *h = binder->hparams;
    struct weights *weights = binder->weights;

    weights->embedding = (struct backend_matrix){.rows = h->vocab, .width = h->hidden};
    TRY(bind_matrix(binder, -1, "token_embd.weight", &weights->embedding));
    TRY(bind_vector(binder, -1, "output_norm.weight", h->hidden, &weights->output_norm));
    weights->head = weights->embedding;
    if (has_tensor(binder, -1, "output.weight"))
        return bind_matrix(binder, -1, "output.weight", &weights->head);
    return DLLM_OK;
}

/* Names the first tensor that was not bound. */
static enum dllm_status refuse_unused(struct binder *binder)
{
    size_t count = dllm_file_tensor_count(binder->file), i = 0;
    struct dllm_string name;

    while (i < count && binder->bound[i])
        i++;
    if (i == count)
        return DLLM_OK;
    name = dllm_file_tensor(binder->file, i)->name;
    return status_fail(binder->error, DLLM_ERROR_UNSUPPORTED,
                       "tensor %.*s has no place in a %s model of %d layers; running without it "
                       "would give wrong answers",
                       (int)MIN(name.size, 64), name.data, binder->hparams->arch->name,
                       binder->hparams->layers);
}

/* Room for all vectors a model of these numbers can have. */
static enum dllm_status allocate(struct binder *binder)
{
    const struct hparams *h = binder->hparams;
    size_t biases = (size_t)(h->heads + 2 * h->kv_heads) * (size_t)h->head_dim;
    size_t norms = 2 * (size_t)h->hidden + (h->arch->head_norms ? 2 * (size_t)h->head_dim : 0);
    size_t floats = (size_t)h->layers * (norms + biases) + (size_t)h->hidden;
    struct weights *weights = binder->weights;

    weights->layers = calloc((size_t)h->layers, sizeof *weights->layers);
    weights->vectors = calloc(floats, sizeof(float));
    weights->vector_floats = floats;
    binder->bound = calloc(dllm_file_tensor_count(binder->file), sizeof *binder->bound);
    if (weights->layers && weights->vectors && binder->bound)
        return DLLM_OK;
    return status_no_memory(binder->error, sizeof(float) * floats);
}

/* A file of N layers has at least 9 tensors a layer: checked before a layer
 * count from the file decides how much is allocated. */
static enum dllm_status check_layer_count(const struct binder *binder)
{
    size_t tensors = dllm_file_tensor_count(binder->file);

    if ((size_t)binder->hparams->layers <= tensors / 9)
        return DLLM_OK;
    return status_fail(binder->error, DLLM_ERROR_FORMAT,
                       "key %s.block_count says %d layers, but the file has only %zu tensors; at "
                       "least 9 a layer were expected",
                       binder->hparams->arch->name, binder->hparams->layers, tensors);
}

enum dllm_status weights_bind(const struct dllm_file *file, const struct hparams *hparams,
                              struct weights *out, struct dllm_error *error)
{
    enum dllm_status status;
    struct binder binder = {.file = file, .hparams = hparams, .weights = out, .error = error};

    *out = (struct weights){0};
    TRY(check_layer_count(&binder));
    TRY_GOTO(allocate(&binder));
    TRY_GOTO(bind_ends(&binder));
    for (int i = 0; i < hparams->layers; i++)
        TRY_GOTO(bind_layer(&binder, i, &out->layers[i]));
    TRY_GOTO(refuse_unused(&binder));
    free(binder.bound);
    return DLLM_OK;
fail:
    free(binder.bound);
    weights_free(out);
    return status;
}

void weights_free(struct weights *weights)
{
    free(weights->layers);
    free(weights->vectors);
    *weights = (struct weights){0};
}
