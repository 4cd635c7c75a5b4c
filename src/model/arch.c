/* arch.c: the architectures that are built in (models.md has their sources). */
#include "arch.h"

#include <string.h>

static const struct arch architectures[] = {
    {
        .name = "llada",
        .pairing = ROPE_ADJACENT,
        .shift_logits = false,
        .dream_sampler = false,
        .default_block_length = 32,
        .mask_token = "<|mdm_mask|>",
    },
    {
        .name = "dream",
        .pairing = ROPE_HALVES,
        .shift_logits = true,
        .dream_sampler = true,
        .default_block_length = 0,
        .mask_token = "<|mask|>",
    },
    {
        .name = "llada-moe",
        .pairing = ROPE_HALVES,
        .shift_logits = false,
        .dream_sampler = false,
        .default_block_length = 32,
        .mask_token = "<|mask|>",
        .head_norms = true,
        .experts = true,
        .renormalise = false,
    },
    {
        .name = "rnd1",
        .pairing = ROPE_HALVES,
        .shift_logits = true,
        .dream_sampler = true,
        .default_block_length = 0,
        .mask_token = "<|mask|>",
        .head_norms = true,
        .experts = true,
        .renormalise = true,
    },
};

const struct arch *arch_find(struct dllm_string name)
{
    for (size_t i = 0; i < ARRAY_COUNT(architectures); i++) {
        const char *known = architectures[i].name;

        if (strlen(known) == name.size && memcmp(known, name.data, name.size) == 0)
            return &architectures[i];
    }
    return NULL;
}

const char *arch_names(void)
{
    return "llada, dream, llada-moe, rnd1";
}
