/*
 * memory_check.h: whether a model and what its runs need fit into memory. Where they
 * do not, every step would read the model from the disk.
 */
#ifndef MEMORY_CHECK_H
#define MEMORY_CHECK_H

#include "cli.h"

/* What is going to be run. */
struct memory_need {
    size_t canvas;               /* positions */
    uint64_t workspace;          /* bytes of a session (dllm_*_workspace_bytes) */
    int sessions;                /* that may come to need as much: 0 stands for 1 */
    const char *sessions_option; /* which says how many: needed where several may be */
    uint64_t held;               /* bytes that their workspaces take already */
    bool cached, guided;         /* options that make it larger */
    bool force;
    bool allow_long; /* else the library refuses what is beyond the context length */
};

/* That of a generation by one session, not forced. */
struct memory_need memory_need_of(const struct dllm_engine *engine, size_t canvas,
                                  const struct dllm_generate_options *settings);

/* Bytes of weights and all sessions; UINT64_MAX where that is beyond counting. */
uint64_t memory_total(const struct memory_need *need, uint64_t weight_bytes);

/* Refuses a run that does not fit into the memory available, unless forced. 0, or
 * the exit code after a message that says what would make it smaller. */
int memory_check(const struct dllm_engine *engine, const struct memory_need *need);

/* The same where so many bytes are available; 0: that is not known. */
int memory_check_against(const struct dllm_engine *engine, const struct memory_need *need,
                         uint64_t available);

#endif
