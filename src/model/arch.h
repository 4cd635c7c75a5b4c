/*
 * arch.h: what sets one architecture apart from another. LLaDA, Dream and
 * their relatives are one bidirectional transformer; a new one is a new row.
 */
#ifndef ARCH_H
#define ARCH_H

#include "backend.h"

struct arch {
    const char *name; /* general.architecture */
    enum rope_pairing pairing;
    bool shift_logits;        /* default when diffusion.shift_logits is absent */
    bool dream_sampler;       /* Dream's schedule and filters, else LLaDA's */
    int default_block_length; /* 0: the whole region */
    const char *mask_token;   /* looked up when the file gives no mask id */
    bool head_norms;          /* an RMS norm on each head of queries and keys, before rope */
    bool experts;             /* a router and experts instead of one feed-forward */
    bool renormalise;         /* the shares of the experts that are used add up to 1 */
};

/* NULL for an architecture that is not built in. */
const struct arch *arch_find(struct dllm_string name);

/* The supported names, "llada, dream, ...": for messages. */
const char *arch_names(void);

#endif
