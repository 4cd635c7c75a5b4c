/* cpu_ceiling.c: the rate that a level's arithmetic cannot exceed, on the threads of the backend.
 */
#include "backend_cpu.h"

#include "ceiling.h"
#include "clock.h"

/* A loop takes about 0.1 ms; a thread runs this many. */
enum { LOOPS_PER_THREAD = 60 };

static void ceiling_item(void *context, int item, int worker)
{
    ceiling_loop *const *loop = context;

    (void)item, (void)worker;
    (*loop)();
}

double cpu_ceiling(struct backend *base, uint32_t type)
{
    struct cpu_backend *backend = cpu_of(base);
    ceiling_loop *loop = ceiling_of(backend->level, backend_multiplies_floats(type));
    int items = LOOPS_PER_THREAD * pool_threads(backend->pool);
    double each, start;

    if (!loop)
        return 0;
    each = loop();
    start = clock_seconds();
    pool_run(backend->pool, items, ceiling_item, &loop);
    return each * items / (clock_seconds() - start);
}

/* Of a processor it is not measured. */
double cpu_bandwidth(struct backend *base)
{
    (void)base;
    return 0;
}

bool backend_multiplies_floats(uint32_t type)
{
    return activation_form_of(type) == ACTIVATION_F32;
}
