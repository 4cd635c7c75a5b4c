/*
 * backend_ops.h: what a device supplies: a function for each of backend.h that
 * depends on it, of the same name and type, for objects that this device made.
 * backend.c calls them.
 *
 * What lies behind struct backend_buffer and its relatives is each device's own
 * business: its files define these structs, nobody else looks inside.
 */
#ifndef BACKEND_OPS_H
#define BACKEND_OPS_H

#include "backend.h"

/* A pointer to a function of the type that backend_NAME has. */
#define BACKEND_OP(name) __typeof__(backend_##name) *(name)

struct backend_ops {
    bool is_host;
    BACKEND_OP(device_name);
    BACKEND_OP(level_name);
    BACKEND_OP(threads);
    BACKEND_OP(ceiling);
    BACKEND_OP(bandwidth);
    BACKEND_OP(destroy); /* not called with NULL, nor are the others below */

    BACKEND_OP(load);
    BACKEND_OP(fits);
    BACKEND_OP(wait);
    BACKEND_OP(reserve);
    BACKEND_OP(reserve_bytes);
    BACKEND_OP(buffer_bytes);
    BACKEND_OP(buffer_create);
    BACKEND_OP(buffer_destroy);
    BACKEND_OP(buffer_read);
    BACKEND_OP(buffer_write);
    BACKEND_OP(lists_create);
    BACKEND_OP(lists_destroy);
    BACKEND_OP(lists_send);
    BACKEND_OP(activations_bytes);
    BACKEND_OP(activations_create);
    BACKEND_OP(activations_destroy);
    BACKEND_OP(routing_bytes);
    BACKEND_OP(routing_create);
    BACKEND_OP(routing_destroy);
    BACKEND_OP(visits_bytes);
    BACKEND_OP(visits_create);
    BACKEND_OP(visits_destroy);

    BACKEND_OP(recordings_create);
    BACKEND_OP(recordings_destroy);
    BACKEND_OP(replay);
    BACKEND_OP(record_end);

    BACKEND_OP(embed);
    BACKEND_OP(gather);
    BACKEND_OP(scatter);
    BACKEND_OP(rope);
    BACKEND_OP(attention);

    BACKEND_OP(prepare);
    BACKEND_OP(prepare_gated);
    BACKEND_OP(matmul);
    BACKEND_OP(route);
    BACKEND_OP(prepare_visits);
    BACKEND_OP(prepare_gated_visits);
    BACKEND_OP(matmul_visits);
    BACKEND_OP(mix_visits);

    BACKEND_OP(guide);
    BACKEND_OP(pick_rows);
    BACKEND_OP(cross_entropy_rows);
};

/* The head of every device's backend. */
struct backend {
    const struct backend_ops *ops;
    struct backend_profile profile;
};

/* Adds what a product of a matrix and so many tokens takes to the profile. */
void backend_count_product(struct backend *backend, const struct backend_matrix *matrix,
                           int tokens);

#endif
