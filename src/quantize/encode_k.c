/*
 * encode_k.c: Q4_K, Q5_K and Q6_K. For each sub-block a few candidate grids are
 * tried; for the integers that a grid gives, the scale (and minimum) that fit
 * best follow from least squares; the best candidate is kept. Scales and minimums
 * are then rounded themselves, and the integers found anew for what they became.
 *
 * Sums are in f32 and in the order of the values, and no operation is fused:
 * then the bytes are the same wherever this runs.
 */
#include "encode.h"

#include "blocks.h"
#include "compiler.h"
#include "half.h"

#include <math.h>
#include <string.h>

enum { SUPER = 256, SUB = 32, SUBS = SUPER / SUB, GROUP = 16, GROUPS = SUPER / GROUP };

/* Below this magnitude a group of Q6_K counts as zero. */
#define GROUP_TINY 1e-15f

static int nearest(float value)
{
    return (int)lrintf(value); /* halves to the even number */
}

static int clamp(int value, int low, int high)
{
    return MAX(low, MIN(high, value));
}

/* ------------------------------------- scale and minimum of 32 values --- */

/* w * (scale * q + least - x)^2 is what is to be small. */
struct affine {
    float scale, least;
};

/* The candidates: q = (x - least) * (top + first + k * step) / (most - least), where
 * least is that of the best fit so far. */
struct affine_search {
    int top; /* the largest q */
    float first, step;
    int steps;
};

/* Integers 0..top of x [SUB] on a grid that starts at least. */
static void grid_of(const float *x, float least, float factor, int top, uint8_t *q)
{
    for (int i = 0; i < SUB; i++)
        q[i] = (uint8_t)clamp(nearest(factor * (x[i] - least)), 0, top);
}

static float affine_error(const float *x, const float *weight, const uint8_t *q, struct affine fit)
{
    float error = 0;

    for (int i = 0; i < SUB; i++) {
        float difference = fit.scale * (float)q[i] + fit.least - x[i];

        difference = difference * difference;
        error += weight[i] * difference;
    }
    return error;
}

/* The best fit for given integers, whose least is not above 0; false if they
 * determine none. sum_w and sum_x: of weights and of weight * x. */
static bool affine_fit(const float *x, const float *weight, const uint8_t *q, float sum_w,
                       float sum_x, struct affine *out)
{
    float sum_q = 0, sum_qq = 0, sum_xq = 0, determinant;

    for (int i = 0; i < SUB; i++) {
        float w = weight[i], level = (float)q[i];

        sum_q += w * level;
        sum_qq += w * level * level;
        sum_xq += w * level * x[i];
    }
    determinant = sum_w * sum_qq - sum_q * sum_q;
    if (!(determinant > 0))
        return false;
    out->scale = (sum_w * sum_xq - sum_x * sum_q) / determinant;
    out->least = (sum_qq * sum_x - sum_q * sum_xq) / determinant;
    if (out->least > 0)
        *out = (struct affine){sum_xq / sum_qq, 0};
    return true;
}

/* The sums that all candidates share, and the ends of the range. */
struct affine_range {
    float least, most, sum_w, sum_x;
};

static struct affine_range range_of(const float *x, const float *weight)
{
    struct affine_range range = {x[0], x[0], weight[0], weight[0] * x[0]};

    for (int i = 1; i < SUB; i++) {
        range.least = MIN(range.least, x[i]);
        range.most = MAX(range.most, x[i]);
        range.sum_w += weight[i];
        range.sum_x += weight[i] * x[i];
    }
    range.least = MIN(range.least, 0);
    return range;
}

/* Scale and least of x [SUB], least at most 0, and the integers of the grid that
 * they were found on. */
static struct affine search_affine(const float *x, const float *weight,
                                   const struct affine_search *search, uint8_t best_q[SUB])
{
    struct affine_range range = range_of(x, weight);
    float span = range.most - range.least, best_error;
    struct affine best = {0, range.least}, fit;
    uint8_t q[SUB];

    memset(best_q, 0, SUB);
    if (range.most == range.least)
        return best;
    best.scale = 1 / ((float)search->top / span);
    grid_of(x, range.least, (float)search->top / span, search->top, best_q);
    best_error = affine_error(x, weight, best_q, best);
    for (int k = 0; k <= search->steps; k++) {
        float top = search->first + search->step * (float)k + (float)search->top;
        float error;

        grid_of(x, best.least, top / (range.most - best.least), search->top, q);
        if (!affine_fit(x, weight, q, range.sum_w, range.sum_x, &fit))
            continue;
        error = affine_error(x, weight, q, fit);
        if (error < best_error) {
            best_error = error;
            best = fit;
            memcpy(best_q, q, SUB);
        }
    }
    return best;
}

/* ----------------------------------------------------- Q4_K and Q5_K --- */

/* What both types share: halves, packed six-bit scales, integers. */
struct affine_block {
    uint16_t d, dmin;
    uint8_t scales[12];
    uint8_t q[SUPER];
};

static void fit_sub_blocks(const float *x, const struct affine_search *search,
                           struct affine fits[SUBS], uint8_t q[SUPER])
{
    for (int j = 0; j < SUBS; j++, x += SUB, q += SUB) {
        float weight[SUB], squares = 0, size;

        for (int i = 0; i < SUB; i++)
            squares += x[i] * x[i];
        size = sqrtf(squares / SUB);
        for (int i = 0; i < SUB; i++)
            weight[i] = size + fabsf(x[i]);
        fits[j] = search_affine(x, weight, search, q);
    }
}

/* Six-bit scale and minimum of sub-block j into the twelve bytes. */
static void pack_scale(uint8_t s[12], int j, uint8_t scale, uint8_t minimum)
{
    if (j < 4) {
        s[j] = scale;
        s[j + 4] = minimum;
    } else {
        s[j + 4] = (uint8_t)((scale & 15) | (minimum & 15) << 4);
        s[j - 4] |= (uint8_t)(scale >> 4 << 6);
        s[j] |= (uint8_t)(minimum >> 4 << 6);
    }
}

/* Integers for what scale and minimum became after rounding; a scale of 0 makes
 * nothing of any, so they stay. */
static void place_affine(const float *x, float d, float minimum, int top, uint8_t *q)
{
    for (int i = 0; d != 0 && i < SUB; i++)
        q[i] = (uint8_t)clamp(nearest((x[i] + minimum) / d), 0, top);
}

static void encode_affine(const float *x, const struct affine_search *search,
                          struct affine_block *out)
{
    struct affine fits[SUBS];
    float most_scale = 0, most_minimum = 0, scale_factor, minimum_factor;

    memset(out, 0, sizeof *out);
    fit_sub_blocks(x, search, fits, out->q);
    for (int j = 0; j < SUBS; j++) {
        most_scale = MAX(most_scale, fits[j].scale);
        most_minimum = MAX(most_minimum, -fits[j].least);
    }
    scale_factor = most_scale > 0 ? 63 / most_scale : 0;
    minimum_factor = most_minimum > 0 ? 63 / most_minimum : 0;
    out->d = half_from_float(most_scale / 63);
    out->dmin = half_from_float(most_minimum / 63);
    for (int j = 0; j < SUBS; j++) {
        uint8_t scale = (uint8_t)clamp(nearest(scale_factor * fits[j].scale), 0, 63);
        uint8_t minimum = (uint8_t)clamp(nearest(minimum_factor * -fits[j].least), 0, 63);

        pack_scale(out->scales, j, scale, minimum);
        place_affine(x + SUB * j, half_to_float(out->d) * (float)scale,
                     half_to_float(out->dmin) * (float)minimum, search->top, out->q + SUB * j);
    }
}

/* Low four bits of 256 integers: sub-blocks 2p and 2p + 1 share 32 bytes. */
static void pack_nibbles(const uint8_t q[SUPER], uint8_t nibbles[SUPER / 2])
{
    for (int i = 0; i < SUPER / 2; i++) {
        int first = i / SUB * 2 * SUB + i % SUB;

        nibbles[i] = (uint8_t)((q[first] & 15) | (q[first + SUB] & 15) << 4);
    }
}

void encode_q4_k(const float *x, void *out)
{
    static const struct affine_search search = {15, -1, 0.1f, 20};
    struct affine_block found;
    struct block_q4_k block;

    encode_affine(x, &search, &found);
    block.d = found.d;
    block.dmin = found.dmin;
    memcpy(block.scales, found.scales, sizeof block.scales);
    pack_nibbles(found.q, block.q);
    memcpy(out, &block, sizeof block);
}

void encode_q5_k(const float *x, void *out)
{
    static const struct affine_search search = {31, -0.5f, 0.1f, 15};
    struct affine_block found;
    struct block_q5_k block = {0};

    encode_affine(x, &search, &found);
    block.d = found.d;
    block.dmin = found.dmin;
    memcpy(block.scales, found.scales, sizeof block.scales);
    pack_nibbles(found.q, block.q);
    for (int i = 0; i < SUPER; i++)
        block.high[i % SUB] |= (uint8_t)(found.q[i] >> 4 << i / SUB);
    memcpy(out, &block, sizeof block);
}

/* -------------------------------------------------------------- Q6_K --- */

/* Sums of a least-squares fit x ~ scale * q with weights x^2. */
struct linear_sums {
    float xq, qq;
};

static struct linear_sums linear_sums_of(const float *x, float factor)
{
    struct linear_sums sums = {0, 0};

    for (int i = 0; i < GROUP; i++) {
        float level = (float)clamp(nearest(factor * x[i]), -32, 31), w = x[i] * x[i];

        sums.xq += w * x[i] * level;
        sums.qq += w * level * level;
    }
    return sums;
}

/* Integers 0..63 of x [GROUP]. */
static void place_linear(const float *x, float factor, uint8_t *q)
{
    for (int i = 0; i < GROUP; i++)
        q[i] = (uint8_t)(32 + clamp(nearest(factor * x[i]), -32, 31));
}

/* The scale of x [GROUP], and the integers of the grid that it was found on:
 * grids on which the value of largest magnitude lies about the end that reaches
 * furthest, -32. */
static float search_linear(const float *x, uint8_t q[GROUP])
{
    float extreme = 0, scale, best, best_factor;
    struct linear_sums sums;

    memset(q, 0, GROUP);
    for (int i = 0; i < GROUP; i++)
        if (fabsf(x[i]) > fabsf(extreme))
            extreme = x[i];
    if (fabsf(extreme) < GROUP_TINY)
        return 0;
    best_factor = -32 / extreme;
    sums = linear_sums_of(x, best_factor);
    scale = sums.qq != 0 ? sums.xq / sums.qq : 0;
    best = scale * sums.xq;
    for (int k = -9; k <= 9; k++) {
        float factor = -(32 + 0.1f * (float)k) / extreme;

        if (k == 0)
            continue;
        sums = linear_sums_of(x, factor);
        if (sums.qq > 0 && sums.xq * sums.xq > best * sums.qq) {
            scale = sums.xq / sums.qq;
            best = scale * sums.xq;
            best_factor = factor;
        }
    }
    place_linear(x, best_factor, q);
    return scale;
}

/* Integers 0..63 of a Q6_K block: low nibbles and pairs of high bits apart. */
static void pack_six_bits(const uint8_t q[SUPER], struct block_q6_k *out)
{
    memset(out->low, 0, sizeof out->low);
    memset(out->high, 0, sizeof out->high);
    for (int i = 0; i < SUPER; i++) {
        int half = i / 128, run = i / SUB % 4;

        out->low[half * 64 + run % 2 * SUB + i % SUB] |= (uint8_t)((q[i] & 15) << run / 2 * 4);
        out->high[half * SUB + i % SUB] |= (uint8_t)(q[i] >> 4 << 2 * run);
    }
}

void encode_q6_k(const float *x, void *out)
{
    struct block_q6_k block = {0};
    float scales[GROUPS], extreme = 0, factor;
    uint8_t q[SUPER];

    for (int g = 0; g < GROUPS; g++) {
        scales[g] = search_linear(x + GROUP * g, q + GROUP * g);
        if (fabsf(scales[g]) > fabsf(extreme))
            extreme = scales[g];
    }
    if (fabsf(extreme) < GROUP_TINY) {
        memcpy(out, &block, sizeof block);
        return;
    }
    factor = -128 / extreme;
    block.d = half_from_float(1 / factor);
    for (int g = 0; g < GROUPS; g++) {
        float d;

        block.scales[g] = (int8_t)MIN(127, nearest(factor * scales[g]));
        d = half_to_float(block.d) * (float)block.scales[g];
        for (int i = GROUP * g; d != 0 && i < GROUP * (g + 1); i++)
            q[i] = (uint8_t)(32 + clamp(nearest(x[i] / d), -32, 31));
    }
    pack_six_bits(q, &block);
    memcpy(out, &block, sizeof block);
}
