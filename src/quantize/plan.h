/*
 * plan.h: which type each tensor of a quantized file gets: a type throughout, or
 * the usual mixes, in which a few tensors that matter more have more bits.
 */
#ifndef PLAN_H
#define PLAN_H

#include "dllm.h"

/* A file type: what `dllm quantize` is asked for. */
struct quantize_mix {
    const char *name;
    uint32_t base, better; /* enum dtype; equal where it is no mix */
    uint32_t file_type;    /* general.file_type of the format */
};

/* The mix of that name, whatever the case of its letters; NULL if there is none. */
const struct quantize_mix *quantize_mix_find(const char *name);

/* All names, "Q8_0, Q6_K, ...": for messages. */
const char *quantize_mix_names(void);

/*
 * The type of a tensor in the new file: its own for vectors, norms and routers.
 * Mixes give the better type to the output matrix (the embedding where there is
 * none) and, in layer i of n, to attn_v and ffn_down where i < n / 8, i >= 7n / 8
 * or (i - n / 8) % 3 = 2; experts make no difference (llama.cpp gives other types in
 * models of just eight, which none of the architectures here has). Rows that are no
 * multiple of 256 get Q5_0 for Q4_K, Q5_1 for Q5_K and Q8_0 for Q6_K; rows that are
 * no multiple of 32 F16. A matrix that is to be encoded and is neither F32 nor F16
 * nor BF16 is an error.
 */
enum dllm_status quantize_plan(const struct quantize_mix *mix, const struct dllm_file *file,
                               int layers, const struct dllm_tensor *tensor, uint32_t *type,
                               struct dllm_error *error);

#endif
