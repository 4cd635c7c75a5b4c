/*
 * schedule.c: counts of positions and steps, in whole numbers.
 */
#include "schedule.h"

#include "compiler.h"

#include <math.h>
#include <stdint.h>

#define BILLION INT64_C(1000000000)

int schedule_block_count(int region, int block_length)
{
    return region / block_length + (region % block_length != 0);
}

/* All blocks but a shorter last one have the same share and remainder, so the
 * steps left over by rounding down go to the first of them; the last comes
 * before them only if its remainder is larger, and not if its share was raised
 * to 1 already. */
int schedule_block_steps(int region, int block_length, int steps, int index)
{
    int blocks = schedule_block_count(region, block_length);
    int length = MIN(block_length, region);
    int64_t last_length = region - (int64_t)(blocks - 1) * length;
    int64_t share = (int64_t)steps * length / region;
    int64_t remainder = (int64_t)steps * length % region;
    int64_t last_share = steps * last_length / region;
    int64_t last_remainder = steps * last_length % region;
    int64_t left;
    int last_first;

    if (last_share == 0) {
        last_share = 1;
        last_remainder = -1;
    }
    left = steps - share * (blocks - 1) - last_share;
    last_first = last_remainder > remainder && left > 0;
    if (index == blocks - 1)
        return (int)last_share + (last_first || left > blocks - 1);
    return (int)share + (index < left - last_first);
}

int schedule_llada_count(int masks, int steps, int step)
{
    return masks / steps + (step < masks % steps);
}

/* 1 - eps in billionths. */
static int64_t one_minus(double eps)
{
    return BILLION - llround(eps * (double)BILLION);
}

/* 1 - t_{i+1} / t_i = (1 - eps) / (steps - i (1 - eps)). */
int schedule_dream_count(int masks, int steps, int step, double eps)
{
    int64_t rest = one_minus(eps);

    if (step == steps - 1)
        return masks;
    return (int)(rest * masks / (BILLION * steps - rest * step));
}

double schedule_dream_share(int steps, int step, double eps)
{
    int64_t rest = one_minus(eps);

    if (step == steps - 1)
        return 1.0;
    return (double)rest / (double)(BILLION * steps - rest * step);
}
