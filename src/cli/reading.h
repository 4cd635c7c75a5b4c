/*
 * reading.h: the line on a terminal that tells how much of a cold model file has
 * been read. It comes from another thread, so it has a lock, and an end.
 */
#ifndef READING_H
#define READING_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct reading {
    pthread_mutex_t lock;
    bool open; /* the line may be drawn */
};
#define READING_INIT                                                                               \
    {                                                                                              \
        .lock = PTHREAD_MUTEX_INITIALIZER                                                          \
    }

/* Lets the line be drawn. */
void reading_open(struct reading *reading);

/* A dllm_read_callback; context is a struct reading. */
void reading_show(void *context, uint64_t bytes_there, uint64_t bytes);

/* Removes the line, and draws it no more; to be called before anything else goes
 * to stderr. */
void reading_close(struct reading *reading);

#endif
