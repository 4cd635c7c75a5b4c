/*
 * window.h: which rows a step computes. Without a cache all of them; with one,
 * all when a block is entered or a refresh is due, and otherwise a block's own
 * (dual) or those from the block to the end (prefix), while the others stay as
 * they were last computed (Fast-dLLM, arXiv 2505.22618).
 */
#ifndef WINDOW_H
#define WINDOW_H

#include "dllm.h"

/* Rows [low, high) of a canvas of `length` positions. */
struct window {
    int low, high, length;
};

/* The windows of a run, step after step. */
struct windows {
    const struct dllm_generate_options *options;
    bool shift_logits;   /* row i - 1 scores position i */
    int length;          /* of the whole canvas */
    int answer;          /* the first position to fill */
    struct window block; /* what the block at hand needs, and how far it sees */
    int steps;           /* computed since the block was entered */
    int since_prompt;    /* computed since the rows before the answer were; -1: never */
};

/* Of a run over a canvas [length] whose first position to fill is `answer`.
 * options must outlive it. */
struct windows windows_open(const struct dllm_generate_options *options, bool shift_logits,
                            int length, int answer);

/* At the entry of a block whose masks lie in [first, end). */
void windows_enter_block(struct windows *windows, int first, int end);

/* The window of the next computed step of the block. */
struct window windows_next(struct windows *windows);

#endif
