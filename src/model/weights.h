/*
 * weights.h: binds named tensors to their roles and checks type and shape of
 * each once; after that nothing about weights can fail. Data stays in the
 * mapped file.
 */
#ifndef WEIGHTS_H
#define WEIGHTS_H

#include "hparams.h"

struct layer_weights {
    const float *attn_norm, *ffn_norm;     /* [hidden] */
    struct backend_matrix q, k, v, output; /* attention */
    const float *q_bias, *k_bias, *v_bias; /* NULL: none */
    const float *q_norm, *k_norm;          /* [head_dim], of each head; NULL: none */
    struct backend_matrix gate, up, down; /* feed-forward; of the first expert, the others follow */
    struct backend_matrix router;         /* [experts, hidden]; only where there are experts */
};

struct weights {
    struct backend_matrix embedding; /* [vocab, hidden] */
    struct backend_matrix head;      /* output.weight, else the embedding */
    const float *output_norm;        /* [hidden] */
    struct layer_weights *layers;    /* [hparams.layers], owned */
    float *vectors; /* [vector_floats] norms and biases, which the file need not align; owned */
    size_t vector_floats;
    uint64_t types;        /* bit set of all matrices' dtypes */
    uint64_t expert_types; /* of the experts' among them */
    uint64_t bytes;        /* of all tensors bound */
};

/* On success free with weights_free; the file must outlive the weights. */
enum dllm_status weights_bind(const struct dllm_file *file, const struct hparams *hparams,
                              struct weights *out, struct dllm_error *error);
void weights_free(struct weights *weights);

/* What passes over layers from `first` on and the output matrix read, and with all layers
 * the embedding; apart, in the order of their use: matrices, and norms and biases as one.
 * Fills out unless it is NULL; returns how many there are. */
size_t weights_constants(const struct weights *weights, const struct hparams *hparams, int first,
                         struct backend_range *out);

#endif
