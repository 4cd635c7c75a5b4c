/* lock.h: mutual exclusion. */
#ifndef LOCK_H
#define LOCK_H

#include "status.h"

struct lock;

/* On success *out must be destroyed with lock_destroy, which takes NULL. */
enum dllm_status lock_create(struct lock **out, struct dllm_error *error);
void lock_destroy(struct lock *lock);

/* Waits until no other thread holds the lock; not re-entrant. */
void lock_take(struct lock *lock);
void lock_release(struct lock *lock);

#endif
