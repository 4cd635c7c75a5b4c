/*
 * meeting.h: threads that each bring a job, again and again; one of them does the
 * jobs of all that are there together. For work that costs little more for many
 * than for one.
 */
#ifndef MEETING_H
#define MEETING_H

#include "status.h"

struct meeting;

/* Does some of jobs [count], from the first on, and returns how many: at least 1.
 * Called by one thread at a time. */
typedef int meeting_work(void *context, void *const *jobs, int count);

/* patience: seconds that a job waits for those of threads that have joined, at most,
 * while no work is done: those that were part of it come back when it is over.
 * On success *out must be destroyed with meeting_destroy, which takes NULL. */
enum dllm_status meeting_create(double patience, meeting_work *work, void *context,
                                struct meeting **out, struct dllm_error *error);
void meeting_destroy(struct meeting *meeting);

/* The calling thread will bring jobs until it leaves; others wait for it. */
void meeting_join(struct meeting *meeting);
void meeting_leave(struct meeting *meeting);

/* From now on another patience. */
void meeting_set_patience(struct meeting *meeting, double seconds);

/* Until so many threads have joined, jobs wait for them too; 0: for none any more. */
void meeting_expect(struct meeting *meeting, int threads);

/* Returns when the job is done, by this thread or another. Jobs are done in the order
 * of `place`, lower first, where several are there: the same company in the same
 * order. Those that the work left come first, and wait for nobody. */
void meeting_do(struct meeting *meeting, void *job, long place);

#endif
