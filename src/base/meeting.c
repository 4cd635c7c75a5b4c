/*
 * meeting.c: a list of tickets in order of their places. Whoever finds that all
 * have come, or has waited for long enough, takes the list and does the work; the
 * others sleep.
 */
#include "meeting.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>

/* Jobs that are handed to the work at once. */
enum { MOST = 256 };

struct ticket {
    struct ticket *next;
    void *job;
    long place;
    bool done;
};

struct meeting {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    double patience;
    meeting_work *work;
    void *context;
    struct ticket *waiting; /* in order of their places */
    int count, joined;
    bool busy; /* a thread does the work */
};

enum dllm_status meeting_create(double patience, meeting_work *work, void *context,
                                struct meeting **out, struct dllm_error *error)
{
    struct meeting *meeting = calloc(1, sizeof *meeting);
    pthread_condattr_t attributes;

    if (!meeting)
        return status_no_memory(error, sizeof *meeting);
    meeting->patience = patience;
    meeting->work = work;
    meeting->context = context;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_mutex_init(&meeting->mutex, NULL);
    pthread_cond_init(&meeting->changed, &attributes);
    pthread_condattr_destroy(&attributes);
    *out = meeting;
    return DLLM_OK;
}

void meeting_destroy(struct meeting *meeting)
{
    if (!meeting)
        return;
    pthread_cond_destroy(&meeting->changed);
    pthread_mutex_destroy(&meeting->mutex);
    free(meeting);
}

void meeting_join(struct meeting *meeting)
{
    pthread_mutex_lock(&meeting->mutex);
    meeting->joined++;
    pthread_mutex_unlock(&meeting->mutex);
}

/* Perhaps all others wait by now. */
void meeting_leave(struct meeting *meeting)
{
    pthread_mutex_lock(&meeting->mutex);
    meeting->joined--;
    pthread_cond_broadcast(&meeting->changed);
    pthread_mutex_unlock(&meeting->mutex);
}

static struct timespec deadline_in(double seconds)
{
    struct timespec time;
    long nanoseconds;

    clock_gettime(CLOCK_MONOTONIC, &time);
    nanoseconds = time.tv_nsec + (long)((seconds - (double)(long)seconds) * 1e9);
    time.tv_sec += (time_t)seconds + nanoseconds / 1000000000;
    time.tv_nsec = nanoseconds % 1000000000;
    return time;
}

static bool has_passed(const struct timespec *deadline)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec > deadline->tv_sec ||
           (now.tv_sec == deadline->tv_sec && now.tv_nsec >= deadline->tv_nsec);
}

static void enter(struct meeting *meeting, struct ticket *ticket)
{
    struct ticket **at = &meeting->waiting;

    while (*at && (*at)->place <= ticket->place)
        at = &(*at)->next;
    ticket->next = *at;
    *at = ticket;
    meeting->count++;
    pthread_cond_broadcast(&meeting->changed);
}

/* Lets the work have the list, without the mutex; those that it did leave it. */
static void lead(struct meeting *meeting)
{
    struct ticket *tickets[MOST];
    void *jobs[MOST];
    int count = 0, done;

    for (struct ticket *at = meeting->waiting; at && count < MOST; at = at->next) {
        tickets[count] = at;
        jobs[count++] = at->job;
    }
    meeting->busy = true;
    pthread_mutex_unlock(&meeting->mutex);
    done = meeting->work(meeting->context, jobs, count);
    pthread_mutex_lock(&meeting->mutex);
    for (int i = 0; i < done; i++) {
        struct ticket **at = &meeting->waiting;

        while (*at != tickets[i])
            at = &(*at)->next;
        *at = tickets[i]->next;
        tickets[i]->done = true;
    }
    meeting->count -= done;
    meeting->busy = false;
    pthread_cond_broadcast(&meeting->changed);
}

void meeting_do(struct meeting *meeting, void *job, long place)
{
    struct ticket ticket = {.job = job, .place = place};
    struct timespec deadline = deadline_in(meeting->patience);

    pthread_mutex_lock(&meeting->mutex);
    enter(meeting, &ticket);
    while (!ticket.done) {
        if (!meeting->busy && (meeting->count >= meeting->joined || has_passed(&deadline)))
            lead(meeting);
        else if (meeting->busy)
            pthread_cond_wait(&meeting->changed, &meeting->mutex);
        else
            pthread_cond_timedwait(&meeting->changed, &meeting->mutex, &deadline);
    }
    pthread_mutex_unlock(&meeting->mutex);
}
