/*
 * shared.c: the passes of several sessions. Jobs without guidance come first, so
 * that their rows lie side by side and go through the output matrix together.
 */
#include "shared.h"

#include "clock.h"
#include "meeting.h"

#include <stdlib.h>

/* A pass has room for so many positions if the device has memory for them; a longer canvas
 * goes alone. */
enum { POSITIONS = 4096, LOGITS_ROWS = 256 };

/* Seconds that a step waits for those of others, beyond the pass that these are in; where
 * they are to meet for certain, years. */
#define PATIENCE 0.005
#define FOREVER  1e9

struct job {
    struct dllm_session *session;
    const struct denoise_request *request;
    struct pick *picks;
    struct dllm_timings *timings;
    struct dllm_error *error;
    enum dllm_status status;
    int first, unguided; /* its kept rows */
};

struct shared_passes {
    struct dllm_engine *engine;
    struct meeting *meeting;
    struct forward *forward; /* NULL before the first generation */
    struct forward_canvas canvases[SHARED_CANVASES];
    int canvas_count, rows; /* of the pass at hand */
    int joined;             /* positions of all generations under way */
    int together;           /* generations that share every pass for certain; 0: none must */
};

/* --- a pass --- */

static int canvases_of(const struct job *job)
{
    return job->request->unguided ? 2 : 1;
}

static int positions_of(const struct job *job)
{
    return canvases_of(job) * (job->request->high - job->request->low);
}

/* How many of the jobs, from the first on, a pass has room for. */
static int count_fitting(const struct shared_passes *shared, void *const *jobs, int count)
{
    const struct forward_limits limits = forward_limits_of(shared->forward);
    int canvases = 0, positions = 0, fitting = 0;

    while (fitting < count) {
        const struct job *job = jobs[fitting];

        canvases += canvases_of(job);
        positions += positions_of(job);
        if (fitting > 0 && (canvases > limits.canvases || positions > limits.positions))
            break;
        fitting++;
    }
    return fitting;
}

/* Adds a canvas; returns where its rows will be. */
static int add_canvas(struct shared_passes *shared, const struct job *job, const int32_t *ids,
                      struct kvcache *cache)
{
    const struct denoise_request *request = job->request;
    int first = shared->rows;

    shared->canvases[shared->canvas_count++] = (struct forward_canvas){.ids = ids,
                                                                       .length = request->length,
                                                                       .low = request->low,
                                                                       .high = request->high,
                                                                       .rows = request->rows,
                                                                       .count = request->count,
                                                                       .cache = cache};
    shared->rows += request->count;
    return first;
}

/* The first job of those with or without guidance, from `from` on; count: none. */
static int next_job(void *const *jobs, int count, int from, bool guided)
{
    while (from < count && (((const struct job *)jobs[from])->request->unguided != NULL) != guided)
        from++;
    return from;
}

/* Canvases without guidance, then those with, then the unguided ones of these. */
static void lay_out(struct shared_passes *shared, void *const *jobs, int count)
{
    shared->canvas_count = shared->rows = 0;
    for (int guided = 0; guided < 2; guided++)
        for (int i = next_job(jobs, count, 0, guided); i < count;
             i = next_job(jobs, count, i + 1, guided)) {
            struct job *job = jobs[i];

            job->first = add_canvas(shared, job, job->request->canvas, job->session->caches[0]);
        }
    for (int i = next_job(jobs, count, 0, true); i < count;
         i = next_job(jobs, count, i + 1, true)) {
        struct job *job = jobs[i];

        job->unguided = add_canvas(shared, job, job->request->unguided, job->session->caches[1]);
    }
}

/* Picks of rows [first, first + count) of a job, which stand from row `at` of logits on. */
static void pick(struct job *job, const struct backend_buffer *logits, int at, int first, int count)
{
    const struct backend_rows rows = {logits, at, count};

    if (job->status == DLLM_OK && count > 0)
        job->status =
            backend_pick_rows(job->session->place.main, rows, job->request->rules,
                              job->request->positions + first, job->picks + first, job->error);
}

static void pick_guided(const struct shared_passes *shared, struct job *job)
{
    int chunk = forward_limits_of(shared->forward).rows / 2;

    for (int at = 0; at < job->request->count; at += chunk) {
        int count = MIN(chunk, job->request->count - at);

        pick(job,
             forward_logits_guided(shared->forward, job->first + at, job->unguided + at, count,
                                   job->request->cfg_scale),
             0, at, count);
    }
}

/* Rows [from, to) of all rows that are not under guidance. */
static void pick_range(const struct shared_passes *shared, void *const *jobs, int count, int from,
                       int to)
{
    const struct backend_buffer *logits = forward_logits(shared->forward, from, to - from);

    for (int i = next_job(jobs, count, 0, false); i < count;
         i = next_job(jobs, count, i + 1, false)) {
        struct job *job = jobs[i];
        int low = MAX(from, job->first), high = MIN(to, job->first + job->request->count);

        pick(job, logits, low - from, low - job->first, high - low);
    }
}

static void pick_all(const struct shared_passes *shared, void *const *jobs, int count)
{
    int chunk = forward_limits_of(shared->forward).rows, rows = 0;

    for (int i = next_job(jobs, count, 0, false); i < count;
         i = next_job(jobs, count, i + 1, false))
        rows += ((const struct job *)jobs[i])->request->count;
    for (int from = 0; from < rows; from += chunk)
        pick_range(shared, jobs, count, from, MIN(from + chunk, rows));
    for (int i = next_job(jobs, count, 0, true); i < count; i = next_job(jobs, count, i + 1, true))
        pick_guided(shared, jobs[i]);
}

/* Each waited for all of it; the work is shared out. */
static void add_times(const struct shared_passes *shared, void *const *jobs, int count,
                      double layers, double head)
{
    const struct backend_profile profile = placement_profile_read(&shared->engine->place);

    for (int i = 0; i < count; i++) {
        struct dllm_timings *timings = ((const struct job *)jobs[i])->timings;

        timings->rest_seconds += layers;
        timings->head_seconds += head;
        timings->products.seconds += layers + head;
        timings->products.int8_operations += profile.int8_operations / count;
        timings->products.float_operations += profile.float_operations / count;
        timings->products.weight_bytes += profile.weight_bytes / count;
        if (timings->pass_sessions == 0 || count < timings->pass_sessions)
            timings->pass_sessions = count;
    }
}

/* When a longer canvas took the workspace and it could not be had again. */
static int refuse(void *const *jobs, int count)
{
    for (int i = 0; i < count; i++) {
        struct job *job = jobs[i];

        job->status =
            status_fail(job->error, DLLM_ERROR_DEVICE,
                        "the GPU has no memory left for the canvases of generations under "
                        "way; run fewer of them at once (--parallel)");
    }
    return count;
}

/* The meeting's work. */
static int run_together(void *context, void *const *jobs, int count)
{
    struct shared_passes *shared = context;
    struct dllm_engine *engine = shared->engine;
    double start, middle;

    lock_take(engine->lock);
    if (!shared->forward) {
        lock_release(engine->lock);
        return refuse(jobs, count);
    }
    count = count_fitting(shared, jobs, count);
    placement_profile_reset(&engine->place);
    start = clock_seconds();
    lay_out(shared, jobs, count);
    forward_run(shared->forward, shared->canvases, shared->canvas_count);
    backend_wait(engine->place.main, NULL); /* the picks tell what failed */
    middle = clock_seconds();
    pick_all(shared, jobs, count);
    add_times(shared, jobs, count, middle - start, clock_seconds() - middle);
    lock_release(engine->lock);
    return count;
}

/* --- sessions --- */

enum dllm_status shared_create(struct dllm_engine *engine, struct shared_passes **out,
                               struct dllm_error *error)
{
    struct shared_passes *shared = calloc(1, sizeof *shared);
    enum dllm_status status;

    if (!shared)
        return status_no_memory(error, sizeof *shared);
    shared->engine = engine;
    status = meeting_create(PATIENCE, run_together, shared, &shared->meeting, error);
    if (status == DLLM_OK)
        *out = shared;
    else
        free(shared);
    return status;
}

void shared_destroy(struct shared_passes *shared)
{
    if (!shared)
        return;
    forward_destroy(shared->forward);
    meeting_destroy(shared->meeting);
    free(shared);
}

void shared_gather(struct shared_passes *shared, int generations)
{
    lock_take(shared->engine->lock);
    shared->together = generations;
    lock_release(shared->engine->lock);
    meeting_set_patience(shared->meeting, generations > 0 ? FOREVER : PATIENCE);
    meeting_expect(shared->meeting, generations);
}

/* Rounded up to a power of two, so that a workspace is not made anew for each that joins;
 * where it is known how many will, `needed` is for all of them. */
static int positions_for(const struct shared_passes *shared, int needed)
{
    int positions = 1;

    if (shared->together > 0)
        return needed;
    while (positions < shared->joined && positions < POSITIONS)
        positions *= 2;
    return MAX(positions, needed);
}

struct forward_limits shared_limits(const struct dllm_engine *engine, int canvases, int length)
{
    return (struct forward_limits){.canvases = SHARED_CANVASES,
                                   .length = length,
                                   .rows = engine_chunk_rows(engine, LOGITS_ROWS),
                                   .positions = canvases * length,
                                   .guests = true};
}

static struct forward_limits limits_for(const struct shared_passes *shared,
                                        const struct forward_limits *wanted)
{
    struct forward_limits limits =
        shared_limits(shared->engine, wanted->canvases * MAX(shared->together, 1), wanted->length);
    struct forward_limits old;

    if (!shared->forward)
        return limits;
    old = forward_limits_of(shared->forward);
    limits.length = MAX(limits.length, old.length);
    limits.positions = MAX(limits.positions, old.positions);
    return limits;
}

/* A workspace of `positions` instead of the one there is, or if there is no memory for
 * that of as many as must be; else the old one again. */
static enum dllm_status replace(struct shared_passes *shared, struct forward_limits limits,
                                int positions, struct dllm_error *error)
{
    const struct placement *place = &shared->engine->place;
    const struct model *model = &shared->engine->model;
    struct forward_limits before = limits, larger = limits;
    bool had = shared->forward != NULL;
    enum dllm_status status;

    if (had)
        before = forward_limits_of(shared->forward);
    forward_destroy(shared->forward);
    shared->forward = NULL;
    larger.positions = positions;
    status = forward_create(place, model, &larger, &shared->forward, error);
    if (status == DLLM_ERROR_DEVICE && positions > limits.positions)
        status = forward_create(place, model, &limits, &shared->forward, error);
    if (status != DLLM_OK && had)
        forward_create(place, model, &before, &shared->forward, NULL);
    return status;
}

/* Under the engine's lock, so between passes. */
static enum dllm_status make_room(struct shared_passes *shared, const struct forward_limits *wanted,
                                  struct dllm_error *error)
{
    struct forward_limits limits = limits_for(shared, wanted), old;
    int positions = positions_for(shared, limits.positions);

    if (shared->forward) {
        old = forward_limits_of(shared->forward);
        if (old.length >= limits.length && old.positions >= positions)
            return DLLM_OK;
    }
    return replace(shared, limits, positions, error);
}

/* What the session's canvases keep of all layers. */
static enum dllm_status make_caches(struct dllm_session *session,
                                    const struct forward_limits *wanted, struct dllm_error *error)
{
    if (session->cache_length < wanted->length || !wanted->cached)
        shared_forget(session);
    for (int i = 0; wanted->cached && i < wanted->canvases; i++)
        if (!session->caches[i])
            TRY(kvcache_create(&session->place, &session->engine->model.hparams, wanted->length,
                               true, &session->caches[i], error));
    session->cache_length = wanted->cached ? MAX(session->cache_length, wanted->length) : 0;
    return DLLM_OK;
}

void shared_forget(struct dllm_session *session)
{
    for (int i = 0; i < 2; i++) {
        kvcache_destroy(session->caches[i]);
        session->caches[i] = NULL;
    }
    session->cache_length = 0;
}

enum dllm_status shared_join(struct dllm_session *session, const struct forward_limits *limits,
                             struct dllm_error *error)
{
    struct shared_passes *shared = session->engine->shared;
    enum dllm_status status;

    lock_take(session->lock);
    session->shared_positions = limits->canvases * limits->length;
    shared->joined += session->shared_positions;
    status = make_room(shared, limits, error);
    if (status == DLLM_OK)
        status = make_caches(session, limits, error);
    if (status == DLLM_OK)
        meeting_join(shared->meeting);
    else
        shared->joined -= session->shared_positions;
    lock_release(session->lock);
    return status;
}

void shared_leave(struct dllm_session *session)
{
    struct shared_passes *shared = session->engine->shared;

    lock_take(session->lock);
    shared->joined -= session->shared_positions;
    lock_release(session->lock);
    meeting_leave(shared->meeting);
}

enum dllm_status shared_score(struct dllm_session *session, const struct denoise_request *request,
                              struct pick *picks, struct dllm_timings *timings,
                              struct dllm_error *error)
{
    struct job job = {session, request, picks, timings, error, DLLM_OK, 0, 0};

    meeting_do(session->engine->shared->meeting, &job, session->number);
    return job.status;
}

uint64_t shared_bytes(const struct dllm_session *session)
{
    const struct dllm_engine *engine = session->engine;
    struct forward_limits limits;
    uint64_t bytes = 0;

    lock_take(session->lock);
    for (int i = 0; i < 2; i++)
        if (session->caches[i])
            bytes += kvcache_bytes(&session->place, NULL, &engine->model.hparams,
                                   session->cache_length, true);
    if (engine->shared->forward) {
        limits = forward_limits_of(engine->shared->forward);
        bytes += forward_bytes(&session->place, NULL, &engine->model, &limits);
    }
    lock_release(session->lock);
    return bytes;
}
