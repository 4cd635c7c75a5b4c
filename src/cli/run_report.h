/*
 * run_report.h: what run tells besides the answer: the notes of --verbose, the
 * line per step, the progress bar, the JSON object.
 */
#ifndef RUN_REPORT_H
#define RUN_REPORT_H

#include "reading.h"
#include "run_options.h"
#include "trace_file.h"
#include "visual.h"

#include <jansson.h>

/* Everything about one run. */
struct run_facts {
    struct dllm_model_info model;
    struct dllm_generate_options settings;
    size_t prompt_tokens;
    bool chat;
    bool filled;        /* a template with gaps, not one region */
    bool chat_sampling; /* temperature and top-p are Dream's for chat, not asked for */
};

/* What the step callback does. */
struct run_watch {
    bool bar;   /* draw a progress bar on stderr */
    bool stats; /* a line per step on stderr */
    double seconds;
    struct reading reading;   /* of a cold file, until the first step */
    struct visual *visual;    /* NULL: no pictures */
    struct trace_file *trace; /* NULL: no trace */
    int code;                 /* of what went wrong in a step and ended the run */
};

/* The step callback; context is a struct run_watch. Ends the run after ctrl-c. */
int run_on_step(void *context, const struct dllm_step *step);

/* --verbose, before and after the run, to stderr. */
void run_print_start(const struct run_facts *facts);
void run_print_end(const struct run_facts *facts, const struct dllm_result *result);

/* Every setting in effect as a JSON object; NULL without memory. */
json_t *run_settings_json(const struct dllm_generate_options *settings, bool chat);
/* "eos", "length", "stop", "interrupted". */
const char *run_finish_name(enum dllm_finish finish);

/* How a result is made: model, quantization, seed, settings, prompt_tokens; NULL without memory. */
json_t *run_facts_json(const struct run_facts *facts);

/* What --json tells of the request and its result; NULL without memory. */
json_t *run_result_json(const struct run_facts *facts, const struct dllm_result *result);

/* --json, to stdout; the exit code. */
int run_print_json(const struct run_facts *facts, const struct dllm_result *result);

#endif
