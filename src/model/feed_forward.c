/*
 * feed_forward.c: gate and up in one launch, their product, down; of one
 * feed-forward or of the experts that a router chooses for each row.
 */
#include "feed_forward.h"

#include <stdlib.h>

struct feed_forward {
    struct backend *backend;
    const struct hparams *hparams;
    struct backend_buffer *gate, *up; /* [max_rows, ffn], of experts by slot */
    /* Without experts: */
    struct backend_activations *inner; /* gate times up, inputs of down */
    /* With experts: */
    struct backend_buffer *scores; /* [max_rows, experts] of the router */
    struct backend_buffer *down;   /* [slots, hidden] */
    struct backend_routing *routing;
    struct backend_visits *visits, *inner_visits; /* of widths hidden and ffn */
};

static struct backend_routing_limits routing_limits(const struct hparams *h, int max_rows)
{
    return (struct backend_routing_limits){max_rows, h->experts, h->experts_used};
}

static uint64_t expert_bytes(const struct backend *backend, const struct hparams *h, uint64_t types,
                             int max_rows)
{
    const struct backend_routing_limits limits = routing_limits(h, max_rows);
    const int slots = max_rows * h->experts_used;

    return 2 * backend_buffer_bytes(backend, slots, h->ffn) +
           backend_buffer_bytes(backend, slots, h->hidden) +
           backend_buffer_bytes(backend, max_rows, h->experts) +
           backend_routing_bytes(backend, &limits) +
           backend_visits_bytes(backend, &limits, h->hidden, types) +
           backend_visits_bytes(backend, &limits, h->ffn, types);
}

uint64_t feed_forward_bytes(const struct backend *backend, const struct hparams *h,
                            const struct weights *weights, int max_rows)
{
    if (h->experts)
        return expert_bytes(backend, h, weights->expert_types, max_rows);
    return 2 * backend_buffer_bytes(backend, max_rows, h->ffn) +
           backend_activations_bytes(backend, max_rows, h->ffn, weights->types);
}

static enum dllm_status create_experts(struct feed_forward *f, uint64_t types, int max_rows,
                                       struct dllm_error *error)
{
    const struct hparams *h = f->hparams;
    const struct backend_routing_limits limits = routing_limits(h, max_rows);
    const int slots = max_rows * h->experts_used;

    TRY(backend_buffer_create(f->backend, slots, h->ffn, &f->gate, error));
    TRY(backend_buffer_create(f->backend, slots, h->ffn, &f->up, error));
    TRY(backend_buffer_create(f->backend, slots, h->hidden, &f->down, error));
    TRY(backend_buffer_create(f->backend, max_rows, h->experts, &f->scores, error));
    TRY(backend_routing_create(f->backend, &limits, &f->routing, error));
    TRY(backend_visits_create(f->backend, &limits, h->hidden, types, &f->visits, error));
    return backend_visits_create(f->backend, &limits, h->ffn, types, &f->inner_visits, error);
}

static enum dllm_status create_one(struct feed_forward *f, uint64_t types, int max_rows,
                                   struct dllm_error *error)
{
    const int ffn = f->hparams->ffn;

    TRY(backend_buffer_create(f->backend, max_rows, ffn, &f->gate, error));
    TRY(backend_buffer_create(f->backend, max_rows, ffn, &f->up, error));
    return backend_activations_create(f->backend, max_rows, ffn, types, &f->inner, error);
}

enum dllm_status feed_forward_create(struct backend *backend, const struct hparams *hparams,
                                     const struct weights *weights, int max_rows,
                                     struct feed_forward **out, struct dllm_error *error)
{
    enum dllm_status status;
    struct feed_forward *f = calloc(1, sizeof *f);

    if (!f)
        return status_no_memory(error, sizeof *f);
    f->backend = backend;
    f->hparams = hparams;
    if (hparams->experts)
        TRY_GOTO(create_experts(f, weights->expert_types, max_rows, error));
    else
        TRY_GOTO(create_one(f, weights->types, max_rows, error));
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
    backend_buffer_destroy(f->backend, f->gate);
    backend_buffer_destroy(f->backend, f->up);
    backend_buffer_destroy(f->backend, f->scores);
    backend_buffer_destroy(f->backend, f->down);
    backend_activations_destroy(f->backend, f->inner);
    backend_routing_destroy(f->backend, f->routing);
    backend_visits_destroy(f->backend, f->visits);
    backend_visits_destroy(f->backend, f->inner_visits);
    free(f);
}

static uint64_t type_bit(const struct backend_matrix *matrix)
{
    return (uint64_t)1 << matrix->type;
}

/* Router scores of the normed rows, and from them who visits whom. */
static void route(struct feed_forward *f, const struct layer_weights *layer,
                  struct backend_activations *in, struct backend_rows x)
{
    const struct backend_norm norm = {layer->ffn_norm, f->hparams->rms_eps};
    const struct backend_product scores = {&layer->router, NULL, f->scores, false};

    backend_prepare(f->backend, x, &norm, type_bit(&layer->router), in);
    backend_matmul(f->backend, in, &scores, 1);
    backend_route(f->backend, f->scores, x.count, f->hparams->arch->renormalise, f->routing);
}

static void run_experts(struct feed_forward *f, const struct layer_weights *layer,
                        struct backend_buffer *x)
{
    const struct backend_norm norm = {layer->ffn_norm, f->hparams->rms_eps};
    const struct backend_product down = {&layer->down, NULL, f->down, false};
    const struct backend_product gate_up[] = {
        {&layer->gate, NULL, f->gate, false},
        {&layer->up, NULL, f->up, false},
    };

    backend_prepare_visits(f->backend, x, &norm, type_bit(&layer->gate) | type_bit(&layer->up),
                           f->routing, f->visits);
    backend_matmul_visits(f->backend, f->visits, f->routing, gate_up, 2);
    backend_prepare_gated_visits(f->backend, f->gate, f->up, type_bit(&layer->down), f->routing,
                                 f->inner_visits);
    backend_matmul_visits(f->backend, f->inner_visits, f->routing, &down, 1);
    backend_mix_visits(f->backend, f->down, f->routing, x);
}

static void run_one(struct feed_forward *f, const struct layer_weights *layer,
                    struct backend_activations *in, struct backend_rows rows,
                    struct backend_buffer *x)
{
    const struct backend_norm norm = {layer->ffn_norm, f->hparams->rms_eps};
    const struct backend_product down = {&layer->down, NULL, x, true};
    const struct backend_product gate_up[] = {
        {&layer->gate, NULL, f->gate, false},
        {&layer->up, NULL, f->up, false},
    };

    backend_prepare(f->backend, rows, &norm, type_bit(&layer->gate) | type_bit(&layer->up), in);
    backend_matmul(f->backend, in, gate_up, 2);
    backend_prepare_gated(f->backend, f->gate, f->up, rows.count, type_bit(&layer->down), f->inner);
    backend_matmul(f->backend, f->inner, &down, 1);
}

void feed_forward_run(struct feed_forward *f, const struct layer_weights *layer,
                      struct backend_activations *in, struct backend_buffer *x, int count)
{
    const struct backend_rows rows = {x, 0, count};

    if (!f->hparams->experts) {
        run_one(f, layer, in, rows, x);
        return;
    }
    route(f, layer, in, rows);
    run_experts(f, layer, x);
}
