/*
 * cuda_routing.cu: which experts rows visit, in two launches. A warp chooses for
 * a row; then a block for each expert hands out its slots in order of the rows:
 * nothing depends on the order in which blocks or threads run. Shares have the
 * CPU's bits: doubles, summed in order of the experts.
 */
#include "cuda_rows.h"
#include "gpu.cuh"
#include "rank.cuh"
#include "strict_exp.cuh"

constexpr int ROUTE_WARPS = 4, ROUTE_THREADS = 32 * ROUTE_WARPS;

/* The largest key below `limit`; NaN ranks last. */
static __device__ rank_key next_rank(const float *scores, int experts, rank_key limit, int lane)
{
    rank_key best = NO_RANK;

    for (int e = lane; e < experts; e += 32) {
        const rank_key key = rank_of(scores[e], e);

        if (key < limit)
            best = rank_max(best, key);
    }
    return warp_rank_max(best);
}

/* weights [experts] are e^(score - highest). NaN among the scores makes `all`
 * NaN and with it every share. */
static __device__ void share_out(const double *weights, int experts, const int32_t *chosen,
                                 int used, bool renormalise, float *share)
{
    double all = 0, kept = 0;

    for (int e = 0; e < experts; e++)
        all += weights[e];
    for (int i = 0; i < used; i++)
        kept += weights[chosen[i]] / all;
    for (int i = 0; i < used; i++) {
        const double part = weights[chosen[i]] / all;

        share[i] = (float)(renormalise ? part / kept : part);
    }
}

static __global__ void __launch_bounds__(ROUTE_THREADS)
    choose_experts(const float *scores, bool renormalise, cuda_routing routing)
{
    DYN_SMEM(smem); /* double [ROUTE_WARPS][experts] */
    const int warp = (int)threadIdx.x / 32, lane = (int)threadIdx.x % 32;
    const int row = (int)blockIdx.x * ROUTE_WARPS + warp;
    double *weights = (double *)smem + (size_t)warp * (size_t)routing.experts;
    int32_t *chosen = routing.expert + (size_t)row * (size_t)routing.used;
    rank_key key = ~NO_RANK;
    double highest = 0;

    if (row >= routing.rows)
        return;
    scores += (size_t)row * (size_t)routing.experts;
    for (int i = 0; i < routing.used; i++) {
        key = next_rank(scores, routing.experts, key, lane);
        if (i == 0)
            highest = (double)scores[rank_id(key)];
        if (lane == 0)
            chosen[i] = rank_id(key);
    }
    for (int e = lane; e < routing.experts; e += 32)
        weights[e] = strict_exp((double)scores[e] - highest);
    __syncwarp();
    if (lane == 0)
        share_out(weights, routing.experts, chosen, routing.used, renormalise,
                  routing.share + (size_t)row * (size_t)routing.used);
}

constexpr int SLOT_WARPS = 8, SLOT_THREADS = 32 * SLOT_WARPS;

/* Sum of `mine` over the block's threads before this one, and of all in *total.
 * `warps` [SLOT_WARPS] is shared and free when this returns. */
static __device__ int block_prefix(bool mine, int *warps, int *total)
{
    const unsigned lane = threadIdx.x % 32, votes = __ballot_sync(ALL_LANES, mine);
    const int warp = (int)threadIdx.x / 32;
    int before = __popc(votes & ((1u << lane) - 1)), all = 0;

    if (lane == 0)
        warps[warp] = __popc(votes);
    __syncthreads();
    for (int w = 0; w < SLOT_WARPS; w++) {
        before += w < warp ? warps[w] : 0;
        all += warps[w];
    }
    __syncthreads();
    *total = all;
    return before;
}

/* Visits of experts below this block's: where its slots begin. */
static __device__ int count_visits_before(const int32_t *expert, int visits, int *warps)
{
    const int own = (int)blockIdx.x;
    int count = 0, all = 0;

    for (int v = (int)threadIdx.x; v < visits; v += SLOT_THREADS)
        count += expert[v] < own;
    UNROLL
    for (int bits = 16; bits; bits /= 2)
        count += __shfl_xor_sync(ALL_LANES, count, bits);
    if (threadIdx.x % 32 == 0)
        warps[threadIdx.x / 32] = count;
    __syncthreads();
    for (int w = 0; w < SLOT_WARPS; w++)
        all += warps[w];
    __syncthreads();
    return all;
}

static __global__ void __launch_bounds__(SLOT_THREADS) assign_slots(cuda_routing routing)
{
    __shared__ int warps[SLOT_WARPS];
    const int own = (int)blockIdx.x, visits = routing.rows * routing.used;
    int next = count_visits_before(routing.expert, visits, warps);

    if (threadIdx.x == 0) {
        routing.first[own] = next;
        if (own == 0)
            routing.first[routing.experts] = visits;
    }
    for (int base = 0; base < visits; base += SLOT_THREADS) {
        const int v = base + (int)threadIdx.x;
        const bool mine = v < visits && routing.expert[v] == own;
        int total, slot = next + block_prefix(mine, warps, &total);

        if (mine) {
            routing.slot[v] = slot;
            routing.row[slot] = v / routing.used;
        }
        next += total;
    }
}

int cuda_route_rows(const float *scores, bool renormalise, const struct cuda_routing *routing,
                    struct CUstream_st *stream)
{
    const int rows = routing->rows, experts = routing->experts, used = routing->used;
    cudaError_t error;

    if (rows < 0 || used < 1 || used > experts || experts > CUDA_MAX_EXPERTS ||
        (long long)rows * used > INT32_MAX)
        return cudaErrorInvalidValue;
    if (rows > 0) {
        error = launch(choose_experts, dim3((unsigned)((rows + ROUTE_WARPS - 1) / ROUTE_WARPS)),
                       dim3(ROUTE_THREADS), sizeof(double) * ROUTE_WARPS * (size_t)experts, stream,
                       scores, renormalise, *routing);
        if (error != cudaSuccess)
            return error;
    }
    return launch(assign_slots, dim3((unsigned)experts), dim3(SLOT_THREADS), 0, stream, *routing);
}

constexpr int MIX_THREADS = 256;

static __global__ void __launch_bounds__(MIX_THREADS)
    mix_visits(const float *y, cuda_routing routing, int width, float *x)
{
    const size_t row = blockIdx.x, at = row * (size_t)routing.used;

    x += row * (size_t)width;
    for (int i = (int)threadIdx.x; i < width; i += MIX_THREADS) {
        float sum = x[i];

        for (int v = 0; v < routing.used; v++) {
            const size_t slot = (size_t)routing.slot[at + (size_t)v];

            sum += routing.share[at + (size_t)v] * y[slot * (size_t)width + (size_t)i];
        }
        x[i] = sum;
    }
}

int cuda_mix_visits(const float *y, const struct cuda_routing *routing, int width, float *x,
                    struct CUstream_st *stream)
{
    if (routing->rows < 0 || width < 1)
        return cudaErrorInvalidValue;
    if (routing->rows == 0)
        return cudaSuccess;
    return launch(mix_visits, dim3((unsigned)routing->rows), dim3(MIX_THREADS), 0, stream, y,
                  *routing, width, x);
}
