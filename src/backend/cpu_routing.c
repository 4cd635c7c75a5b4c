/*
 * cpu_routing.c: from router scores to slots. Rows choose on all threads; slots
 * are then counted out in order of experts and rows, so that nothing depends on
 * the threads.
 */
#include "cpu_routing.h"
#include "softmax.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static size_t slots_of(const struct backend_routing_limits *limits)
{
    return (size_t)limits->rows * (size_t)limits->used;
}

uint64_t cpu_routing_bytes(const struct backend *base, const struct backend_routing_limits *limits)
{
    (void)base;
    return sizeof(int32_t) * (3 * (uint64_t)slots_of(limits) + 2 * (uint64_t)limits->experts + 1);
}

enum dllm_status cpu_routing_create(struct backend *base,
                                    const struct backend_routing_limits *limits,
                                    struct backend_routing **out, struct dllm_error *error)
{
    size_t slots = slots_of(limits);
    struct backend_routing *routing = calloc(1, sizeof *routing);

    if (!routing)
        return status_no_memory(error, sizeof *routing);
    routing->limits = *limits;
    routing->expert = calloc(2 * slots + 2 * (size_t)limits->experts + 1, sizeof(int32_t));
    routing->share = calloc(slots, sizeof(float));
    if (!routing->expert || !routing->share) {
        cpu_routing_destroy(base, routing);
        return status_no_memory(error, cpu_routing_bytes(base, limits));
    }
    routing->slot = routing->expert + slots;
    routing->first = routing->slot + slots;
    routing->busy = routing->first + limits->experts + 1;
    *out = routing;
    return DLLM_OK;
}

void cpu_routing_destroy(struct backend *base, struct backend_routing *routing)
{
    (void)base;
    free(routing->expert);
    free(routing->share);
    free(routing);
}

struct route_job {
    const struct backend_buffer *scores;
    bool renormalise;
    struct backend_routing *routing;
};

/* The indices of the `used` highest of the scores, in order; a later one passes
 * an earlier one only if it is higher. */
static void choose(const float *scores, int experts, int used, int32_t *chosen)
{
    int count = 0;

    for (int e = 0; e < experts; e++) {
        int at = count;

        while (at > 0 && scores[e] > scores[chosen[at - 1]])
            at--;
        if (at == used)
            continue;
        count = MIN(count + 1, used);
        memmove(chosen + at + 1, chosen + at, sizeof *chosen * (size_t)(count - at - 1));
        chosen[at] = e;
    }
}

/* NaN among the scores makes `all` NaN and with it every share. */
static void share_out(const float *scores, int experts, const int32_t *chosen, int used,
                      bool renormalise, float *share)
{
    double highest = (double)scores[chosen[0]], all = 0, kept = 0;

    for (int e = 0; e < experts; e++)
        all += softmax_exp((double)scores[e] - highest);
    for (int i = 0; i < used; i++)
        kept += softmax_exp((double)scores[chosen[i]] - highest) / all;
    for (int i = 0; i < used; i++) {
        double part = softmax_exp((double)scores[chosen[i]] - highest) / all;

        share[i] = (float)(renormalise ? part / kept : part);
    }
}

static void route_item(void *context, int item, int worker)
{
    const struct route_job *job = context;
    struct backend_routing *routing = job->routing;
    const int experts = routing->limits.experts, used = routing->limits.used;
    const float *scores = job->scores->data + (size_t)item * (size_t)job->scores->width;
    size_t at = (size_t)item * (size_t)used;

    (void)worker;
    choose(scores, experts, used, routing->expert + at);
    share_out(scores, experts, routing->expert + at, used, job->renormalise, routing->share + at);
}

/* Counts the visits of each expert, then hands out slots row by row. */
static void assign_slots(struct backend_routing *routing)
{
    const int experts = routing->limits.experts, visits = routing->rows * routing->limits.used;
    int32_t *first = routing->first;

    memset(first, 0, sizeof *first * ((size_t)experts + 1));
    for (int v = 0; v < visits; v++)
        first[routing->expert[v] + 1]++;
    routing->busy_count = 0;
    for (int e = 0; e < experts; e++) {
        if (first[e + 1] > 0)
            routing->busy[routing->busy_count++] = e;
        first[e + 1] += first[e];
    }
    /* first[e] runs ahead while slots are taken and is then set back. */
    for (int v = 0; v < visits; v++)
        routing->slot[v] = first[routing->expert[v]]++;
    memmove(first + 1, first, sizeof *first * (size_t)experts);
    first[0] = 0;
}

void cpu_route(struct backend *base, const struct backend_buffer *scores, int count,
               bool renormalise, struct backend_routing *routing)
{
    struct cpu_backend *backend = cpu_of(base);
    struct route_job job = {scores, renormalise, routing};

    routing->rows = count;
    backend_cpu_run(backend, count, route_item, &job, &backend->base.profile.other);
    assign_slots(routing);
}

struct mix_job {
    const struct cpu_backend *backend;
    const struct backend_buffer *y;
    const struct backend_routing *routing;
    struct backend_buffer *x;
};

static void mix_item(void *context, int item, int worker)
{
    const struct mix_job *job = context;
    const int used = job->routing->limits.used, width = job->x->width;
    const int32_t *slot = job->routing->slot + (size_t)item * (size_t)used;
    const float *share = job->routing->share + (size_t)item * (size_t)used;
    float *x = job->x->data + (size_t)item * (size_t)width;

    (void)worker;
    for (int v = 0; v < used; v++)
        job->backend->kernels.add_scaled(x, job->y->data + (size_t)slot[v] * (size_t)width,
                                         share[v], width);
}

void cpu_mix_visits(struct backend *base, const struct backend_buffer *y,
                    const struct backend_routing *routing, struct backend_buffer *x)
{
    struct cpu_backend *backend = cpu_of(base);
    struct mix_job job = {backend, y, routing, x};

    backend_cpu_run(backend, routing->rows, mix_item, &job, &backend->base.profile.other);
}
