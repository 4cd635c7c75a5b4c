/* placement.c: see placement.h. */
#include "placement.h"

bool placement_is_host(const struct placement *placement)
{
    return !placement->before && backend_is_host(placement->main);
}

struct backend_profile placement_profile_read(const struct placement *placement)
{
    struct backend_profile all = backend_profile_read(placement->main), part;

    if (!placement->before)
        return all;
    part = backend_profile_read(placement->before);
    all.matmul += part.matmul;
    all.attention += part.attention;
    all.other += part.other;
    all.int8_operations += part.int8_operations;
    all.float_operations += part.float_operations;
    all.weight_bytes += part.weight_bytes;
    return all;
}

void placement_profile_reset(const struct placement *placement)
{
    backend_profile_reset(placement->main);
    if (placement->before)
        backend_profile_reset(placement->before);
}
