/*
 * tiny_model.h: a small random model as a GGUF file, whole or with one fault.
 */
#ifndef TINY_MODEL_H
#define TINY_MODEL_H

#include "dllm.h"

/* Letters, a blank and the special tokens. */
enum { TINY_TOKENS = 32 };

/* What to write; start from tiny_model_llada or one of the others. */
struct tiny_model {
    const char *architecture;
    int layers, hidden, ffn, heads, kv_heads, vocab;
    int experts, experts_used;  /* 0: one feed-forward; ffn is each one's width */
    bool head_norms;            /* of queries and keys */
    int key_length;             /* 0: no key */
    int rope_dims;              /* 0: no key */
    int context;                /* 0: no key */
    int biases;                 /* how many of the three: 0, 3, or 1 as a fault */
    bool tied;                  /* no output.weight */
    bool causal;                /* writes attention.causal = true */
    bool text;                  /* with a vocabulary; vocab is at least TINY_TOKENS */
    uint32_t type;              /* of every matrix: F32 or BF16 */
    const char *without_key;    /* a key suffix left out, or NULL */
    const char *without_tensor; /* a tensor left out, or NULL */
    const char *extra_tensor;   /* a tensor that no model has, or NULL */
    const char *wrong_shape;    /* a tensor whose row length is 32 more, or NULL */
    const char *wrong_type;     /* a tensor written as F16 or, for matrices, Q4_0; or NULL */
    uint64_t seed;
};

/* A model without faults, two layers of F32. */
struct tiny_model tiny_model_llada(void);
struct tiny_model tiny_model_dream(void);
struct tiny_model tiny_model_llada_moe(void);
struct tiny_model tiny_model_rnd1(void);

/* The file as malloc'ed bytes. */
uint8_t *tiny_model_bytes(const struct tiny_model *model, size_t *size);

/* Writes it to a scratch file and opens that; the test removes path. */
struct dllm_file *tiny_model_open(const struct tiny_model *model, char *path);

#endif
