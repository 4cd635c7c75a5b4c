/*
 * meeting.c: a list of tickets in order of their places. Whoever finds that all
 * have come, or has waited for long enough, takes the list and does the work; the
 * others sleep.
 */
#include "meeting.h"

#include "clock.h"

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
    double entered;  /* when; seconds */
    bool done, left; /* left: by a work that did others */
};

struct meeting {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    double patience;
    meeting_work *work;
    void *context;
    struct ticket *waiting; /* those left, then the others in order of their places */
    int count, joined;
    int expected;    /* threads that must have joined; 0: they have */
    bool busy;       /* a thread does the work */
    double finished; /* when the work was over; seconds */
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
    if (meeting->joined >= meeting->expected)
        meeting->expected = 0;
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

void meeting_set_patience(struct meeting *meeting, double seconds)
{
    pthread_mutex_lock(&meeting->mutex);
    meeting->patience = seconds;
    pthread_cond_broadcast(&meeting->changed);
    pthread_mutex_unlock(&meeting->mutex);
}

void meeting_expect(struct meeting *meeting, int threads)
{
    pthread_mutex_lock(&meeting->mutex);
    meeting->expected = threads > meeting->joined ? threads : 0;
    pthread_cond_broadcast(&meeting->changed);
    pthread_mutex_unlock(&meeting->mutex);
}

/* Until when a job waits for others; seconds. */
static double deadline_of(const struct meeting *meeting, const struct ticket *ticket)
{
    double from = ticket->entered > meeting->finished ? ticket->entered : meeting->finished;

    return from + meeting->patience;
}

static void wait_until(struct meeting *meeting, double seconds)
{
    struct timespec time = {.tv_sec = (time_t)seconds};

    time.tv_nsec = (long)((seconds - (double)time.tv_sec) * 1e9);
    pthread_cond_timedwait(&meeting->changed, &meeting->mutex, &time);
}

static void enter(struct meeting *meeting, struct ticket *ticket)
{
    struct ticket **at = &meeting->waiting;

    while (*at && ((*at)->left || (*at)->place <= ticket->place))
        at = &(*at)->next;
    ticket->next = *at;
    *at = ticket;
    ticket->entered = clock_seconds();
    meeting->count++;
    pthread_cond_broadcast(&meeting->changed);
}

/* Tickets [count], of which the first `done` are, leave the list; the rest comes to its
 * head. */
static void sort_out(struct meeting *meeting, struct ticket *const *tickets, int count, int done)
{
    for (int i = 0; i < count; i++) {
        struct ticket **at = &meeting->waiting;

        while (*at != tickets[i])
            at = &(*at)->next;
        *at = tickets[i]->next;
        tickets[i]->done = i < done;
        tickets[i]->left = i >= done;
    }
    for (int i = count - 1; i >= done; i--) {
        tickets[i]->next = meeting->waiting;
        meeting->waiting = tickets[i];
    }
    meeting->count -= done;
}

/* Lets the work have the list, without the mutex. */
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
    sort_out(meeting, tickets, count, done);
    meeting->busy = false;
    meeting->finished = clock_seconds();
    pthread_cond_broadcast(&meeting->changed);
}

static bool all_have_come(const struct meeting *meeting)
{
    return meeting->count >= meeting->joined && meeting->count >= meeting->expected;
}

void meeting_do(struct meeting *meeting, void *job, long place)
{
    struct ticket ticket = {.job = job, .place = place};

    pthread_mutex_lock(&meeting->mutex);
    enter(meeting, &ticket);
    while (!ticket.done) {
        double deadline = deadline_of(meeting, &ticket);

        if (meeting->busy)
            pthread_cond_wait(&meeting->changed, &meeting->mutex);
        else if (ticket.left || all_have_come(meeting) || clock_seconds() >= deadline)
            lead(meeting);
        else
            wait_until(meeting, deadline);
    }
    pthread_mutex_unlock(&meeting->mutex);
}
