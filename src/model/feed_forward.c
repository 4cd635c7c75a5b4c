/* feed_forward.c: gate and up in one launch, their product, down. */
#include "feed_forward.h"

#include <stdlib.h>

struct feed_forward {
    struct backend *backend;
    const struct hparams *hparams;
    struct backend_buffer *gate, *up;  /* [max_rows, ffn] */
    struct backend_activations *inner; /* their product, inputs of down */
};

uint64_t feed_forward_bytes(const struct hparams *hparams, uint64_t types, int max_rows)
{
    return 2 * backend_buffer_bytes(max_rows, hparams->ffn) +
           backend_activations_bytes(max_rows, hparams->ffn, types);
}

enum dllm_status feed_forward_create(struct backend *backend, const struct hparams *hparams,
                                     uint64_t types, int max_rows, struct feed_forward **out,
                                     struct dllm_error *error)
{
    enum dllm_status status;
    int ffn = hparams->ffn;
    struct feed_forward *f = calloc(1, sizeof *f);

    if (!f)
        return status_no_memory(error, sizeof *f);
    f->backend = backend;
    f->hparams = hparams;
    TRY_GOTO(backend_buffer_create(backend, max_rows, ffn, &f->gate, error));
    TRY_GOTO(backend_buffer_create(backend, max_rows, ffn, &f->up, error));
    TRY_GOTO(backend_activations_create(backend, max_rows, ffn, types, &f->inner, error));
    *out = f;
    return DLLM_OK;
fail:
    feed_forward_destroy(f);
    return status;
}

void feed_forward_destroy(struct feed_forward *f)
{
    if (!f)
        return;
    backend_buffer_destroy(f->gate);
    backend_buffer_destroy(f->up);
    backend_activations_destroy(f->inner);
    free(f);
}

static uint64_t type_bit(const struct backend_matrix *matrix)
{
    return (uint64_t)1 << matrix->type;
}

void feed_forward_run(struct feed_forward *f, const struct layer_weights *layer,
                      struct backend_activations *in, struct backend_buffer *x, int count)
{
    const struct backend_norm norm = {layer->ffn_norm, f->hparams->rms_eps};
    const struct backend_product down = {&layer->down, NULL, x, true};
    const struct backend_product gate_up[] = {
        {&layer->gate, NULL, f->gate, false},
        {&layer->up, NULL, f->up, false},
    };

    backend_prepare(f->backend, (struct backend_rows){x, 0, count}, &norm,
                    type_bit(&layer->gate) | type_bit(&layer->up), in);
    backend_matmul(f->backend, in, gate_up, 2);
    backend_prepare_gated(f->backend, f->gate, f->up, count, type_bit(&layer->down), f->inner);
    backend_matmul(f->backend, f->inner, &down, 1);
}
