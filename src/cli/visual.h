/*
 * visual.h: --visual: the canvas on stderr while it resolves. On a terminal it
 * is a picture that is redrawn after each step; elsewhere a line per step.
 */
#ifndef VISUAL_H
#define VISUAL_H

#include "dllm.h"

/* What a token's colour stands for. */
enum visual_color { VISUAL_COLOR_CONFIDENCE = 0, VISUAL_COLOR_STEP };

struct visual_options {
    enum visual_color color;
    int pause_ms; /* on a terminal: how long a step stays at least */
    bool whole;   /* from the prompt on, not from the generated region on */
};

struct visual;

/* Shows the canvas before the first step. start describes it as a step without
 * commits would; the engine must outlive the picture. NULL after a message. */
struct visual *visual_open(const struct dllm_engine *engine, const struct visual_options *options,
                           const struct dllm_step *start);

/* Shows a step, which must bring choices. 0, or the exit code after a message. */
int visual_step(struct visual *visual, const struct dllm_step *step);

/* Gives the terminal back; with `keep` the last picture is printed, whole, to
 * where the program was started. Takes NULL. */
void visual_close(struct visual *visual, bool keep);

#endif
