/* lock.c: a mutex of POSIX threads. */
#include "lock.h"

#include <pthread.h>
#include <stdlib.h>

struct lock {
    pthread_mutex_t mutex;
};

enum dllm_status lock_create(struct lock **out, struct dllm_error *error)
{
    struct lock *lock = malloc(sizeof *lock);

    if (!lock || pthread_mutex_init(&lock->mutex, NULL) != 0) {
        free(lock);
        return status_no_memory(error, sizeof *lock);
    }
    *out = lock;
    return DLLM_OK;
}

void lock_destroy(struct lock *lock)
{
    if (!lock)
        return;
    pthread_mutex_destroy(&lock->mutex);
    free(lock);
}

void lock_take(struct lock *lock)
{
    pthread_mutex_lock(&lock->mutex);
}

void lock_release(struct lock *lock)
{
    pthread_mutex_unlock(&lock->mutex);
}
