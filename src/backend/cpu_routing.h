/* cpu_routing.h: which experts rows visit, as the files of the CPU backend see it. */
#ifndef CPU_ROUTING_H
#define CPU_ROUTING_H

#include "backend_cpu.h"

struct backend_routing {
    struct backend_routing_limits limits;
    int rows;        /* routed last */
    int32_t *expert; /* [rows, used], highest score first */
    float *share;    /* [rows, used] */
    int32_t *slot;   /* [rows, used] */
    int32_t *first;  /* [experts + 1]: the slots of expert e are first[e] .. first[e + 1] - 1 */
    int32_t *busy;   /* [busy_count] experts with visits, ascending */
    int busy_count;
};

struct backend_visits {
    void *storage;             /* 64-byte aligned */
    struct activations *views; /* [experts], cut from storage; only those of busy experts are set */
};

#endif
