/* gpu_visits.c: experts: who visits whom, the visits' inputs and products. */
#include "gpu_backend.h"

#include <stdlib.h>

struct backend_routing {
    struct backend_routing_limits limits;
    struct gpu_block *block;
    struct cuda_routing view; /* its rows are those routed last */
};

struct backend_visits {
    void *storage; /* device */
    struct gpu_block *block;
    struct cuda_activations view;
};

static int slots_of(const struct backend_routing_limits *limits)
{
    return limits->rows * limits->used;
}

uint64_t gpu_routing_bytes(const struct backend *base, const struct backend_routing_limits *limits)
{
    (void)base;
    return gpu_piece_bytes(sizeof(int32_t) *
                           (4 * (uint64_t)slots_of(limits) + (uint64_t)limits->experts + 1));
}

static void cut(struct backend_routing *routing, int32_t *at)
{
    size_t slots = (size_t)slots_of(&routing->limits);

    routing->view = (struct cuda_routing){.experts = routing->limits.experts,
                                          .used = routing->limits.used,
                                          .expert = at,
                                          .share = (float *)(at + slots),
                                          .slot = at + 2 * slots,
                                          .row = at + 3 * slots,
                                          .first = at + 4 * slots};
}

enum dllm_status gpu_routing_create(struct backend *base,
                                    const struct backend_routing_limits *limits,
                                    struct backend_routing **out, struct dllm_error *error)
{
    struct gpu_backend *backend = gpu_of(base);
    struct backend_routing *routing = calloc(1, sizeof *routing);
    enum dllm_status status;
    void *memory;

    if (!routing)
        return status_no_memory(error, sizeof *routing);
    gpu_ready(backend);
    routing->limits = *limits;
    status = gpu_memory_take(&backend->memory, gpu_routing_bytes(base, limits), &routing->block,
                             &memory, error);
    if (status != DLLM_OK) {
        free(routing);
        return status;
    }
    cut(routing, memory);
    *out = routing;
    return DLLM_OK;
}

void gpu_routing_destroy(struct backend *base, struct backend_routing *routing)
{
    struct gpu_backend *backend = gpu_of(base);

    gpu_ready(backend);
    gpu_memory_give(&backend->memory, routing->block);
    free(routing);
}

uint64_t gpu_visits_bytes(const struct backend *base, const struct backend_routing_limits *limits,
                          int width, uint64_t types)
{
    (void)base;
    return gpu_piece_bytes(cuda_activations_bytes(slots_of(limits), width, cuda_forms_of(types)));
}

enum dllm_status gpu_visits_create(struct backend *base,
                                   const struct backend_routing_limits *limits, int width,
                                   uint64_t types, struct backend_visits **out,
                                   struct dllm_error *error)
{
    struct gpu_backend *backend = gpu_of(base);
    struct backend_visits *visits = calloc(1, sizeof *visits);
    enum dllm_status status;

    if (!visits)
        return status_no_memory(error, sizeof *visits);
    gpu_ready(backend);
    status = gpu_memory_take(&backend->memory, gpu_visits_bytes(base, limits, width, types),
                             &visits->block, &visits->storage, error);
    if (status != DLLM_OK)
        free(visits);
    else
        *out = visits;
    return status;
}

void gpu_visits_destroy(struct backend *base, struct backend_visits *visits)
{
    struct gpu_backend *backend = gpu_of(base);

    gpu_ready(backend);
    gpu_memory_give(&backend->memory, visits->block);
    free(visits);
}

void gpu_route(struct backend *base, const struct backend_buffer *scores, int count,
               bool renormalise, struct backend_routing *routing)
{
    struct gpu_backend *backend = gpu_of(base);

    routing->view.rows = count;
    if (gpu_ready(backend))
        gpu_check(backend,
                  cuda_route_rows(scores->data, renormalise, &routing->view, backend->stream),
                  "routing to experts");
}

static void prepare(struct gpu_backend *backend, const struct cuda_inputs *in, int width,
                    uint64_t types, const struct backend_routing *routing,
                    struct backend_visits *out)
{
    cuda_activations_layout(&out->view, out->storage, routing->view.rows * routing->view.used,
                            width, cuda_forms_of(types));
    if (gpu_ready(backend))
        gpu_check(backend, cuda_prepare(in, &out->view, backend->stream), "inputs of experts");
}

void gpu_prepare_visits(struct backend *base, const struct backend_buffer *x,
                        const struct backend_norm *norm, uint64_t types,
                        const struct backend_routing *routing, struct backend_visits *out)
{
    struct gpu_backend *backend = gpu_of(base);
    struct cuda_inputs in = {.x = x->data,
                             .rows = routing->view.rows,
                             .slots = routing->view.slot,
                             .used = routing->view.used};

    if (norm) {
        in.norm = gpu_constant(backend, norm->weight);
        in.eps = norm->eps;
    }
    prepare(backend, &in, x->width, types, routing, out);
}

/* Gate and up lie by slot already. */
void gpu_prepare_gated_visits(struct backend *base, const struct backend_buffer *gate,
                              const struct backend_buffer *up, uint64_t types,
                              const struct backend_routing *routing, struct backend_visits *out)
{
    const struct cuda_inputs in = {
        .x = gate->data, .up = up->data, .rows = routing->view.rows * routing->view.used};

    prepare(gpu_of(base), &in, gate->width, types, routing, out);
}

void gpu_matmul_visits(struct backend *base, const struct backend_visits *in,
                       const struct backend_routing *routing,
                       const struct backend_product *products, int count)
{
    struct gpu_backend *backend = gpu_of(base);
    const struct cuda_visits visits = {
        .first = routing->view.first, .experts = routing->view.experts, .most = routing->view.rows};
    struct cuda_product launch[CUDA_MAX_PRODUCTS];

    gpu_describe_products(backend, products, count, in->view.tokens, launch);
    if (gpu_ready(backend))
        gpu_check(backend, cuda_matmul_visits(&in->view, &visits, launch, count, backend->stream),
                  "product of experts");
}

void gpu_mix_visits(struct backend *base, const struct backend_buffer *y,
                    const struct backend_routing *routing, struct backend_buffer *x)
{
    struct gpu_backend *backend = gpu_of(base);

    if (gpu_ready(backend))
        gpu_check(backend,
                  cuda_mix_visits(y->data, &routing->view, x->width, x->data, backend->stream),
                  "sum of experts");
}
