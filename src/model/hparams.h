/* hparams.h: the numbers of a model, read from its metadata and checked. */
#ifndef HPARAMS_H
#define HPARAMS_H

#include "arch.h"

struct hparams {
    const struct arch *arch;
    int layers, hidden, ffn, heads, kv_heads, head_dim, rope_dims, vocab, context_length;
    int experts, experts_used; /* 0: one feed-forward; else ffn is the width of an expert's */
    float rms_eps;
    double rope_base;
    bool shift_logits;
};

/* Reads and checks every key of models.md. context_length is 0 when the file
 * gives none. */
enum dllm_status hparams_read(const struct dllm_file *file, struct hparams *out,
                              struct dllm_error *error);

#endif
