/*
 * step_log.h: a step callback that keeps what every step did, for tests.
 */
#ifndef STEP_LOG_H
#define STEP_LOG_H

#include "dllm.h"

enum { LOG_STEPS = 128, LOG_COMMITS = 256 };

struct logged_step {
    bool computed;
    int steps; /* of the run, as the callback was told */
    int forward_passes;
    int first, committed; /* commits [first, first + committed) */
    int masks_left;
};

struct step_log {
    struct logged_step steps[LOG_STEPS];
    int step_count;
    int32_t positions[LOG_COMMITS], tokens[LOG_COMMITS];
    double confidences[LOG_COMMITS];
    int commit_count;
    int stop_at; /* the step after which the run is interrupted; -1: none */
};

/* Empties the log; no interruption. */
void step_log_open(struct step_log *log);

/* A dllm_step_callback whose context is the log. Steps out of sequence, choices
 * that nobody asked for, or more than fit fail the test by interrupting with
 * stop_at = -2. */
int step_log_record(void *context, const struct dllm_step *step);

#endif
