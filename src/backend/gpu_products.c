/* gpu_products.c: inputs of matrix products, and the products. */
#include "gpu_backend.h"

#include <stdlib.h>

struct backend_activations {
    void *storage; /* device */
    struct gpu_block *block;
    struct cuda_activations view; /* cut from storage for the rows in use */
};

uint64_t gpu_activations_bytes(const struct backend *base, int rows, int width, uint64_t types)
{
    (void)base;
    return gpu_piece_bytes(cuda_activations_bytes(rows, width, cuda_forms_of(types)));
}

enum dllm_status gpu_activations_create(struct backend *base, int rows, int width, uint64_t types,
                                        struct backend_activations **out, struct dllm_error *error)
{
    struct gpu_backend *backend = gpu_of(base);
    struct backend_activations *activations = calloc(1, sizeof *activations);
    enum dllm_status status;

    if (!activations)
        return status_no_memory(error, sizeof *activations);
    gpu_ready(backend);
    status = gpu_memory_take(&backend->memory, gpu_activations_bytes(base, rows, width, types),
                             &activations->block, &activations->storage, error);
    if (status != DLLM_OK)
        free(activations);
    else
        *out = activations;
    return status;
}

void gpu_activations_destroy(struct backend *base, struct backend_activations *activations)
{
    struct gpu_backend *backend = gpu_of(base);

    gpu_ready(backend);
    gpu_memory_give(&backend->memory, activations->block);
    free(activations);
}

static void prepare(struct gpu_backend *backend, const struct cuda_inputs *in, int width,
                    uint64_t types, struct backend_activations *out)
{
    cuda_activations_layout(&out->view, out->storage, in->rows, width, cuda_forms_of(types));
    if (gpu_ready(backend))
        gpu_check(backend, cuda_prepare(in, &out->view, backend->stream), "inputs of a product");
}

void gpu_prepare(struct backend *base, struct backend_rows x, const struct backend_norm *norm,
                 uint64_t types, struct backend_activations *out)
{
    struct gpu_backend *backend = gpu_of(base);
    struct cuda_inputs in = {.x = x.buffer->data + (size_t)x.first * (size_t)x.buffer->width,
                             .rows = x.count};

    if (norm) {
        in.norm = gpu_constant(backend, norm->weight);
        in.eps = norm->eps;
    }
    prepare(backend, &in, x.buffer->width, types, out);
}

void gpu_prepare_gated(struct backend *base, const struct backend_buffer *gate,
                       const struct backend_buffer *up, int count, uint64_t types,
                       struct backend_activations *out)
{
    const struct cuda_inputs in = {.x = gate->data, .up = up->data, .rows = count};

    prepare(gpu_of(base), &in, gate->width, types, out);
}

void gpu_describe_products(struct gpu_backend *backend, const struct backend_product *products,
                           int count, int tokens, struct cuda_product *out)
{
    for (int i = 0; i < count; i++) {
        const struct backend_product *product = &products[i];
        const struct backend_matrix *matrix = product->matrix;

        out[i] = (struct cuda_product){.type = matrix->type,
                                       .rows = matrix->rows,
                                       .weights = gpu_constant(backend, matrix->data),
                                       .bias = gpu_constant(backend, product->bias),
                                       .out = product->out->data,
                                       .out_step = (size_t)product->out->width,
                                       .accumulate = product->accumulate};
        backend_count_product(&backend->base, matrix, tokens);
    }
}

void gpu_matmul(struct backend *base, const struct backend_activations *in,
                const struct backend_product *products, int count)
{
    struct gpu_backend *backend = gpu_of(base);
    struct cuda_product launch[CUDA_MAX_PRODUCTS];

    gpu_describe_products(backend, products, count, in->view.tokens, launch);
    if (gpu_ready(backend))
        gpu_check(backend, cuda_matmul(&in->view, launch, count, backend->stream),
                  "matrix product");
}
