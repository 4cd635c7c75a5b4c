/* tiny_model.c: keys and tensors of models.md with random weights. */
#include "tiny_model.h"

#include "compiler.h"
#include "dtype.h"
#include "gguf_writer.h"
#include "test_paths.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct tiny_model tiny_model_llada(void)
{
    return (struct tiny_model){.architecture = "llada",
                               .layers = 2,
                               .hidden = 64,
                               .ffn = 96,
                               .heads = 2,
                               .kv_heads = 2,
                               .vocab = 40,
                               .type = DTYPE_F32,
                               .seed = 1};
}

struct tiny_model tiny_model_dream(void)
{
    struct tiny_model model = tiny_model_llada();

    model.architecture = "dream";
    model.heads = 4;
    model.kv_heads = 2;
    model.hidden = 128;
    model.biases = 3;
    return model;
}

struct tiny_model tiny_model_llada_moe(void)
{
    struct tiny_model model = tiny_model_llada();

    model.architecture = "llada-moe";
    model.experts = 5;
    model.experts_used = 2;
    model.head_norms = true;
    return model;
}

struct tiny_model tiny_model_rnd1(void)
{
    struct tiny_model model = tiny_model_dream();

    model.architecture = "rnd1";
    model.biases = 0;
    model.experts = 7;
    model.experts_used = 3;
    model.head_norms = true;
    return model;
}

struct maker {
    const struct tiny_model *model;
    struct gguf_writer *writer;
    uint64_t random;
};

static bool is(const char *name, const char *other)
{
    return other && strcmp(name, other) == 0;
}

static float next_weight(struct maker *maker, float scale)
{
    maker->random = maker->random * 6364136223846793005u + 1442695040888963407u;
    return scale * ((float)(maker->random >> 40) / (float)(1 << 23) - 1.0f);
}

static void key(struct maker *maker, const char *suffix, int64_t value)
{
    char name[96];

    snprintf(name, sizeof name, "%s.%s", maker->model->architecture, suffix);
    if (value && !is(suffix, maker->model->without_key))
        gguf_write_integer(maker->writer, name, DLLM_VALUE_U32, value);
}

static void keys(struct maker *maker)
{
    const struct tiny_model *m = maker->model;
    char name[96];

    gguf_write_string(maker->writer, "general.architecture", m->architecture);
    key(maker, "block_count", m->layers);
    key(maker, "embedding_length", m->hidden);
    key(maker, m->experts ? "expert_feed_forward_length" : "feed_forward_length", m->ffn);
    key(maker, "expert_count", m->experts);
    key(maker, "expert_used_count", m->experts_used);
    key(maker, "attention.head_count", m->heads);
    key(maker, "attention.head_count_kv", m->kv_heads);
    key(maker, "attention.key_length", m->key_length);
    key(maker, "rope.dimension_count", m->rope_dims);
    key(maker, "context_length", m->context);
    snprintf(name, sizeof name, "%s.attention.layer_norm_rms_epsilon", m->architecture);
    if (!is("attention.layer_norm_rms_epsilon", m->without_key))
        gguf_write_f32(maker->writer, name, 1e-5f);
    snprintf(name, sizeof name, "%s.attention.causal", m->architecture);
    if (m->causal)
        gguf_write_integer(maker->writer, name, DLLM_VALUE_BOOL, 1);
}

/* The letters a to z, a blank ("\u0120") and what a chat model needs; the mask is
 * the last. */
static void vocabulary(struct maker *maker)
{
    static const char *const special[] = {"<|endoftext|>", "<|eot_id|>", "<|im_start|>",
                                          "<|im_end|>"};
    struct gguf_writer *writer = maker->writer;
    bool llada = is(maker->model->architecture, "llada");
    struct dllm_string tokens[TINY_TOKENS], merge = {"a b", 3};
    int32_t types[TINY_TOKENS];
    int count = 0;

    for (; count < 26; count++)
        tokens[count] = (struct dllm_string){&"abcdefghijklmnopqrstuvwxyz"[count], 1};
    tokens[count++] = (struct dllm_string){"\xc4\xa0", 2};
    for (size_t i = 0; i < ARRAY_COUNT(special); i++)
        tokens[count++] = (struct dllm_string){special[i], strlen(special[i])};
    tokens[count] =
        llada ? (struct dllm_string){"<|mdm_mask|>", 12} : (struct dllm_string){"<|mask|>", 8};
    for (int i = 0; i < TINY_TOKENS; i++)
        types[i] = i < 27 ? 1 : 3; /* normal, control */
    gguf_write_string(writer, "tokenizer.ggml.model", "gpt2");
    gguf_write_string(writer, "tokenizer.ggml.pre", llada ? "bailingmoe" : "qwen2");
    gguf_write_strings(writer, "tokenizer.ggml.tokens", tokens, TINY_TOKENS);
    gguf_write_array(writer, "tokenizer.ggml.token_type", DLLM_VALUE_I32, types, TINY_TOKENS);
    gguf_write_strings(writer, "tokenizer.ggml.merges", &merge, 1);
    gguf_write_integer(writer, "tokenizer.ggml.eos_token_id", DLLM_VALUE_U32, 27);
    gguf_write_integer(writer, "tokenizer.ggml.mask_token_id", DLLM_VALUE_U32, count);
}

/* rows 0: a vector; stack above 1: matrices of experts. */
static void stacked(struct maker *maker, const char *name, int width, int rows, int stack)
{
    const struct tiny_model *m = maker->model;
    uint32_t type = rows ? m->type : DTYPE_F32;
    size_t count;
    uint32_t *data;

    if (is(name, m->without_tensor))
        return;
    if (is(name, m->wrong_shape))
        width += 32;
    if (is(name, m->wrong_type))
        type = rows ? 9 : DTYPE_F16; /* Q8_1 */
    count = (size_t)width * (size_t)MAX(rows, 1) * (size_t)stack;
    data = malloc(sizeof *data * count);
    for (size_t i = 0; data && i < count; i++) {
        float w = next_weight(maker, rows ? 0.3f : 1.0f) + (rows ? 0.0f : 1.0f);

        memcpy(&data[i], &w, sizeof w);
        if (type == DTYPE_BF16)
            ((uint16_t *)data)[i] = (uint16_t)(data[i] >> 16);
    }
    gguf_write_shaped(maker->writer, name, type, stack > 1 ? 3 : 2,
                      (const uint64_t[]){(uint64_t)width, (uint64_t)MAX(rows, 1), (uint64_t)stack},
                      data);
    free(data);
}

static void tensor(struct maker *maker, const char *name, int width, int rows)
{
    stacked(maker, name, width, rows, 1);
}

static void layer_tensor(struct maker *maker, int layer, const char *suffix, int width, int rows)
{
    char name[64];

    snprintf(name, sizeof name, "blk.%d.%s", layer, suffix);
    tensor(maker, name, width, rows);
}

static void expert_tensor(struct maker *maker, int i, const char *suffix, int width, int rows)
{
    char name[64];

    snprintf(name, sizeof name, "blk.%d.%s", i, suffix);
    stacked(maker, name, width, rows, maker->model->experts);
}

static void experts(struct maker *maker, int i)
{
    const struct tiny_model *m = maker->model;

    layer_tensor(maker, i, "ffn_gate_inp.weight", m->hidden, m->experts);
    expert_tensor(maker, i, "ffn_gate_exps.weight", m->hidden, m->ffn);
    expert_tensor(maker, i, "ffn_up_exps.weight", m->hidden, m->ffn);
    expert_tensor(maker, i, "ffn_down_exps.weight", m->ffn, m->hidden);
}

static void layer(struct maker *maker, int i)
{
    static const char *const biases[] = {"attn_q.bias", "attn_k.bias", "attn_v.bias"};
    const struct tiny_model *m = maker->model;
    int dim = m->key_length ? m->key_length : m->hidden / m->heads;
    int q = m->heads * dim, kv = m->kv_heads * dim;

    layer_tensor(maker, i, "attn_norm.weight", m->hidden, 0);
    layer_tensor(maker, i, "attn_q.weight", m->hidden, q);
    layer_tensor(maker, i, "attn_k.weight", m->hidden, kv);
    layer_tensor(maker, i, "attn_v.weight", m->hidden, kv);
    for (int b = 0; b < m->biases; b++)
        layer_tensor(maker, i, biases[b], b ? kv : q, 0);
    if (m->head_norms) {
        layer_tensor(maker, i, "attn_q_norm.weight", dim, 0);
        layer_tensor(maker, i, "attn_k_norm.weight", dim, 0);
    }
    layer_tensor(maker, i, "attn_output.weight", q, m->hidden);
    layer_tensor(maker, i, "ffn_norm.weight", m->hidden, 0);
    if (m->experts) {
        experts(maker, i);
        return;
    }
    layer_tensor(maker, i, "ffn_gate.weight", m->hidden, m->ffn);
    layer_tensor(maker, i, "ffn_up.weight", m->hidden, m->ffn);
    layer_tensor(maker, i, "ffn_down.weight", m->ffn, m->hidden);
}

uint8_t *tiny_model_bytes(const struct tiny_model *model, size_t *size)
{
    struct maker maker = {model, gguf_writer_create(3, 32), model->seed};

    keys(&maker);
    if (model->text)
        vocabulary(&maker);
    tensor(&maker, "token_embd.weight", model->hidden, model->vocab);
    for (int i = 0; i < model->layers; i++)
        layer(&maker, i);
    tensor(&maker, "output_norm.weight", model->hidden, 0);
    if (!model->tied)
        tensor(&maker, "output.weight", model->hidden, model->vocab);
    if (model->extra_tensor)
        tensor(&maker, model->extra_tensor, 32, 0);
    return gguf_writer_finish(maker.writer, size);
}

struct dllm_file *tiny_model_open(const struct tiny_model *model, char *path)
{
    struct dllm_file *file = NULL;
    size_t size;
    uint8_t *bytes = tiny_model_bytes(model, &size);

    test_temporary_file(path, bytes, size);
    free(bytes);
    return dllm_file_open(path, &file, NULL) == DLLM_OK ? file : NULL;
}
