/*
 * logit_filter.cuh: top-p and top-k of a row without sorting it; the rules are
 * those of src/backend/filter.h. What survives is a head of the order of ranks
 * (rank.cuh), so a filter is the lowest rank that survives.
 *
 * It is found digit by digit: a histogram over the highest bits of the logits
 * tells in which bin the mass from above passes the limit, a second one divides
 * that bin, and so on. Masses are integers, so that the order in which threads
 * add them up cannot show; equal logits have equal masses, which settles ties.
 */
#pragma once
#include "logit_row.cuh"

typedef unsigned long long mass;

constexpr int DIGIT_BITS = 11, BINS = 1 << DIGIT_BITS, OWN_BINS = BINS / ROW_THREADS;

static_assert(OWN_BINS * ROW_THREADS == BINS, "each thread walks over as many bins");

struct filter_smem {
    mass bins[BINS];
    mass warps[ROW_WARPS];
    mass above; /* what find_bin finds */
    int bin;
};

/* The logit at which the mass from above passes a limit. */
struct crossing {
    bool found;    /* else all mass together is within the limit */
    unsigned bits; /* ordered_bits of the logit */
    mass above;    /* of higher logits, at most the limit */
    mass at;       /* of all with this logit */
};

/* Sum of the threads before this one. */
static __device__ mass threads_before(filter_smem &f, mass own)
{
    const int warp = (int)threadIdx.x / 32, lane = (int)threadIdx.x % 32;
    mass sum = own;

    UNROLL
    for (int step = 1; step < 32; step *= 2) {
        const mass other = __shfl_up_sync(ALL_LANES, sum, (unsigned)step);

        sum += lane >= step ? other : 0;
    }
    if (lane == 31)
        f.warps[warp] = sum;
    __syncthreads();
    for (int w = 0; w < warp; w++)
        sum += f.warps[w];
    return sum - own;
}

/* From the highest bin down: the one with which `above` plus the bins passes the
 * limit, in f.bin (-1: none), and what lies above it in f.above. Ends with a barrier. */
static __device__ void find_bin(filter_smem &f, mass above, mass limit)
{
    const int highest = BINS - 1 - (int)threadIdx.x * OWN_BINS;
    mass own = 0;

    if (threadIdx.x == 0)
        f.bin = -1;
    for (int i = 0; i < OWN_BINS; i++)
        own += f.bins[highest - i];
    above += threads_before(f, own);
    if (above <= limit && above + own > limit) {
        int bin = highest;

        for (; above + f.bins[bin] <= limit; bin--)
            above += f.bins[bin];
        f.bin = bin;
        f.above = above;
    }
    __syncthreads();
}

/* measure(id, logit) is the mass of an id, at most 2^63 for all together. */
template <class Measure>
static __device__ crossing find_crossing(filter_smem &f, const logit_row &row, mass limit,
                                         Measure measure)
{
    crossing c = {true, 0, 0, 0};

    for (int top = 32, low; c.found && top > 0; top = low) {
        low = max(top - DIGIT_BITS, 0);
        for (int i = (int)threadIdx.x; i < BINS; i += ROW_THREADS)
            f.bins[i] = 0;
        __syncthreads();
        for_own_ids(row, [&](int id, float logit) {
            const mass bits = ordered_bits(logit);

            if (bits >> top == (mass)c.bits >> top) {
                const mass own = measure(id, logit);

                if (own > 0)
                    atomicAdd(&f.bins[bits >> low & (BINS - 1)], own);
            }
        });
        __syncthreads();
        find_bin(f, c.above, limit);
        c.found = f.bin >= 0;
        if (c.found) {
            c.bits |= (unsigned)f.bin << low;
            c.above = f.above;
            c.at = f.bins[f.bin];
        }
        __syncthreads();
    }
    return c;
}

/* ---- Filters: the lowest rank that survives, NO_RANK if all do ---- */

/* A power of two: a sum of weights times it stays below 2^62. total >= 1. */
static __device__ __forceinline__ double mass_unit(double total)
{
    const long long exponent = (__double_as_longlong(total) >> 52) - 1023;

    return __longlong_as_double((1023 + 61 - exponent) << 52);
}

/* A token survives unless the mass before it is above top_p * total; of equal
 * logits the lower ids come first. */
template <class Weight>
static __device__ rank_key top_p_floor(filter_smem &f, row_smem &s, const logit_row &row,
                                       double top_p, double total, Weight weight)
{
    const double unit = mass_unit(total);
    const mass limit = (mass)(fmax(top_p, 0.0) * total * unit);
    const crossing c = find_crossing(
        f, row, limit, [&](int id, float logit) { return (mass)(weight(id, logit) * unit); });
    const auto tied = [&](int, float logit) { return ordered_bits(logit) == c.bits ? 1.0 : 0.0; };

    if (!c.found)
        return NO_RANK;
    const double ties = sum_weights(s, row, tied);
    const mass kept = (limit - c.above) / (c.at / (mass)ties) + 1;
    if ((double)kept >= ties)
        return lowest_rank(c.bits);
    return rank_of_bits(c.bits, find_in_row(s, row, (double)kept - 0.5, tied));
}

/* All that equals the k-th survives. */
static __device__ rank_key top_k_floor(filter_smem &f, const logit_row &row, int top_k)
{
    const crossing c = find_crossing(f, row, (mass)(top_k - 1),
                                     [](int, float logit) { return (mass)(logit > -INFINITY); });

    return c.found ? lowest_rank(c.bits) : NO_RANK;
}

/* top_p >= 1 and top_k 0 are off. weight(id, logit) are the row's weights, total their
 * sum. The k-th of the row is the k-th of what top_p left, or is cut already. */
template <class Weight>
static __device__ rank_key lowest_survivor(filter_smem &f, row_smem &s, const logit_row &row,
                                           double top_p, int top_k, double total, Weight weight)
{
    rank_key lowest = NO_RANK;

    if (top_p < 1)
        lowest = top_p_floor(f, s, row, top_p, total, weight);
    if (top_k > 0)
        lowest = rank_max(lowest, top_k_floor(f, row, top_k));
    return lowest;
}
