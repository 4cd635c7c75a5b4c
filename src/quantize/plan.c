/* plan.c: see plan.h. */
#include "plan.h"

#include "dtype.h"
#include "gguf.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const struct quantize_mix mixes[] = {
    {"Q8_0", DTYPE_Q8_0, DTYPE_Q8_0, 7},    {"Q6_K", DTYPE_Q6_K, DTYPE_Q6_K, 18},
    {"Q5_K_M", DTYPE_Q5_K, DTYPE_Q6_K, 17}, {"Q4_K_M", DTYPE_Q4_K, DTYPE_Q6_K, 15},
    {"Q5_K", DTYPE_Q5_K, DTYPE_Q5_K, 16},   {"Q4_K", DTYPE_Q4_K, DTYPE_Q4_K, 14},
};

const struct quantize_mix *quantize_mix_find(const char *name)
{
    for (size_t i = 0; i < ARRAY_COUNT(mixes); i++)
        if (strcasecmp(mixes[i].name, name) == 0)
            return &mixes[i];
    return NULL;
}

const char *quantize_mix_names(void)
{
    return "Q8_0, Q6_K, Q5_K_M, Q4_K_M, Q5_K, Q4_K";
}

static bool ends_with(struct dllm_string name, const char *end)
{
    size_t size = strlen(end);

    return name.size >= size && memcmp(name.data + name.size - size, end, size) == 0;
}

static bool contains(struct dllm_string name, const char *part)
{
    return memmem(name.data, name.size, part, strlen(part)) != NULL;
}

/* The N of "blk.N.", -1 without. */
static int layer_of(struct dllm_string name)
{
    int layer = 0;
    size_t at = strlen("blk.");

    if (name.size <= at || memcmp(name.data, "blk.", at) != 0)
        return -1;
    for (; at < name.size && name.data[at] >= '0' && name.data[at] <= '9' && layer < 100000; at++)
        layer = 10 * layer + name.data[at] - '0';
    return layer;
}

static bool is_quantized(const struct dllm_tensor *tensor)
{
    return tensor->dims >= 2 && ends_with(tensor->name, "weight") &&
           !ends_with(tensor->name, "_norm.weight") &&
           !ends_with(tensor->name, "ffn_gate_inp.weight");
}

static bool gets_better(const struct dllm_file *file, int layers, struct dllm_string name)
{
    int layer = layer_of(name), eighth = layers / 8;

    if (ends_with(name, "output.weight") && layer < 0)
        return true;
    if (ends_with(name, "token_embd.weight"))
        return !dllm_file_find_tensor(file, "output.weight");
    if (!contains(name, "attn_v.weight") && !contains(name, "ffn_down"))
        return false;
    return layer >= 0 && (layer < eighth || layer >= 7 * layers / 8 || (layer - eighth) % 3 == 2);
}

/* The type instead of `type` for rows of that width. */
static uint32_t fitting(uint32_t type, uint64_t width)
{
    if (width % dtype_info(type)->block_weights == 0)
        return type;
    if (width % 32 != 0)
        return DTYPE_F16;
    return type == DTYPE_Q4_K ? DTYPE_Q5_0 : type == DTYPE_Q5_K ? DTYPE_Q5_1 : DTYPE_Q8_0;
}

enum dllm_status quantize_plan(const struct quantize_mix *mix, const struct dllm_file *file,
                               int layers, const struct dllm_tensor *tensor, uint32_t *type,
                               struct dllm_error *error)
{
    *type = tensor->type;
    if (!is_quantized(tensor))
        return DLLM_OK;
    if (tensor->type != DTYPE_F32 && tensor->type != DTYPE_F16 && tensor->type != DTYPE_BF16)
        return status_fail(error, DLLM_ERROR_UNSUPPORTED,
                           "%s: tensor %.*s has type %s; F32, F16 or BF16 was expected, since "
                           "quantizing again what was quantized loses more than the size says: "
                           "start from the converted file",
                           gguf_path(file), (int)tensor->name.size, tensor->name.data,
                           dllm_type_name(tensor->type));
    *type = fitting(gets_better(file, layers, tensor->name) ? mix->better : mix->base,
                    tensor->shape[0]);
    return DLLM_OK;
}
