/*
 * cuda_attention_exact.cu: attention in f32, to the bit that of
 * kernels/cpu/attention_body.h: a block takes 32 queries of one head over all
 * keys, in groups of 128 with a running maximum and sum. A warp has eight of the
 * queries: a lane scores them against four keys at a time and holds the outputs
 * of every 32nd dim.
 *
 * The orders that make the bits: a score is one fma chain over the dims;
 * exponentials are added up by key number mod 16, so sixteen lanes take a query;
 * an output is one fma chain over the keys of a group, multiplied by
 * e^(old maximum - new) between groups.
 */
#include "attention_windows.cuh"
#include "strict_exp.cuh"

constexpr int WARPS = 4, THREADS = 32 * WARPS;
constexpr int OWN_QUERIES = 8, QUERIES = OWN_QUERIES * WARPS; /* of a warp, of the block */
constexpr int OWN_KEYS = 4, GROUP = OWN_KEYS * 32;            /* of a lane, of the block */
constexpr int SUM_LANES = 16, ROUNDS = QUERIES * SUM_LANES / THREADS;
constexpr int SLICE = 32; /* dims of the keys in shared memory at a time */
/* Floats of a row that holds one value of each query; multiples of 4, for float4. */
constexpr int QUERY_PITCH = QUERIES + 4;

static_assert(GROUP == 128, "the groups of the CPU's kernel");

template <int SLICES> struct exact_smem {
    float query[SLICES * SLICE][QUERY_PITCH]; /* scaled; of queries past the last one zeros */
    float weight[GROUP][QUERY_PITCH];         /* scores, then exponentials */
    float key[SLICE][GROUP + 1];              /* one further column against bank conflicts */
    float shrink[QUERIES];                    /* e^(old maximum - new), at last the sum */
};

/* The warp's values of a row of queries. */
static __device__ __forceinline__ void load_own(float (&own)[OWN_QUERIES], const float *row)
{
    const float4 *from = (const float4 *)(row + threadIdx.x / 32 * OWN_QUERIES);
    const float4 low = from[0], high = from[1];

    own[0] = low.x, own[1] = low.y, own[2] = low.z, own[3] = low.w;
    own[4] = high.x, own[5] = high.y, own[6] = high.z, own[7] = high.w;
}

static __device__ __forceinline__ void store_own(float *row, const float (&own)[OWN_QUERIES])
{
    float4 *to = (float4 *)(row + threadIdx.x / 32 * OWN_QUERIES);

    to[0] = make_float4(own[0], own[1], own[2], own[3]);
    to[1] = make_float4(own[4], own[5], own[6], own[7]);
}

template <int SLICES>
static __device__ void load_queries(exact_smem<SLICES> &s, const attention_view &view, int dim,
                                    size_t q_step)
{
    const float scale = 1.0f / sqrtf((float)dim);

    for (int i = (int)threadIdx.x; i < QUERIES * dim; i += THREADS) {
        const int t = i / dim, d = i % dim;

        s.query[d][t] = t < view.queries ? view.q[(size_t)t * q_step + (size_t)d] * scale : 0;
    }
}

/* Dims [d0, d0 + SLICE) of keys [first, first + GROUP); past the last key zeros. */
template <int SLICES>
static __device__ void load_keys(exact_smem<SLICES> &s, const attention_view &view, size_t kv_step,
                                 int first, int d0)
{
    for (int i = (int)threadIdx.x; i < GROUP * SLICE; i += THREADS) {
        const int k = i / SLICE, d = i % SLICE;

        s.key[d][k] =
            first + k < view.keys ? view.k[(size_t)(first + k) * kv_step + (size_t)(d0 + d)] : 0;
    }
}

/* Scores of all queries against a group of keys, into s.weight. */
template <int SLICES>
static __device__ void score_group(exact_smem<SLICES> &s, const attention_view &view, int dim,
                                   size_t kv_step, int first)
{
    const int lane = (int)threadIdx.x % 32;
    float score[OWN_KEYS][OWN_QUERIES] = {};

    for (int d0 = 0; d0 < dim; d0 += SLICE) {
        load_keys(s, view, kv_step, first, d0);
        __syncthreads();
        for (int d = 0; d < SLICE; d++) {
            float query[OWN_QUERIES];

            load_own(query, s.query[d0 + d]);
            UNROLL
            for (int k = 0; k < OWN_KEYS; k++) {
                const float key = s.key[d][lane + 32 * k];

                UNROLL
                for (int t = 0; t < OWN_QUERIES; t++)
                    score[k][t] = fmaf(query[t], key, score[k][t]);
            }
        }
        __syncthreads();
    }
    UNROLL
    for (int k = 0; k < OWN_KEYS; k++)
        store_own(s.weight[lane + 32 * k], score[k]);
}

/* Scores to exponentials, a query's sixteen lanes together; top and sum are the
 * lane's own, of the query of each round. */
template <int SLICES>
static __device__ void weigh_group(exact_smem<SLICES> &s, int count, float (&top)[ROUNDS],
                                   float (&sum)[ROUNDS])
{
    const int lane = (int)threadIdx.x % SUM_LANES;

    UNROLL
    for (int round = 0; round < ROUNDS; round++) {
        const int t = (round * THREADS + (int)threadIdx.x) / SUM_LANES;
        float largest = top[round];

        for (int k = lane; k < count; k += SUM_LANES)
            largest = s.weight[k][t] > largest ? s.weight[k][t] : largest;
        UNROLL
        for (int bits = SUM_LANES / 2; bits; bits /= 2)
            largest = fmaxf(largest, __shfl_xor_sync(ALL_LANES, largest, bits));
        const float shrink = strict_exp(top[round] - largest);
        sum[round] *= shrink;
        for (int k = lane; k < count; k += SUM_LANES) {
            const float weight = strict_exp(s.weight[k][t] - largest);

            s.weight[k][t] = weight;
            sum[round] += weight;
        }
        top[round] = largest;
        if (lane == 0)
            s.shrink[t] = shrink;
    }
}

/* The lane's dims of the warp's queries. */
template <int SLICES>
static __device__ void add_values(const exact_smem<SLICES> &s, const attention_view &view, int dim,
                                  size_t kv_step, int first, int count,
                                  float (&output)[SLICES][OWN_QUERIES])
{
    const float *v = view.v + (size_t)first * kv_step + threadIdx.x % 32;
    float own[OWN_QUERIES];

    load_own(own, s.shrink);
    UNROLL
    for (int i = 0; i < SLICES; i++)
        UNROLL
    for (int t = 0; t < OWN_QUERIES; t++)
        output[i][t] *= own[t];
    for (int k = 0; k < count; k++, v += kv_step) {
        load_own(own, s.weight[k]);
        UNROLL
        for (int i = 0; i < SLICES; i++) {
            const float value = i * 32 < dim ? v[i * 32] : 0;

            UNROLL
            for (int t = 0; t < OWN_QUERIES; t++)
                output[i][t] = fmaf(own[t], value, output[i][t]);
        }
    }
}

/* Lays the queries' sums where all can read them. */
template <int SLICES> static __device__ void share_sums(exact_smem<SLICES> &s, float (&sum)[ROUNDS])
{
    UNROLL
    for (int round = 0; round < ROUNDS; round++) {
        UNROLL
        for (int bits = SUM_LANES / 2; bits; bits /= 2)
            sum[round] += __shfl_xor_sync(ALL_LANES, sum[round], bits);
        if (threadIdx.x % SUM_LANES == 0)
            s.shrink[(round * THREADS + (int)threadIdx.x) / SUM_LANES] = sum[round];
    }
    __syncthreads();
}

template <int SLICES>
static __device__ void store_outputs(const exact_smem<SLICES> &s, const attention_view &view,
                                     int dim, size_t out_step,
                                     const float (&output)[SLICES][OWN_QUERIES])
{
    const int lane = (int)threadIdx.x % 32, first = (int)threadIdx.x / 32 * OWN_QUERIES;

    UNROLL
    for (int i = 0; i < SLICES; i++)
        UNROLL
    for (int t = 0; t < OWN_QUERIES; t++)
        if (i * 32 < dim && first + t < view.queries)
            view.out[(size_t)(first + t) * out_step + (size_t)(lane + i * 32)] =
                output[i][t] / s.shrink[first + t];
}

/* Heads of up to SLICES * SLICE dims. The 1: unasked, ptxas spills registers so that more blocks
 * fit in. */
template <int SLICES>
static __global__ void __launch_bounds__(THREADS, 1) attend_exact(attention_launch launch)
{
    DYN_SMEM(smem);
    exact_smem<SLICES> &s = *(exact_smem<SLICES> *)smem;
    const int dim = launch.head_dim;
    const attention_view view =
        view_of(launch, (int)blockIdx.z, (int)blockIdx.y, (int)blockIdx.x * QUERIES);
    float output[SLICES][OWN_QUERIES] = {};
    float top[ROUNDS], sum[ROUNDS] = {};

    if (view.queries <= 0)
        return;
    for (int round = 0; round < ROUNDS; round++)
        top[round] = -INFINITY;
    load_queries(s, view, dim, launch.q_step);
    for (int first = 0; first < view.keys; first += GROUP) {
        const int count = min(GROUP, view.keys - first);

        score_group(s, view, dim, launch.kv_step, first);
        __syncthreads();
        weigh_group(s, count, top, sum);
        __syncthreads();
        add_values(s, view, dim, launch.kv_step, first, count, output);
        __syncthreads();
    }
    share_sums(s, sum);
    store_outputs(s, view, dim, launch.out_step, output);
}

template <int SLICES>
static cudaError_t attend_with(const attention_launch &arguments, dim3 grid, cudaStream_t stream)
{
    const size_t smem = sizeof(exact_smem<SLICES>);
    const cudaError_t error = allow_smem(attend_exact<SLICES>, smem);

    return error != cudaSuccess
               ? error
               : launch(attend_exact<SLICES>, grid, dim3(THREADS), smem, stream, arguments);
}

cudaError_t attend_exactly(const attention_launch &arguments, int windows, int most_queries,
                           cudaStream_t stream)
{
    const dim3 grid((unsigned)((most_queries + QUERIES - 1) / QUERIES), (unsigned)arguments.heads,
                    (unsigned)windows);

    if (arguments.head_dim <= 32)
        return attend_with<1>(arguments, grid, stream);
    if (arguments.head_dim <= 64)
        return attend_with<2>(arguments, grid, stream);
    if (arguments.head_dim <= 128)
        return attend_with<4>(arguments, grid, stream);
    return attend_with<8>(arguments, grid, stream);
}
