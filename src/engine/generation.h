/*
 * generation.h: a run under way: a canvas with gaps, what the caller wants, and
 * what is measured. dllm_generate and dllm_fill differ in how they lay out the
 * canvas and in what they make of it.
 */
#ifndef GENERATION_H
#define GENERATION_H

#include "answer.h"

struct generation {
    struct dllm_session *session;
    const struct dllm_generate_options *caller; /* what was asked, its callback */
    struct dllm_generate_options options;       /* the same; max_tokens is the sum of the gaps */
    struct denoise_model model;
    int32_t *canvas; /* [length], owned */
    int length;
    struct canvas_gap *gaps; /* [gap_count], owned */
    int gap_count;
    struct forward_limits limits; /* of its passes */
    bool joined;                  /* its passes are shared with others' */
    struct dllm_timings *timings;
    double *step_seconds; /* [step_limit], owned */
    int step_limit;
    bool stop_found;         /* the answer is final because of a stop string */
    int resolved;            /* tokens at the gaps' beginnings when stop strings were looked for */
    double callback_seconds; /* the caller's own, no part of the run */
};

/* A run without a canvas yet. options must outlive it. (generate.c) */
struct generation generation_of(struct dllm_session *session,
                                const struct dllm_generate_options *options);

/* Runs it, checked and laid out; fills in all of the result (zeroed before) but
 * ids and text. (generate.c) */
enum dllm_status generation_run(struct generation *generation, struct dllm_result *result,
                                struct dllm_error *error);

/* Frees what it owns. (generate.c) */
void generation_free(struct generation *generation);

#endif
