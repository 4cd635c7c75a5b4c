/* run_view.h: opens and closes what lets a run be looked at: --visual, --trace. */
#ifndef RUN_VIEW_H
#define RUN_VIEW_H

#include "run_report.h"

/* Opens what the options ask for into watch and facts->settings, for a run over
 * the ids of a prompt. 0, or the exit code after a message. */
int run_view_open(struct run_watch *watch, const struct opts *opts,
                  const struct dllm_engine *engine, struct run_facts *facts,
                  const struct dllm_ids *prompt);

/* After the run: finishes trace and picture. result is NULL after a failure: the
 * trace is then removed. 0, or the exit code after a message. */
int run_view_close(struct run_watch *watch, const struct dllm_result *result);

#endif
