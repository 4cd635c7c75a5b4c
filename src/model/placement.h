/*
 * placement.h: what computes the layers of a model: one backend all of them, or
 * one the first layers and another one the rest. What comes out of the first
 * ones crosses through the host's memory, once in a pass.
 */
#ifndef PLACEMENT_H
#define PLACEMENT_H

#include "backend.h"

struct placement {
    struct backend *main;   /* the last layers and the output matrix */
    struct backend *before; /* the embedding and the layers before those; NULL: main has all */
    int layers_before;      /* how many these are, from 0 to all; 0 also where before is NULL */
};

/* Whether all of it is on the host, which alone keeps what the first layer made of a
 * token (kvcache.h). */
bool placement_is_host(const struct placement *placement);

/* The backend that computes a layer, and keeps its keys and values. */
ALWAYS_INLINE struct backend *placement_of_layer(const struct placement *placement, int layer)
{
    return layer < placement->layers_before ? placement->before : placement->main;
}

/* Of both backends together. */
struct backend_profile placement_profile_read(const struct placement *placement);
void placement_profile_reset(const struct placement *placement);

#endif
