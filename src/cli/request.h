/*
 * request.h: one thing to generate, from parsed options to a result: what run
 * makes of its arguments and of each line of a batch.
 */
#ifndef REQUEST_H
#define REQUEST_H

#include "run_report.h"
#include "template.h"

struct request {
    const struct opts *opts;
    struct prompt prompt;     /* empty when a template stands alone */
    struct template template; /* mark_count 0: none */
    struct dllm_ids ids;      /* of the prompt; with a template the whole canvas */
    struct dllm_ids suffix;
    struct dllm_string *stops; /* owned; their texts are the options' */
    struct run_facts facts;    /* model, settings */
};

/* Checks the values and reads prompt and template; needs no model. 0, or the
 * exit code after a message. Free with request_free, whatever came out; opts
 * must live until then. */
int request_read(struct request *request, const struct opts *opts);
void request_free(struct request *request);

/* Checks the options against the model and fills in ids and facts; the caller
 * sets facts.settings.on_step. 0, or the exit code after a message. */
int request_prepare(struct request *request, const struct dllm_engine *engine);

/* Refuses what cannot fit into memory, before anything is allocated, if so many
 * sessions come to need as much, whose workspaces take `held` bytes already: 0, or
 * the exit code after a message. */
int request_check_memory(const struct request *request, const struct dllm_engine *engine,
                         int sessions, uint64_t held);

/* Runs it. The result's text is what is to be printed (a template with its gaps
 * filled), its ids those of the positions that were generated. */
enum dllm_status request_generate(const struct request *request, struct dllm_session *session,
                                  struct dllm_result *result, struct dllm_error *error);

/* Whether the options name a prompt, a template not counted. */
bool request_has_prompt(const struct opts *opts);

#endif
