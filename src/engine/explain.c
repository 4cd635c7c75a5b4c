/*
 * explain.c: where numbers came from that are not finite: from the file, whose
 * weights and scales are looked through, or from activations that overflow in
 * some layer of a pass.
 */
#include "engine.h"

#include "dtype.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The first row with something that is not finite, -1: none. */
static int64_t find_row(const struct dllm_tensor *tensor)
{
    const struct dtype_info *info = dtype_info(tensor->type);
    int64_t at =
        info && info->matrix ? dtype_find_not_finite(tensor->type, tensor->data, tensor->size) : -1;

    return at < 0 ? -1 : at / (int64_t)dtype_row_bytes(tensor->type, tensor->shape[0]);
}

static void append(struct dllm_error *error, const char *text)
{
    size_t used = strlen(error->message);

    snprintf(error->message + used, sizeof error->message - used, "%s", text);
}

/* Whether the message now names a tensor of the file. */
static bool name_tensor(const struct dllm_engine *engine, struct dllm_error *error)
{
    char text[200];

    for (size_t i = 0; i < dllm_file_tensor_count(engine->file); i++) {
        const struct dllm_tensor *tensor = dllm_file_tensor(engine->file, i);
        int64_t row = find_row(tensor);

        if (row < 0)
            continue;
        snprintf(text, sizeof text, "; tensor %.*s has a %s that is not finite in row %lld",
                 (int)MIN(tensor->name.size, 100), tensor->name.data,
                 dtype_info(tensor->type)->block_weights == 1 ? "weight" : "scale", (long long)row);
        append(error, text);
        return true;
    }
    return false;
}

/* --- a pass, looked at layer by layer --- */

enum { NO_LAYER = -2 };

struct layer_probe {
    int width;
    int layer; /* the first whose output is not finite; -1: the embedding */
    int row;   /* of that output */
};

static void look_at_layer(void *context, const struct forward_layer *seen)
{
    struct layer_probe *probe = context;
    size_t count = (size_t)seen->rows * (size_t)probe->width;
    float *values = probe->layer == NO_LAYER ? malloc(count * sizeof *values) : NULL;

    if (values &&
        backend_buffer_read(seen->backend, seen->x, 0, seen->rows, values, NULL) == DLLM_OK)
        for (size_t i = 0; i < count && probe->layer == NO_LAYER; i++)
            if (!isfinite(values[i])) {
                probe->layer = seen->layer;
                probe->row = (int)(i / (size_t)probe->width);
            }
    free(values);
}

static void name_layer(const struct layer_probe *probe, struct dllm_error *error)
{
    char text[160];

    if (probe->layer == NO_LAYER)
        snprintf(text, sizeof text,
                 "; all weights are finite, and so is what comes out of the "
                 "layers: the output matrix overflows");
    else if (probe->layer < 0)
        snprintf(text, sizeof text, "; all weights are finite, but not the embedding of row %d",
                 probe->row);
    else
        snprintf(text, sizeof text,
                 "; all weights are finite, but not what comes out of layer %d in row %d",
                 probe->layer, probe->row);
    append(error, text);
}

void session_explain(struct dllm_session *session, session_pass *pass, const void *context,
                     struct dllm_error *error)
{
    struct layer_probe probe = {.width = session->engine->model.hparams.hidden, .layer = NO_LAYER};

    if (!error || name_tensor(session->engine, error))
        return;
    if (!pass) {
        append(error, "; all weights are finite");
        return;
    }
    forward_watch(session->forward, look_at_layer, &probe);
    pass(session->forward, context);
    forward_watch(session->forward, NULL, NULL);
    name_layer(&probe, error);
}
