/*
 * eval_arms.h: the arms of a comparison: a name and options of dllm run, read with run's own table,
 * so that whatever run can do can be an arm.
 */
#ifndef EVAL_ARMS_H
#define EVAL_ARMS_H

#include "run_options.h"

struct eval_arm {
    char *name, *options; /* owned; options as given, after the common ones */
    char **words;         /* [word_count] the options cut up; owned, in one piece of memory */
    int word_count;
    const char *model; /* what these options say, from words */
    bool pull;
    int threads; /* 0: not said */
    const char *device, *gpu_layers, *cpu_level;
};

struct eval_arms {
    struct eval_arm *list;
    int count;
};

/* Adds an arm: "NAME: OPTIONS", or a name alone. common (may be NULL) goes before the options.
 * 0, or the exit code after a message. Free with eval_arms_free, whatever came out. */
int eval_arms_add(struct eval_arms *arms, const char *text, const char *common);

/* Adds those of a JSON file: {"NAME": "OPTIONS", ...}, in its order. */
int eval_arms_load(struct eval_arms *arms, const char *path, const char *common);
void eval_arms_free(struct eval_arms *arms);

/* Reads the arm's options with question as the prompt. 0, or the exit code after a message. Free
 * with opts_free, whatever came out; texts point into arm and question. */
int eval_arm_parse(const struct eval_arm *arm, const char *question, struct opts *out);

/* Cuts text at blanks; what stands between single or double quotes stays together, quotes left out.
 * NULL after a message when a quote is not closed or memory runs out; else free it at once. */
char **eval_split(const char *text, int *count);

#endif
