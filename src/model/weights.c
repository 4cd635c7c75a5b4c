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
    size_t bound;        /* tensors used so far */
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

/* rows 0: a vector. */
static enum dllm_status check_shape(struct binder *binder, const struct dllm_tensor *tensor,
                                    int width, int rows)
{
    const uint64_t *shape = tensor->shape;
    uint64_t want_rows = rows ? (uint64_t)rows : 1;
    char expected[48];

    if (shape[0] == (uint64_t)width && shape[1] == want_rows && shape[2] == 1 && shape[3] == 1)
        return DLLM_OK;
    if (rows)
        snprintf(expected, sizeof expected, "[%d, %d]", width, rows);
    else
        snprintf(expected, sizeof expected, "[%d]", width);
    return status_fail(binder->error, DLLM_ERROR_FORMAT,
                       "tensor %s has shape [%llu, %llu, %llu, %llu]; %s was expected",
                       binder->name, (unsigned long long)shape[0], (unsigned long long)shape[1],
                       (unsigned long long)shape[2], (unsigned long long)shape[3], expected);
}

static const char *type_name(uint32_t type)
{
    const struct dtype_info *info = dtype_info(type);

    return info ? info->name : "unknown";
}

static enum dllm_status bind_matrix(struct binder *binder, int layer, const char *suffix,
                                    struct backend_matrix *out)
{
    const struct dllm_tensor *tensor;
    const struct dtype_info *info;
    int rows = out->rows, width = out->width;

    set_name(binder, layer, suffix);
    TRY(need(binder, &tensor));
    TRY(check_shape(binder, tensor, width, rows));
    info = dtype_info(tensor->type);
    if (!info || !info->matrix)
        return status_fail(binder->error, DLLM_ERROR_UNSUPPORTED,
                           "tensor %s has type %s; matrices can be %s", binder->name,
                           type_name(tensor->type), dtype_matrix_names());
    *out = (struct backend_matrix){tensor->type, rows, width, tensor->data};
    binder->weights->types |= (uint64_t)1 << tensor->type;
    binder->weights->bytes += tensor->size;
    binder->bound++;
    return DLLM_OK;
}

/* Copies a vector: the file need not align it. */
static enum dllm_status bind_vector(struct binder *binder, int layer, const char *suffix, int width,
                                    const float **out)
{
    const struct dllm_tensor *tensor;
    float *copy = binder->weights->vectors + binder->vectors_used;

    set_name(binder, layer, suffix);
    TRY(need(binder, &tensor));
    TRY(check_shape(binder, tensor, width, 0));
    if (tensor->type != DTYPE_F32)
        return status_fail(binder->error, DLLM_ERROR_UNSUPPORTED,
                           "tensor %s has type %s; norms and biases must be F32", binder->name,
                           type_name(tensor->type));
    memcpy(copy, tensor->data, sizeof(float) * (size_t)width);
    binder->vectors_used += (size_t)width;
    binder->weights->bytes += tensor->size;
    binder->bound++;
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

static enum dllm_status bind_layer(struct binder *binder, int i, struct layer_weights *layer)
{
    const struct hparams *h = binder->hparams;
    int q_width = h->heads * h->head_dim, kv_width = h->kv_heads * h->head_dim;

    *layer = (struct layer_weights){
        .q = {.rows = q_width, .width = h->hidden},
        .k = {.rows = kv_width, .width = h->hidden},
        .v = {.rows = kv_width, .width = h->hidden},
        .output = {.rows = h->hidden, .width = q_width},
        .gate = {.rows = h->ffn, .width = h->hidden},
        .up = {.rows = h->ffn, .width = h->hidden},
        .down = {.rows = h->hidden, .width = h->ffn},
    };
    TRY(bind_vector(binder, i, "attn_norm.weight", h->hidden, &layer->attn_norm));
    TRY(bind_matrix(binder, i, "attn_q.weight", &layer->q));
    TRY(bind_matrix(binder, i, "attn_k.weight", &layer->k));
    TRY(bind_matrix(binder, i, "attn_v.weight", &layer->v));
    TRY(bind_biases(binder, i, layer));
    TRY(bind_matrix(binder, i, "attn_output.weight", &layer->output));
    TRY(bind_vector(binder, i, "ffn_norm.weight", h->hidden, &layer->ffn_norm));
    TRY(bind_matrix(binder, i, "ffn_gate.weight", &layer->gate));
    TRY(bind_matrix(binder, i, "ffn_up.weight", &layer->up));
    return bind_matrix(binder, i, "ffn_down.weight", &layer->down);
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

static bool is_layer_tensor(const struct binder *binder, struct dllm_string name)
{
    static const char *const suffixes[] = {
        "attn_norm.weight", "attn_q.weight",   "attn_k.weight", "attn_v.weight",
        "attn_q.bias",      "attn_k.bias",     "attn_v.bias",   "attn_output.weight",
        "ffn_norm.weight",  "ffn_gate.weight", "ffn_up.weight", "ffn_down.weight",
    };
    char text[96], suffix[64], again[96];
    int layer;

    if (name.size >= sizeof text)
        return false;
    memcpy(text, name.data, name.size);
    text[name.size] = 0;
    if (sscanf(text, "blk.%9d.%63s", &layer, suffix) != 2)
        return false;
    /* Numbers have several spellings, of which the model looks for one. */
    snprintf(again, sizeof again, "blk.%d.%s", layer, suffix);
    if (strlen(again) != name.size || memcmp(again, name.data, name.size) != 0)
        return false;
    for (size_t i = 0; i < ARRAY_COUNT(suffixes); i++)
        if (strcmp(suffix, suffixes[i]) == 0)
            return layer >= 0 && layer < binder->hparams->layers;
    return false;
}

/* Names the first tensor that was not bound. */
static enum dllm_status refuse_unused(struct binder *binder)
{
    static const char *const ends[] = {"token_embd.weight", "output_norm.weight", "output.weight"};
    size_t count = dllm_file_tensor_count(binder->file);

    for (size_t i = 0; binder->bound != count && i < count; i++) {
        struct dllm_string name = dllm_file_tensor(binder->file, i)->name;
        bool known = is_layer_tensor(binder, name);

        for (size_t e = 0; e < ARRAY_COUNT(ends); e++)
            known |= strlen(ends[e]) == name.size && memcmp(ends[e], name.data, name.size) == 0;
        if (!known)
            return status_fail(binder->error, DLLM_ERROR_UNSUPPORTED,
                               "tensor %.*s has no place in a %s model of %d layers; running "
                               "without it would give wrong answers",
                               (int)MIN(name.size, 64), name.data, binder->hparams->arch->name,
                               binder->hparams->layers);
    }
    return DLLM_OK;
}

/* Room for all vectors a model of these numbers can have. */
static enum dllm_status allocate(struct binder *binder)
{
    const struct hparams *h = binder->hparams;
    size_t biases = (size_t)(h->heads + 2 * h->kv_heads) * (size_t)h->head_dim;
    size_t floats = (size_t)h->layers * (2 * (size_t)h->hidden + biases) + (size_t)h->hidden;
    struct weights *weights = binder->weights;

    weights->layers = calloc((size_t)h->layers, sizeof *weights->layers);
    weights->vectors = malloc(sizeof(float) * floats);
    if (weights->layers && weights->vectors)
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
    return DLLM_OK;
fail:
    weights_free(out);
    return status;
}

void weights_free(struct weights *weights)
{
    free(weights->layers);
    free(weights->vectors);
    *weights = (struct weights){0};
}
