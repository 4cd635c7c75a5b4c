/*
 * shared.h: on a GPU, generations of several sessions that are under way at the same
 * time go through the model together: their steps meet, and one of their threads runs
 * one pass over all canvases. A canvas's numbers do not depend on its company.
 */
#ifndef SHARED_H
#define SHARED_H

#include "engine.h"

struct shared_passes; /* of an engine */

/* Of an engine whose backend is no host. */
enum dllm_status shared_create(struct dllm_engine *engine, struct shared_passes **out,
                               struct dllm_error *error);
/* After all sessions; takes NULL. */
void shared_destroy(struct shared_passes *shared);

/* What dllm_share_passes does. */
void shared_gather(struct shared_passes *shared, int generations);

/* Canvases that a pass has room for. */
enum { SHARED_CANVASES = 32 };

/* The workspace that generations share, at least: for as many positions as so many canvases
 * of this length have. */
struct forward_limits shared_limits(const struct dllm_engine *engine, int canvases, int length);

/* A session begins a generation of such canvases: there is room for it from now on, and
 * the others wait for its steps. Leave after each join that succeeded. */
enum dllm_status shared_join(struct dllm_session *session, const struct forward_limits *limits,
                             struct dllm_error *error);
void shared_leave(struct dllm_session *session);

/* A step of the session: what denoise_score is to do; adds to timings. */
enum dllm_status shared_score(struct dllm_session *session, const struct denoise_request *request,
                              struct pick *picks, struct dllm_timings *timings,
                              struct dllm_error *error);

/* Memory of the session: what its canvases keep, and the workspace that all share. */
uint64_t shared_bytes(const struct dllm_session *session);

/* Frees what a session's canvases keep. */
void shared_forget(struct dllm_session *session);

#endif
