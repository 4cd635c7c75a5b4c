/*
 * step_log.c: keeps what every step did.
 */
#include "step_log.h"

void step_log_open(struct step_log *log)
{
    *log = (struct step_log){.stop_at = -1};
}

int step_log_record(void *context, const struct dllm_step *step)
{
    struct step_log *log = context;
    int count = (int)step->committed;

    if (step->step != log->step_count || log->step_count == LOG_STEPS ||
        log->commit_count + count > LOG_COMMITS || step->seconds < 0 || step->choices) {
        log->stop_at = -2;
        return 1;
    }
    log->steps[log->step_count++] = (struct logged_step){.computed = step->computed,
                                                         .steps = step->steps,
                                                         .forward_passes = step->forward_passes,
                                                         .first = log->commit_count,
                                                         .committed = count,
                                                         .masks_left = (int)step->masks_left};
    for (int i = 0; i < count; i++) {
        log->positions[log->commit_count] = step->positions[i];
        log->tokens[log->commit_count] = step->canvas[step->positions[i]];
        log->confidences[log->commit_count++] = step->confidences[i];
    }
    return step->step == log->stop_at;
}
