/*
 * cuda_attention_exact.cu: attention in f32, to the bit that of
 * kernels/cpu/attention_body.h: a block takes its eight queries of one head over
 * all keys, in groups of 128 with a running maximum and sum.
 *
 * The orders that make the bits: a score is one fma chain over the dims, by the
 * thread of its key; exponentials are added up by key number mod 16, so sixteen
 * lanes take a query; an output is one fma chain over the keys, by the thread of
 * its dim, multiplied by e^(old maximum - new) between groups.
 */
#include "attention_windows.cuh"
#include "strict_exp.cuh"

constexpr int QUERIES = 8, GROUP = 128, LANES = 16, THREADS = QUERIES * LANES;
constexpr int SLICE = 32, MAX_DIM = CUDA_ATTENTION_MAX_DIM; /* dims of the keys at a time */
constexpr int DIMS_EACH = MAX_DIM / THREADS;

static_assert(GROUP == THREADS, "a thread scores one key of a group");

struct exact_smem {
    float query[QUERIES][MAX_DIM]; /* scaled; rows past the last query are zeros */
    float weight[QUERIES][GROUP];  /* scores, then exponentials */
    float key[GROUP][SLICE + 1];   /* one further column against bank conflicts */
    float shrink[QUERIES];         /* e^(old maximum - new), at last the sum */
};

static __device__ void load_queries(exact_smem &s, const attention_view &view, int dim,
                                    size_t q_step)
{
    const float scale = 1.0f / sqrtf((float)dim);

    for (int i = (int)threadIdx.x; i < QUERIES * dim; i += THREADS) {
        const int t = i / dim, d = i % dim;

        s.query[t][d] = t < view.queries ? view.q[(size_t)t * q_step + (size_t)d] * scale : 0;
    }
}

/* Scores of all queries against keys [first, first + GROUP); the thread's key. */
static __device__ void score_group(exact_smem &s, const attention_view &view, int dim,
                                   size_t kv_step, int first)
{
    const int key = (int)threadIdx.x;
    float score[QUERIES] = {};

    for (int d0 = 0; d0 < dim; d0 += SLICE) {
        for (int i = (int)threadIdx.x; i < GROUP * SLICE; i += THREADS) {
            const int k = i / SLICE, d = i % SLICE;

            s.key[k][d] = first + k < view.keys
                              ? view.k[(size_t)(first + k) * kv_step + (size_t)(d0 + d)]
                              : 0;
        }
        __syncthreads();
        for (int d = 0; d < SLICE; d++) {
            const float k = s.key[key][d];

            UNROLL
            for (int t = 0; t < QUERIES; t++)
                score[t] = fmaf(s.query[t][d0 + d], k, score[t]);
        }
        __syncthreads();
    }
    UNROLL
    for (int t = 0; t < QUERIES; t++)
        s.weight[t][key] = score[t];
}

/* A query's scores to exponentials, its sixteen lanes together; *top and *sum
 * are the lane's own. Lanes past the last key add nothing. */
static __device__ void weigh_group(exact_smem &s, int count, float *top, float *sum)
{
    const int t = (int)threadIdx.x / LANES, lane = (int)threadIdx.x % LANES;
    float *weight = s.weight[t], largest = *top;

    for (int k = lane; k < count; k += LANES)
        largest = weight[k] > largest ? weight[k] : largest;
    UNROLL
    for (int bits = LANES / 2; bits; bits /= 2)
        largest = fmaxf(largest, __shfl_xor_sync(ALL_LANES, largest, bits));
    const float shrink = strict_exp(*top - largest);
    *sum *= shrink;
    for (int k = lane; k < count; k += LANES) {
        weight[k] = strict_exp(weight[k] - largest);
        *sum += weight[k];
    }
    *top = largest;
    if (lane == 0)
        s.shrink[t] = shrink;
}

/* The thread's dims of all queries; values are read once for the eight. */
static __device__ void add_values(const exact_smem &s, const attention_view &view, int dim,
                                  size_t kv_step, int first, int count,
                                  float (&output)[DIMS_EACH][QUERIES])
{
    UNROLL
    for (int i = 0; i < DIMS_EACH; i++) {
        const int d = (int)threadIdx.x + i * THREADS;
        const float *v = view.v + (size_t)first * kv_step + (size_t)d;

        if (d >= dim)
            continue;
        UNROLL
        for (int t = 0; t < QUERIES; t++)
            output[i][t] *= s.shrink[t];
        for (int k = 0; k < count; k++, v += kv_step)
            UNROLL
        for (int t = 0; t < QUERIES; t++)
            output[i][t] = fmaf(s.weight[t][k], *v, output[i][t]);
    }
}

static __device__ void store_outputs(const exact_smem &s, const attention_view &view, int dim,
                                     size_t out_step, const float (&output)[DIMS_EACH][QUERIES])
{
    UNROLL
    for (int i = 0; i < DIMS_EACH; i++) {
        const int d = (int)threadIdx.x + i * THREADS;

        UNROLL
        for (int t = 0; t < QUERIES; t++)
            if (d < dim && t < view.queries)
                view.out[(size_t)t * out_step + (size_t)d] = output[i][t] / s.shrink[t];
    }
}

static __global__ void __launch_bounds__(THREADS) attend_exact(attention_launch launch)
{
    DYN_SMEM(smem);
    exact_smem &s = *(exact_smem *)smem;
    const int dim = launch.head_dim;
    const attention_view view =
        view_of(launch, (int)blockIdx.z, (int)blockIdx.y, (int)blockIdx.x * QUERIES);
    float output[DIMS_EACH][QUERIES] = {};
    float top = -INFINITY, sum = 0;

    if (view.queries <= 0)
        return;
    load_queries(s, view, dim, launch.q_step);
    for (int first = 0; first < view.keys; first += GROUP) {
        const int count = min(GROUP, view.keys - first);

        score_group(s, view, dim, launch.kv_step, first);
        __syncthreads();
        weigh_group(s, count, &top, &sum);
        __syncthreads();
        add_values(s, view, dim, launch.kv_step, first, count, output);
        __syncthreads();
    }
    UNROLL
    for (int bits = LANES / 2; bits; bits /= 2)
        sum += __shfl_xor_sync(ALL_LANES, sum, bits);
    if (threadIdx.x % LANES == 0)
        s.shrink[threadIdx.x / LANES] = sum;
    __syncthreads();
    store_outputs(s, view, dim, launch.out_step, output);
}

cudaError_t attend_exactly(const attention_launch &arguments, int windows, int most_queries,
                           cudaStream_t stream)
{
    const unsigned tiles = (unsigned)((most_queries + QUERIES - 1) / QUERIES);

    return launch(attend_exact, dim3(tiles, (unsigned)arguments.heads, (unsigned)windows),
                  dim3(THREADS), sizeof(exact_smem), stream, arguments);
}
