/*
 * cuda_rows.cu: rotary embedding, copies of rows, guidance. Every float
 * operation is the CPU's, in its order, so that the bits are equal.
 */
#include "cuda_rows.h"
#include "gpu.cuh"

/* ---- Rotation: sixteen lanes take a head, as the CPU's sum of squares does. ---- */

constexpr int HEAD_LANES = 16, ROTATE_THREADS = 128;
constexpr int HEADS_PER_BLOCK = ROTATE_THREADS / HEAD_LANES;

/* A launch's arguments; heads of the second part follow those of the first. */
struct rotation {
    cuda_rotation first, second;
    int rows, head_dim, pairs;
    bool halves, normed;
    const float *angles;
    const int32_t *positions;
};

/* 1 / sqrt(mean square + eps): a chain per lane, then lanes 8, 4, 2, 1 apart. */
static __device__ float head_scale(const float *x, int head_dim, float eps, int lane)
{
    float sum = 0;

    for (int i = lane; i < head_dim; i += HEAD_LANES)
        sum = fmaf(x[i], x[i], sum);
    UNROLL
    for (int bits = HEAD_LANES / 2; bits; bits /= 2)
        sum += __shfl_xor_sync(ALL_LANES, sum, bits);
    return 1.0f / sqrtf(sum / (float)head_dim + eps);
}

static __device__ __forceinline__ float normed(const float *x, const float *norm, float scale,
                                               int i)
{
    return norm ? x[i] * scale * norm[i] : x[i];
}

static __device__ void turn_pairs(float *x, const float *norm, float scale, const float2 *angles,
                                  int pairs, bool halves, int lane)
{
    for (int i = lane; i < pairs; i += HEAD_LANES) {
        const int at = halves ? i : 2 * i, other = halves ? i + pairs : 2 * i + 1;
        const float a = normed(x, norm, scale, at), b = normed(x, norm, scale, other);
        const float c = angles[i].x, s = angles[i].y;

        x[at] = a * c - b * s;
        x[other] = a * s + b * c;
    }
}

static __global__ void __launch_bounds__(ROTATE_THREADS) rotate_heads(rotation job)
{
    const int heads = job.first.heads + job.second.heads, lane = (int)threadIdx.x % HEAD_LANES;
    const long long items = (long long)job.rows * heads;
    const long long item = (long long)blockIdx.x * HEADS_PER_BLOCK + threadIdx.x / HEAD_LANES;
    const bool idle = item >= items; /* only there for the shuffles of the others */
    const int row = idle ? 0 : (int)(item / heads), head = idle ? 0 : (int)(item % heads);
    const bool second = head >= job.first.heads;
    const float *norm = second ? job.second.norm : job.first.norm;
    const float eps = second ? job.second.eps : job.first.eps;
    float *x = second ? job.second.x + (size_t)row * job.second.step
                      : job.first.x + (size_t)row * job.first.step;
    const size_t position = (size_t)(job.positions ? job.positions[row] : row);
    const float2 *angles = (const float2 *)job.angles + position * (size_t)job.pairs;
    float scale = 1;

    x += (size_t)(second ? head - job.first.heads : head) * (size_t)job.head_dim;
    if (job.normed) {
        scale = head_scale(x, idle ? 0 : job.head_dim, eps, lane);
        __syncwarp();
    }
    if (idle)
        return;
    turn_pairs(x, norm, scale, angles, job.pairs, job.halves, lane);
    if (norm)
        for (int i = 2 * job.pairs + lane; i < job.head_dim; i += HEAD_LANES)
            x[i] = normed(x, norm, scale, i);
}

static bool rope_is_valid(const struct cuda_rope *rope)
{
    if (rope->rows < 0 || rope->count < 1 || rope->count > CUDA_ROTATIONS)
        return false;
    if (rope->head_dim < 32 || rope->head_dim % 32 != 0)
        return false;
    if (rope->rope_dims < 0 || rope->rope_dims > rope->head_dim || rope->rope_dims % 2 != 0)
        return false;
    for (int i = 0; i < rope->count; i++)
        if (rope->parts[i].heads < 1 ||
            rope->parts[i].step < (size_t)rope->parts[i].heads * (size_t)rope->head_dim)
            return false;
    return true;
}

int cuda_rotate_heads(const struct cuda_rope *rope, struct CUstream_st *stream)
{
    rotation job = {};
    long long items;

    if (!rope_is_valid(rope))
        return cudaErrorInvalidValue;
    job.first = rope->parts[0];
    if (rope->count > 1)
        job.second = rope->parts[1];
    job.rows = rope->rows;
    job.head_dim = rope->head_dim;
    job.pairs = rope->rope_dims / 2;
    job.halves = rope->halves;
    job.normed = job.first.norm || job.second.norm;
    job.angles = rope->angles;
    job.positions = rope->positions;
    items = (long long)job.rows * (job.first.heads + job.second.heads);
    if (items == 0)
        return cudaSuccess;
    return launch(rotate_heads, dim3((unsigned)((items + HEADS_PER_BLOCK - 1) / HEADS_PER_BLOCK)),
                  dim3(ROTATE_THREADS), 0, stream, job);
}

/* ---- Copies: a block takes a row, in sixteen-byte words where all rows start on one. ---- */

constexpr int COPY_THREADS = 256;

template <class Word, bool SCATTER>
static __global__ void __launch_bounds__(COPY_THREADS)
    copy_rows(const Word *x, const int32_t *rows, int words, Word *out)
{
    const size_t here = blockIdx.x, there = (size_t)rows[blockIdx.x];
    const Word *from = x + (SCATTER ? here : there) * (size_t)words;
    Word *to = out + (SCATTER ? there : here) * (size_t)words;

    for (int i = (int)threadIdx.x; i < words; i += COPY_THREADS)
        to[i] = from[i];
}

template <bool SCATTER>
static int launch_copy(const float *x, const int32_t *rows, int count, int width, float *out,
                       cudaStream_t stream)
{
    const bool wide = width % 4 == 0 && ((uintptr_t)x | (uintptr_t)out) % sizeof(float4) == 0;

    if (count < 0 || width < 1)
        return cudaErrorInvalidValue;
    if (count == 0)
        return cudaSuccess;
    if (wide)
        return launch(copy_rows<float4, SCATTER>, dim3((unsigned)count), dim3(COPY_THREADS), 0,
                      stream, (const float4 *)x, rows, width / 4, (float4 *)out);
    return launch(copy_rows<float, SCATTER>, dim3((unsigned)count), dim3(COPY_THREADS), 0, stream,
                  x, rows, width, out);
}

int cuda_gather_rows(const float *x, const int32_t *rows, int count, int width, float *out,
                     struct CUstream_st *stream)
{
    return launch_copy<false>(x, rows, count, width, out, stream);
}

int cuda_scatter_rows(const float *x, const int32_t *rows, int count, int width, float *out,
                      struct CUstream_st *stream)
{
    return launch_copy<true>(x, rows, count, width, out, stream);
}

/* ---- Guidance ---- */

constexpr int GUIDE_THREADS = 256, GUIDE_VALUES = 4; /* per thread */

static __global__ void __launch_bounds__(GUIDE_THREADS)
    guide_logits(float *logits, size_t values, double factor)
{
    size_t at = (size_t)blockIdx.x * (GUIDE_THREADS * GUIDE_VALUES) + threadIdx.x;

    for (int i = 0; i < GUIDE_VALUES && at < values; i++, at += GUIDE_THREADS) {
        const double u = (double)logits[values + at];

        logits[at] = (float)(u + factor * ((double)logits[at] - u));
    }
}

int cuda_guide_logits(float *logits, int count, int width, double scale, struct CUstream_st *stream)
{
    const size_t values = (size_t)count * (size_t)width;
    const size_t each = GUIDE_THREADS * GUIDE_VALUES;

    if (count < 0 || width < 1)
        return cudaErrorInvalidValue;
    if (count == 0)
        return cudaSuccess;
    return launch(guide_logits, dim3((unsigned)((values + each - 1) / each)), dim3(GUIDE_THREADS),
                  0, stream, logits, values, scale + 1);
}
