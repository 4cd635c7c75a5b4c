/* synonyms.c: options as other programs call them. */
#include "opts.h"

#include <string.h>

/* Only what means the same here. In the order of where the names come from: LLaDA's scripts,
 * Dream's and Hugging Face's, Fast-dLLM's, llama.cpp's, diffuse-cpp's. */
const struct opt_synonym opts_synonyms[] = {
    {"gen-length", "max-tokens", NULL},
    {"mc-num", "samples", NULL},
    {"batch-size", "batch", NULL},
    {"logits-eos-inf", "eos-policy", "forbid"},
    {"confidence-eos-eot-inf", "eos-policy", "defer"},
    {"max-new-tokens", "max-tokens", NULL},
    {"num-return-sequences", "num-samples", NULL},
    {"stop-strings", "stop", NULL},
    {"alg", "remasking", NULL},
    {"block-size", "block-length", NULL},
    {"use-cache", "cache", "prefix"},
    {"dual-cache", "cache", "dual"},
    {"predict", "max-tokens", NULL},
    {"n-predict", "max-tokens", NULL},
    {"temp", "temperature", NULL},
    {"diffusion-steps", "steps", NULL},
    {"diffusion-block-length", "block-length", NULL},
    {"diffusion-eps", "eps", NULL},
    {"diffusion-algorithm", "remasking", NULL},
    {"diffusion-alg-temp", "alg-temp", NULL},
    {"diffusion-cfg-scale", "cfg-scale", NULL},
    {"diffusion-visual", "visual", NULL},
    {"ignore-eos", "eos-policy", "forbid"},
    {"system-prompt", "system", NULL},
    {"sys", "system", NULL},
    {"file", "prompt-file", NULL},
    {"f", "prompt-file", NULL},
    {"f", "file", NULL},
    {"p", "prompt", NULL},
    {"ngl", "gpu-layers", NULL},
    {"n-gpu-layers", "gpu-layers", NULL},
    {"dev", "device", NULL},
    {"hf", "model", NULL},
    {"hf-repo", "model", NULL},
    {"tokens", "prompt-tokens", NULL},
    {"no-cache", "cache", "none"},
    {"s", "steps", NULL},
    {"s", "seed", NULL}, /* llama.cpp's */
    {NULL, NULL, NULL},
};

/* Underscores stand for dashes. */
static bool same_name(const char *a, const char *b)
{
    for (; *a && *b; a++, b++)
        if (*a != *b && !(*a == '_' && *b == '-'))
            return false;
    return *a == *b;
}

const struct opt_synonym *opts_next_synonym(const struct opt_table *table, const char *name,
                                            const struct opt_synonym *before)
{
    for (const struct opt_synonym *at = before ? before + 1 : opts_synonyms; at->theirs; at++)
        if (same_name(name, at->theirs) && opts_find(table, at->ours) >= 0)
            return at;
    return NULL;
}
