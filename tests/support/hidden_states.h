/*
 * hidden_states.h: the hidden states of one pass, layer by layer, kept to compare
 * two sides.
 */
#ifndef HIDDEN_STATES_H
#define HIDDEN_STATES_H

#include <stdbool.h>
#include <stddef.h>

struct hidden_states {
    float **layers; /* [count] of [rows, width]: behind the embedding, then behind each layer */
    int count;
    size_t rows, width;
    bool bad; /* out of memory, out of order, or not all of one shape */
};

/* Keeps a copy: the layer callback of dllm_logits_each and of llama_peer.h; user is
 * a struct hidden_states, zeroed before the pass. Free with hidden_states_free. */
void hidden_states_keep(void *user, int layer, const float *hidden, size_t rows, size_t width);
void hidden_states_free(struct hidden_states *states);

/* A line per layer on standard output: how far got is from want, over all rows and
 * in the row where it is furthest. False: they are not of the same pass. */
bool hidden_states_compare(const struct hidden_states *got, const struct hidden_states *want);

#endif
