/* answer.h: from a generated region to the answer's text. */
#ifndef ANSWER_H
#define ANSWER_H

#include "engine.h"

/* A region and the strings that end its answer. */
struct answer_source {
    const struct tokenizer *tokenizer;
    const struct denoise_model *model;
    const int32_t *region; /* [count] */
    int count;
    const struct dllm_string *stop; /* [stop_count], none empty */
    size_t stop_count;
};

/* The answer: its text (owned by the caller), how many tokens print it, and
 * what ended it, if anything did. */
struct answer {
    struct dllm_text text;
    int tokens;
    bool ended, stopped; /* by an end token; by a stop string (then not ended) */
};

/* Builds the answer of a region that may still have masks: what lies before
 * the first of them. */
enum dllm_status answer_build(const struct answer_source *source, struct answer *out,
                              struct dllm_error *error);

#endif
