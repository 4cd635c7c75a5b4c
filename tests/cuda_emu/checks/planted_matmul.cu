/*
 * planted_matmul.cu: a small quantized product as the real ones are built: two
 * stages of cp.async, weights unpacked in registers, inputs by ldmatrix.
 */
#include "planted.h"
#include "ptx.cuh"

constexpr int ROWS = 32, TOKENS = 8, STEP = 64; /* of a block; weights of a stage */
constexpr int WARPS = ROWS / 16;
constexpr int PITCH = STEP + 16; /* bytes between tokens: eight rows in eight groups of banks */

/* No padding between arrays: a byte too far is in the next one. */
struct Stage {
    uint8_t w[ROWS][STEP / 2];
    float scales[ROWS][STEP / 32];
    int8_t x[TOKENS * PITCH];
};

struct Problem {
    float *out;
    const uint8_t *w;
    const float *scales;
    const int8_t *x;
    int rows, width, tokens;
    Bug bug;
};

static __device__ bool row_exists(const Problem &p, int row)
{
    if (p.bug == READ_NO_GUARD)
        return true;
    return p.bug == READ_GUARD_OFF_BY_ONE ? row <= p.rows : row < p.rows;
}

static __device__ int pitch_of(const Problem &p)
{
    return p.bug == LDMATRIX_CONFLICTS ? STEP : PITCH;
}

static __device__ void load_stage(Stage &s, const Problem &p, int row0, int token0, int k)
{
    for (int i = (int)threadIdx.x; i < ROWS * STEP / 32; i += (int)blockDim.x) {
        const int row = i / (STEP / 32), part = i % (STEP / 32);
        const bool full = row_exists(p, row0 + row);
        const size_t from = (size_t)(full ? row0 + row : 0) * (size_t)(p.width / 2);
        if (p.bug == CHUNK_NOT_LOADED && i == ROWS)
            continue;
        const int off = p.bug == COPY_MISALIGNED ? 8 : 0;
        cp_async16(&s.w[row][part * 16], p.w + from + k / 2 + part * 16 + off, full);
        const size_t scale = (size_t)(full ? row0 + row : 0) * (size_t)(p.width / 32);
        cp_async4(&s.scales[row][part], p.scales + scale + k / 32 + part, full);
    }
    for (int i = (int)threadIdx.x; i < TOKENS * STEP / 16; i += (int)blockDim.x) {
        const int token = i / (STEP / 16), part = i % (STEP / 16);
        const bool full = token0 + token < p.tokens;
        const size_t from = (size_t)(full ? token0 + token : 0) * (size_t)p.width;
        cp_async16(s.x + token * pitch_of(p) + part * 16, p.x + from + k + part * 16, full);
    }
    if (p.bug != NO_COMMIT)
        cp_async_commit();
    /* One row more than there are: its scales lie where the inputs begin. */
    if (p.bug == NEXT_ARRAY_IN_STRUCT && threadIdx.x == 0)
        (&s.scales[0][0])[ROWS * (STEP / 32)] = 0;
}

/* Weights 4j..4j + 3 of a row as signed bytes. */
static __device__ uint32_t unpack(const uint8_t *row, int j, Bug bug)
{
    const uint32_t low = row[2 * j], high = row[2 * j + 1];
    const uint32_t mask = bug == WRONG_NIBBLE ? 7 : 15;
    return __vsub4((low & mask) | (low >> 4) << 8 | (high & mask) << 16 | (high >> 4) << 24,
                   0x08080808);
}

static __device__ void multiply_stage(float (&sums)[4], const Stage &s, const Problem &p)
{
    const int warp = (int)threadIdx.x / 32, lane = (int)threadIdx.x % 32;
    const int group = lane / 4, t = lane % 4;
    for (int part = 0; part < STEP / 32; part++) {
        uint32_t a[4], b[2];
        for (int i = 0; i < 4; i++) {
            const int swapped = p.bug == WRONG_A_REGISTERS ? (i >> 1) | (i & 1) << 1 : i;
            const int row = warp * 16 + group + 8 * (swapped & 1);
            a[i] = unpack(s.w[row] + part * 16, t + 4 * (swapped >> 1), p.bug);
        }
        const int8_t *from = s.x + lane % 8 * pitch_of(p) + part * 32 + lane / 8 % 2 * 16;
        ldmatrix_x2(b, from + (p.bug == LDMATRIX_MISALIGNED ? 4 : 0));
        int d[4] = {};
        const bool swap = p.bug == WRONG_B_ORDER;
        mma_s8_16832(d, a, b[swap], b[!swap]);
        for (int i = 0; i < 4; i++) {
            const int row = warp * 16 + group + 8 * (i / 2);
            const int scale = p.bug == WRONG_SCALE ? 0 : part;
            sums[i] += (float)d[i] * s.scales[row][scale];
        }
    }
}

static __device__ void store(const Problem &p, const float (&sums)[4], int row0, int token0)
{
    const int lane = (int)threadIdx.x % 32, group = lane / 4, t = lane % 4;
    for (int i = 0; i < 4; i++) {
        const int down = p.bug == WRONG_C_ROW ? i & 1 : i / 2;
        const int right = p.bug == WRONG_C_COLUMN ? i / 2 : i & 1;
        const int row = row0 + (int)threadIdx.x / 32 * 16 + group + 8 * down;
        const int token = token0 + 2 * t + right;
        const bool inside = p.bug == WRITE_GUARD_OFF_BY_ONE ? row <= p.rows : row < p.rows;
        if (!inside || token >= p.tokens)
            continue;
        float *out = p.out + (size_t)token * (size_t)p.rows + row;
        *out = p.bug == ADDS_TO_FRESH_MEMORY ? *out + sums[i] : sums[i];
    }
}

static __device__ void wait_for_stage(Bug bug, bool more)
{
    if (bug == WAIT_LEAVES_TWO && more)
        cp_async_wait<2>();
    else if (more || bug == WAIT_LEAVES_ONE_AT_END)
        cp_async_wait<1>();
    else
        cp_async_wait<0>();
}

static __global__ void matmul(Problem p)
{
    DYN_SMEM(smem);
    Stage *stages = (Stage *)smem;
    const int row0 = (int)blockIdx.x * ROWS, token0 = (int)blockIdx.y * TOKENS;
    const int steps = p.width / STEP;
    float sums[4] = {};
    load_stage(stages[0], p, row0, token0, 0);
    for (int step = 0; step < steps; step++) {
        const int now = p.bug == WRONG_BUFFER ? (step + 1) & 1 : step & 1;
        const int next = p.bug == PREFETCH_INTO_USED ? step & 1 : (step + 1) & 1;
        if (step + 1 < steps)
            load_stage(stages[next], p, row0, token0, (step + 1) * STEP);
        wait_for_stage(p.bug, step + 1 < steps);
        if (p.bug != NO_BARRIER_BEFORE_READS)
            __syncthreads();
        multiply_stage(sums, stages[now], p);
        if (p.bug != NO_BARRIER_AFTER_READS)
            __syncthreads();
    }
    volatile int one_past = 4;
    if (p.bug == REGISTER_INDEX && steps > 0)
        sums[one_past] += 1;
    store(p, sums, row0, token0);
}

cudaError_t planted_matmul(float *out, const uint8_t *w, const float *scales, const int8_t *x,
                           int rows, int width, int tokens, Bug bug)
{
    const size_t stages = 2 * sizeof(Stage);
    const size_t smem = bug == SMEM_TOO_SMALL     ? stages - 64
                        : bug == SMEM_NOT_ALLOWED ? 49153
                                                  : stages;
    const unsigned blocks =
        (unsigned)(bug == GRID_TOO_SMALL ? rows / ROWS : (rows + ROWS - 1) / ROWS);
    const dim3 grid(blocks, (unsigned)(tokens + TOKENS - 1) / TOKENS);
    return launch(matmul, grid, dim3(WARPS * 32), smem, nullptr,
                  Problem{out, w, scales, x, rows, width, tokens, bug});
}
