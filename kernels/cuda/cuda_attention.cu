/*
 * cuda_attention.cu: attention of windows, and its fast way: flash attention with
 * f16 mma and a running maximum and sum, as of Dao, "FlashAttention-2", 2023.
 *
 * A first launch copies keys and values to f16 in the workspace, head by head,
 * padded with zeros to whole tiles. In the second a warp holds sixteen queries of
 * a head in registers and walks over the keys; the block's warps share each tile
 * of keys and values, of which the next is on its way (cp.async) meanwhile.
 * What a query gets does not depend on how many warps a block has.
 */
#include "attention_windows.cuh"
#include "ptx.cuh"

constexpr int WARP_QUERIES = 16, MAX_WARPS = 4;

/* Head dims are padded to the width of a kernel: 64, 128 or 256. */
static int padded_dim(int head_dim)
{
    return head_dim <= 64 ? 64 : head_dim <= 128 ? 128 : 256;
}

/* Keys of a tile: what two tiles of keys and values of DIM dims leave room for. */
template <int DIM> constexpr int TILE_KEYS = DIM == 256 ? 32 : 64;
constexpr int KEY_PAD = 64; /* a multiple of each */

/* Rows of the f16 copies: those of each window start where the last one's end. */
struct half_rows {
    int start[CUDA_ATTENTION_WINDOWS]; /* multiples of KEY_PAD */
    int count;
    __half *k, *v; /* [kv_heads, count, DIM] */
};

/* ---- Copies in f16 ---- */

constexpr int HALVES_THREADS = 256;

/* Block: KEY_PAD keys of one head of one window. Padding becomes zeros, so that
 * it adds 0 * 0 to an output. */
template <int DIM>
static __global__ void __launch_bounds__(HALVES_THREADS)
    copy_halves(attention_launch launch, half_rows rows)
{
    const cuda_attention_window &w = launch.windows[blockIdx.z];
    const int kv_head = (int)blockIdx.y, first = (int)blockIdx.x * KEY_PAD;
    const size_t to = (size_t)kv_head * (size_t)rows.count + (size_t)rows.start[blockIdx.z];

    if (first >= w.keys)
        return;
    for (int i = (int)threadIdx.x; i < KEY_PAD * (DIM / 2); i += HALVES_THREADS) {
        const int key = first + i / (DIM / 2), d = i % (DIM / 2) * 2;
        const bool inside = key < w.keys && d < launch.head_dim;
        const size_t at = (size_t)key * launch.kv_step + (size_t)(kv_head * launch.head_dim + d);
        const size_t copy = (to + (size_t)key) * DIM + (size_t)d;
        const float2 none = make_float2(0, 0);
        const float2 k = inside ? *(const float2 *)(w.k + at) : none;
        const float2 v = inside ? *(const float2 *)(w.v + at) : none;

        *(__half2 *)(rows.k + copy) = __floats2half2_rn(k.x, k.y);
        *(__half2 *)(rows.v + copy) = __floats2half2_rn(v.x, v.y);
    }
}

/* ---- Flash attention ---- */

/* Halves of a row in shared memory: eight more than dims, so that the eight rows
 * of an ldmatrix lie in distinct banks. */
template <int DIM> constexpr int PITCH = DIM + 8;

template <int DIM> using half_tile = __half[TILE_KEYS<DIM>][PITCH<DIM>];

template <int DIM> struct flash_smem {
    half_tile<DIM> k[2], v[2]; /* the tile at work and the next */
};

/* Sixteen queries of a warp; the lane has rows lane / 4 and lane / 4 + 8. */
template <int DIM> struct warp_state {
    uint32_t query[DIM / 16][4]; /* A fragments, times log2(e) / sqrt(head_dim) */
    float output[DIM / 8][4];    /* C fragments */
    float top[2], sum[2];        /* the sum is the lane's own part of it */
};

static __device__ __forceinline__ uint32_t pack_halves(float low, float high)
{
    const __half2 pair = __floats2half2_rn(low, high);

    return *(const uint32_t *)&pair;
}

template <int DIM>
static __device__ void load_tile(flash_smem<DIM> &s, int stage, const __half *k, const __half *v)
{
    constexpr int PIECES = DIM / 8;

    for (int i = (int)threadIdx.x; i < TILE_KEYS<DIM> * PIECES; i += (int)blockDim.x) {
        const int row = i / PIECES, d = i % PIECES * 8;

        cp_async16(&s.k[stage][row][d], k + (size_t)row * DIM + d, true);
        cp_async16(&s.v[stage][row][d], v + (size_t)row * DIM + d, true);
    }
    cp_async_commit();
}

/* Rows past the last query and dims past the head's are zeros. */
template <int DIM>
static __device__ void load_queries(warp_state<DIM> &w, const attention_view &view, int head_dim,
                                    size_t q_step, float scale)
{
    const int lane = (int)threadIdx.x % 32, row = lane / 4, column = lane % 4 * 2;

    UNROLL
    for (int i = 0; i < DIM / 16; i++)
        UNROLL
    for (int r = 0; r < 4; r++) {
        const int t = row + r % 2 * 8, d = i * 16 + column + r / 2 * 8;
        float2 q = make_float2(0, 0);

        if (t < view.queries && d < head_dim)
            q = *(const float2 *)(view.q + (size_t)t * q_step + d);
        w.query[i][r] = pack_halves(q.x * scale, q.y * scale);
    }
}

/* score = query * key', C fragments of eight keys each. */
template <int DIM>
static __device__ void score_tile(const warp_state<DIM> &w, const half_tile<DIM> &keys,
                                  float (&score)[TILE_KEYS<DIM> / 8][4])
{
    const int lane = (int)threadIdx.x % 32;
    const int row = lane % 8 + lane / 16 * 8, column = lane / 8 % 2 * 8;

    UNROLL
    for (int i = 0; i < DIM / 16; i++)
        UNROLL
    for (int n = 0; n < TILE_KEYS<DIM> / 8; n += 2) {
        uint32_t b[4];

        ldmatrix_x4(b, &keys[n * 8 + row][i * 16 + column]);
        mma_f16_16816(score[n], w.query[i], b[0], b[1]);
        mma_f16_16816(score[n + 1], w.query[i], b[2], b[3]);
    }
}

/* Scores to powers of two against the new maximum; what was summed shrinks. */
template <int DIM, int N>
static __device__ void weigh_tile(warp_state<DIM> &w, float (&score)[N][4])
{
    UNROLL
    for (int h = 0; h < 2; h++) {
        float top = w.top[h];

        UNROLL
        for (int n = 0; n < N; n++)
            top = fmaxf(top, fmaxf(score[n][2 * h], score[n][2 * h + 1]));
        top = fmaxf(top, __shfl_xor_sync(ALL_LANES, top, 1));
        top = fmaxf(top, __shfl_xor_sync(ALL_LANES, top, 2));
        const float shrink = ex2(w.top[h] - top);
        w.top[h] = top;
        w.sum[h] *= shrink;
        UNROLL
        for (int n = 0; n < N; n++)
            UNROLL
        for (int c = 2 * h; c < 2 * h + 2; c++) {
            score[n][c] = ex2(score[n][c] - top);
            w.sum[h] += score[n][c];
        }
        UNROLL
        for (int d = 0; d < DIM / 8; d++) {
            w.output[d][2 * h] *= shrink;
            w.output[d][2 * h + 1] *= shrink;
        }
    }
}

/* output += weights * values. The C fragments of sixteen keys are an A fragment. */
template <int DIM>
static __device__ void add_values(warp_state<DIM> &w, const half_tile<DIM> &values,
                                  const float (&weight)[TILE_KEYS<DIM> / 8][4])
{
    const int lane = (int)threadIdx.x % 32;
    const int row = lane % 16, column = lane / 16 * 8;

    UNROLL
    for (int k = 0; k < TILE_KEYS<DIM> / 16; k++) {
        const float(&low)[4] = weight[2 * k], (&high)[4] = weight[2 * k + 1];
        const uint32_t a[4] = {pack_halves(low[0], low[1]), pack_halves(low[2], low[3]),
                               pack_halves(high[0], high[1]), pack_halves(high[2], high[3])};

        UNROLL
        for (int d = 0; d < DIM / 16; d++) {
            uint32_t b[4];

            ldmatrix_x4_trans(b, &values[k * 16 + row][d * 16 + column]);
            mma_f16_16816(w.output[2 * d], a, b[0], b[1]);
            mma_f16_16816(w.output[2 * d + 1], a, b[2], b[3]);
        }
    }
}

template <int DIM>
static __device__ void store_outputs(warp_state<DIM> &w, const attention_view &view, int head_dim,
                                     size_t out_step)
{
    const int lane = (int)threadIdx.x % 32, row = lane / 4, column = lane % 4 * 2;

    UNROLL
    for (int h = 0; h < 2; h++) {
        float sum = w.sum[h];

        sum += __shfl_xor_sync(ALL_LANES, sum, 1);
        sum += __shfl_xor_sync(ALL_LANES, sum, 2);
        if (row + h * 8 >= view.queries)
            continue;
        float *out = view.out + (size_t)(row + h * 8) * out_step + column;
        UNROLL
        for (int d = 0; d < DIM / 8; d++)
            if (d * 8 < head_dim)
                *(float2 *)(out + d * 8) =
                    make_float2(w.output[d][2 * h] / sum, w.output[d][2 * h + 1] / sum);
    }
}

/* Padded keys must weigh nothing. */
template <int N> static __device__ void mask_tail(float (&score)[N][4], int keys_left)
{
    const int column = (int)threadIdx.x % 4 * 2;

    UNROLL
    for (int n = 0; n < N; n++)
        UNROLL
    for (int c = 0; c < 4; c++)
        if (n * 8 + column + c % 2 >= keys_left)
            score[n][c] = -INFINITY;
}

template <int DIM>
static __global__ void __launch_bounds__(32 * MAX_WARPS)
    attend_flash(attention_launch launch, half_rows rows, float scale)
{
    DYN_SMEM(smem);
    flash_smem<DIM> &s = *(flash_smem<DIM> *)smem;
    constexpr int TILE = TILE_KEYS<DIM>;
    const int window = (int)blockIdx.z, head = (int)blockIdx.y;
    const int block_first = (int)blockIdx.x * (int)(blockDim.x / 32) * WARP_QUERIES;
    const int first = block_first + (int)(threadIdx.x / 32) * WARP_QUERIES;
    const attention_view view = view_of(launch, window, head, first);
    const size_t from = (size_t)(head / (launch.heads / launch.kv_heads)) * (size_t)rows.count +
                        (size_t)rows.start[window];
    const __half *k = rows.k + from * DIM, *v = rows.v + from * DIM;
    warp_state<DIM> w = {};

    if (block_first >= launch.windows[window].queries)
        return;
    load_tile<DIM>(s, 0, k, v);
    load_queries(w, view, launch.head_dim, launch.q_step, scale);
    w.top[0] = w.top[1] = -INFINITY;
    for (int base = 0, stage = 0; base < view.keys; base += TILE, stage ^= 1) {
        float score[TILE / 8][4] = {};

        if (base + TILE < view.keys) {
            load_tile<DIM>(s, stage ^ 1, k + (size_t)(base + TILE) * DIM,
                           v + (size_t)(base + TILE) * DIM);
            cp_async_wait<1>();
        } else {
            cp_async_wait<0>();
        }
        __syncthreads();
        score_tile<DIM>(w, s.k[stage], score);
        if (base + TILE > view.keys)
            mask_tail(score, view.keys - base);
        weigh_tile(w, score);
        add_values<DIM>(w, s.v[stage], score);
        __syncthreads();
    }
    store_outputs(w, view, launch.head_dim, launch.out_step);
}

/* ---- Launchers ---- */

static int rounded_keys(int keys)
{
    return (keys + KEY_PAD - 1) / KEY_PAD * KEY_PAD;
}

size_t cuda_attention_workspace_bytes(int kv_heads, int head_dim, int windows, int keys, bool exact)
{
    const size_t rows = (size_t)keys + (size_t)windows * (KEY_PAD - 1);

    return exact ? 0 : 2 * sizeof(__half) * rows * (size_t)kv_heads * (size_t)padded_dim(head_dim);
}

template <int DIM>
static cudaError_t attend_fast(const attention_launch &arguments, const half_rows &rows,
                               int windows, int most_queries, int most_keys, cudaStream_t stream)
{
    const int warps = min(MAX_WARPS, (most_queries + WARP_QUERIES - 1) / WARP_QUERIES);
    const int tile = warps * WARP_QUERIES;
    const float scale = (float)(1.4426950408889634 / sqrt((double)arguments.head_dim));
    const dim3 copies((unsigned)(rounded_keys(most_keys) / KEY_PAD), (unsigned)arguments.kv_heads,
                      (unsigned)windows);
    const dim3 tiles((unsigned)((most_queries + tile - 1) / tile), (unsigned)arguments.heads,
                     (unsigned)windows);
    cudaError_t error = allow_smem(attend_flash<DIM>, sizeof(flash_smem<DIM>));

    if (error == cudaSuccess)
        error = launch(copy_halves<DIM>, copies, dim3(HALVES_THREADS), 0, stream, arguments, rows);
    if (error == cudaSuccess)
        error = launch(attend_flash<DIM>, tiles, dim3((unsigned)(32 * warps)),
                       sizeof(flash_smem<DIM>), stream, arguments, rows, scale);
    return error;
}

static bool is_valid(const struct cuda_attention *attention)
{
    const struct cuda_attention *a = attention;

    if (a->kv_heads < 1 || a->heads < 1 || a->heads % a->kv_heads != 0 || a->heads > 65535)
        return false;
    if (a->head_dim < 32 || a->head_dim % 32 != 0 || a->head_dim > CUDA_ATTENTION_MAX_DIM)
        return false;
    if ((a->q_step | a->kv_step | a->out_step) % 4 != 0)
        return false;
    if (a->count < 1 || a->count > CUDA_ATTENTION_WINDOWS)
        return false;
    for (int i = 0; i < a->count; i++)
        if (a->windows[i].queries < 0 || a->windows[i].keys < 1)
            return false;
    return true;
}

int cuda_attend(const struct cuda_attention *attention, struct CUstream_st *stream)
{
    const struct cuda_attention *a = attention;
    attention_launch arguments = {a->heads,   a->kv_heads, a->head_dim, a->q_step,
                                  a->kv_step, a->out_step, {}};
    half_rows rows = {};
    int queries = 0, keys = 0;

    if (!is_valid(a))
        return cudaErrorInvalidValue;
    for (int i = 0; i < a->count; i++) {
        arguments.windows[i] = a->windows[i];
        rows.start[i] = rows.count;
        rows.count += rounded_keys(a->windows[i].keys);
        queries = max(queries, a->windows[i].queries);
        keys = max(keys, a->windows[i].keys);
    }
    if (queries == 0)
        return cudaSuccess;
    if (a->exact)
        return attend_exactly(arguments, a->count, queries, stream);
    rows.k = (__half *)a->workspace;
    rows.v = rows.k + (size_t)rows.count * (size_t)a->kv_heads * (size_t)padded_dim(a->head_dim);
    if (padded_dim(a->head_dim) == 64)
        return attend_fast<64>(arguments, rows, a->count, queries, keys, stream);
    if (padded_dim(a->head_dim) == 128)
        return attend_fast<128>(arguments, rows, a->count, queries, keys, stream);
    return attend_fast<256>(arguments, rows, a->count, queries, keys, stream);
}
