/*
 * logit_row.cuh: a block goes over a row of logits: its best two, and sums over
 * its softmax. Each warp has a segment of neighbouring ids, so that partial sums
 * are in order of the ids too. Every result is the same for all threads and does
 * not depend on the order in which they run.
 */
#pragma once
#include "cuda_pick.h"
#include "gpu.cuh"
#include "rank.cuh"

constexpr int ROW_WARPS = 16, ROW_THREADS = 32 * ROW_WARPS;

struct logit_row {
    const float *logits; /* [vocab] */
    int vocab, segment;  /* ids of a warp, a multiple of 32 */
    cuda_id_set banned, deferred;
};

/* One value a warp, for exchange; every use ends with a barrier. */
struct row_smem {
    rank_key first[ROW_WARPS], second[ROW_WARPS];
    double value[ROW_WARPS];
    int id[ROW_WARPS];
};

static __device__ logit_row open_row(const float *logits, int vocab, cuda_id_set banned,
                                     cuda_id_set deferred)
{
    const int segment = (vocab + ROW_THREADS - 1) / ROW_THREADS * 32;

    return {logits + (size_t)blockIdx.x * (size_t)vocab, vocab, segment, banned, deferred};
}

static __device__ __forceinline__ int segment_begin(const logit_row &row, int warp)
{
    return min(warp * row.segment, row.vocab);
}

static __device__ __forceinline__ bool contains(cuda_id_set set, int id)
{
    return set && (set[id / 32] >> (id % 32) & 1);
}

static __device__ __forceinline__ float allowed_logit(const logit_row &row, int id)
{
    return contains(row.banned, id) ? -INFINITY : row.logits[id];
}

/* visit(id, allowed logit) for every id of the thread, ascending. Loads run some
 * ids ahead, so that several are under way at a time. */
template <class Visit>
static __device__ __forceinline__ void for_own_ids(const logit_row &row, Visit visit)
{
    constexpr int AHEAD = 8;
    const int warp = (int)threadIdx.x / 32, end = segment_begin(row, warp + 1);
    const int begin = segment_begin(row, warp) + (int)threadIdx.x % 32;

    for (int first = begin; first < end; first += 32 * AHEAD) {
        float logits[AHEAD];

        UNROLL
        for (int i = 0; i < AHEAD; i++)
            logits[i] = first + 32 * i < end ? allowed_logit(row, first + 32 * i) : 0;
        UNROLL
        for (int i = 0; i < AHEAD; i++)
            if (first + 32 * i < end)
                visit(first + 32 * i, logits[i]);
    }
}

/* s.value[w] becomes the sum of warp w's parts; returns the sum of these in order. */
static __device__ double segment_sums(row_smem &s, double part)
{
    double sum = 0;

    UNROLL
    for (int bits = 16; bits; bits /= 2)
        part += __shfl_xor_sync(ALL_LANES, part, bits);
    __syncthreads();
    if (threadIdx.x % 32 == 0)
        s.value[threadIdx.x / 32] = part;
    __syncthreads();
    for (int w = 0; w < ROW_WARPS; w++)
        sum += s.value[w];
    return sum;
}

struct row_ranks {
    rank_key best, second; /* NO_RANK or that of -infinity: there is none */
};

static __device__ __forceinline__ row_ranks ranks_merged(row_ranks a, row_ranks b)
{
    const rank_key loser = a.best < b.best ? a.best : b.best;

    return {rank_max(a.best, b.best), rank_max(loser, rank_max(a.second, b.second))};
}

static __device__ row_ranks block_ranks(row_smem &s, row_ranks own)
{
    UNROLL
    for (int bits = 16; bits; bits /= 2)
        own = ranks_merged(own, {__shfl_xor_sync(ALL_LANES, own.best, bits),
                                 __shfl_xor_sync(ALL_LANES, own.second, bits)});
    __syncthreads();
    if (threadIdx.x % 32 == 0) {
        s.first[threadIdx.x / 32] = own.best;
        s.second[threadIdx.x / 32] = own.second;
    }
    __syncthreads();
    row_ranks all = {NO_RANK, NO_RANK};
    for (int w = 0; w < ROW_WARPS; w++)
        all = ranks_merged(all, {s.first[w], s.second[w]});
    return all;
}

struct row_summary {
    int state;        /* enum cuda_row_state; the rest holds for a good row */
    int best, second; /* ids; second -1: no other finite logit */
    float max, max_second;
    float max_kept; /* of the ids that are not deferred; may be -infinity */
};

static __device__ bool is_finite_rank(rank_key key)
{
    return key != NO_RANK && rank_score(key) > -INFINITY;
}

static __device__ row_summary summarize_row(row_smem &s, const logit_row &row)
{
    row_ranks ranks = {NO_RANK, NO_RANK}, kept = {NO_RANK, NO_RANK};
    row_summary summary = {};
    int odd = 0;

    for_own_ids(row, [&](int id, float logit) {
        const row_ranks one = {rank_of(logit, id), NO_RANK};

        odd |= !(logit < INFINITY);
        ranks = ranks_merged(ranks, one);
        if (!contains(row.deferred, id))
            kept.best = rank_max(kept.best, one.best);
    });
    odd = __syncthreads_or(odd);
    ranks = block_ranks(s, ranks);
    summary.max_kept = rank_score(ranks.best);
    if (row.deferred) {
        kept = block_ranks(s, kept);
        summary.max_kept = is_finite_rank(kept.best) ? rank_score(kept.best) : -INFINITY;
    }
    summary.best = rank_id(ranks.best);
    summary.max = rank_score(ranks.best);
    summary.second = is_finite_rank(ranks.second) ? rank_id(ranks.second) : -1;
    summary.max_second = rank_score(ranks.second);
    summary.state = odd                          ? CUDA_ROW_NOT_A_NUMBER
                    : is_finite_rank(ranks.best) ? CUDA_ROW_GOOD
                                                 : CUDA_ROW_EMPTY;
    return summary;
}

/* Sum of weight(id, logit), by segments. */
template <class Weight>
static __device__ double sum_weights(row_smem &s, const logit_row &row, Weight weight)
{
    double sum = 0;

    for_own_ids(row, [&](int id, float logit) { sum += weight(id, logit); });
    return segment_sums(s, sum);
}

/* The first id of the segment with which the weights laid end to end pass the
 * target, `before` being those in front of it; rounding may leave none, then the
 * last one that weighs something. For one warp. */
template <class Weight>
static __device__ int find_in_segment(const logit_row &row, int segment, double before,
                                      double target, Weight weight)
{
    const int lane = (int)threadIdx.x % 32, end = segment_begin(row, segment + 1);
    int last = segment_begin(row, segment);

    for (int base = last; base < end; base += 32) {
        const int id = base + lane;
        const double own = id < end ? weight(id, allowed_logit(row, id)) : 0;
        double reached = own;

        UNROLL
        for (int step = 1; step < 32; step *= 2) {
            const double other = __shfl_up_sync(ALL_LANES, reached, (unsigned)step);

            reached += lane >= step ? other : 0;
        }
        const unsigned weighty = __ballot_sync(ALL_LANES, own > 0);
        const unsigned passed = __ballot_sync(ALL_LANES, own > 0 && before + reached > target);
        if (passed)
            return base + __ffs((int)passed) - 1;
        if (weighty)
            last = base + 31 - __clz((int)weighty);
        before += __shfl_sync(ALL_LANES, reached, 31);
    }
    return last;
}

/* The same over the whole row. s.value holds the segments' sums, as segment_sums
 * leaves them; at least one is above 0. */
template <class Weight>
static __device__ int find_in_row(row_smem &s, const logit_row &row, double target, Weight weight)
{
    double before = 0, reached = 0;
    int segment = 0;

    for (int w = 0; w < ROW_WARPS && reached <= target; w++)
        if (s.value[w] > 0) {
            segment = w;
            before = reached;
            reached += s.value[w];
        }
    if (threadIdx.x < 32) {
        const int id = find_in_segment(row, segment, before, target, weight);

        if (threadIdx.x == 0)
            s.id[0] = id;
    }
    __syncthreads();
    return s.id[0];
}
