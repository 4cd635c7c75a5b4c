/*
 * matmul.cuh: what the matmul kernels have in common: the arguments of a launch,
 * which tile a block computes, the way along the width, copying packed weights to
 * shared memory, and writing outputs.
 *
 * A block computes ROWS rows of one matrix for up to TOKENS tokens over the whole
 * width, so that every output is one chain of sums in the order of the width: its
 * bits do not depend on the tile, on other tokens or on other products. Blocks
 * that follow each other take the same rows and other tokens: weights come from
 * memory once and then from the cache.
 */
#pragma once
#include "cuda_matmul.h"
#include "dtype.cuh"
#include "ptx.cuh"

/* For loops whose body should be in the code once, or TIMES times. */
#ifdef __CUDACC__
#define ROLLED          _Pragma("unroll 1")
#define UNROLLED_(text) _Pragma(#text)
#define UNROLLED(TIMES) UNROLLED_(unroll TIMES)
#else
#define ROLLED
#define UNROLLED(TIMES)
#endif

#define MATMUL static __device__ __forceinline__

/* Shared memory that a block can have on every GPU from compute capability 8.0 on. */
constexpr size_t SMEM_LIMIT = 99 * 1024;

/* One matrix of a launch. */
struct matmul_part {
    const unsigned char *weights; /* of expert 0 with experts */
    const float *bias;
    float *out;
    size_t out_step;
    int rows, first_tile; /* among the launch's tiles of rows */
    bool accumulate;
};

/* The arguments of a launch: products of one weight type over the same tokens. */
struct matmul_job {
    matmul_part parts[CUDA_MAX_PRODUCTS];
    int count;
    const void *records; /* of the type's form */
    int tokens, width;
    size_t row_bytes;     /* of a matrix */
    const int32_t *first; /* experts: see cuda_visits; else NULL */
    int experts;
};

/* What a block computes. */
struct matmul_tile {
    int part;                     /* of the job */
    const unsigned char *weights; /* its first row */
    int row, rows;                /* in the matrix; rows: up to ROWS */
    int token, tokens;            /* tokens: up to TOKENS, 0: nothing to do */
    int expert;
};

/* Tile `index` of all experts' tokens in tiles of TOKENS: expert, token, tokens. A
 * warp counts 32 experts at a time; all lanes get the same. */
template <int TOKENS> MATMUL void find_visits(const matmul_job &job, int index, matmul_tile &tile)
{
    const int lane = (int)threadIdx.x % 32;

    ROLLED
    for (int base = 0; base < job.experts; base += 32) {
        const int e = base + lane;
        const int begin = e < job.experts ? job.first[e] : 0;
        const int tokens = e < job.experts ? job.first[e + 1] - begin : 0;
        int before = (tokens + TOKENS - 1) / TOKENS; /* tiles up to this expert's last */

        UNROLL
        for (int step = 1; step < 32; step *= 2) {
            const int other = __shfl_up_sync(ALL_LANES, before, (unsigned)step);

            before += lane >= step ? other : 0;
        }
        const unsigned reached = __ballot_sync(ALL_LANES, index < before);
        const int owner = reached ? __ffs((int)reached) - 1 : 31;
        const int its_end = __shfl_sync(ALL_LANES, before, owner);
        const int its_begin = __shfl_sync(ALL_LANES, begin, owner);
        const int its_tokens = __shfl_sync(ALL_LANES, tokens, owner);

        if (reached) {
            const int done =
                (index - its_end) * TOKENS + (its_tokens + TOKENS - 1) / TOKENS * TOKENS;

            tile.expert = base + owner;
            tile.token = its_begin + done;
            tile.tokens = min(TOKENS, its_tokens - done);
            return;
        }
        index -= its_end;
    }
}

/* Of block (x, y): tile x of the tokens, tile y of the rows of all products. */
template <int ROWS, int TOKENS> MATMUL matmul_tile find_tile(const matmul_job &job)
{
    const int x = (int)blockIdx.x, y = (int)blockIdx.y;
    matmul_tile tile = {};

    UNROLL
    for (int p = 1; p < CUDA_MAX_PRODUCTS; p++)
        if (p < job.count && y >= job.parts[p].first_tile)
            tile.part = p;
    const matmul_part &part = job.parts[tile.part];
    tile.row = (y - part.first_tile) * ROWS;
    tile.rows = min(ROWS, part.rows - tile.row);
    if (job.first) {
        find_visits<TOKENS>(job, x, tile);
    } else {
        tile.token = x * TOKENS;
        tile.tokens = min(TOKENS, job.tokens - tile.token);
    }
    tile.weights =
        part.weights + ((size_t)tile.expert * (size_t)part.rows + (size_t)tile.row) * job.row_bytes;
    return tile;
}

/*
 * Packed weights lie in shared memory as in the file, a piece of each row at a
 * time. cp.async moves units of 16 bytes from multiples of 16, but a row of
 * 210-byte blocks may begin on any even address, of 17-byte blocks on any: a
 * piece is copied from the multiple of 16 before its first byte, and lies as far
 * behind one there as it does in memory, by up to 16 - ALIGN bytes. Of the last
 * unit only what belongs to the piece is read, the rest becomes zeros: nothing
 * behind a matrix is touched.
 *
 * Rows are an odd number of units apart: what eight rows hold at one place is in
 * eight different groups of four banks (unless they begin differently).
 */
template <int BYTES, int ALIGN> struct weight_rows {
    static constexpr int UNITS = (BYTES + 16 - ALIGN + 15) / 16;
    static constexpr int PITCH = (UNITS | 1) * 16;

    /* Byte `begin` of row r of the tile. */
    MATMUL const unsigned char *source(const matmul_job &job, const matmul_tile &tile, int r,
                                       size_t begin)
    {
        return tile.weights + (size_t)r * job.row_bytes + begin;
    }

    /* How far behind a multiple of 16 a piece from there begins. */
    MATMUL int offset(const unsigned char *source)
    {
        return ALIGN >= 16 ? 0 : (int)((uintptr_t)source & 15);
    }

    /* Bytes begin .. begin + BYTES - 1 of all rows of the tile; zeros behind a row's end and
     * for rows that the matrix does not have. Eight threads copy a row, 128 bytes at a time,
     * and then go on by as many rows as there are eights: no division finds a place. */
    template <int ROWS, int THREADS>
    MATMUL void copy(unsigned char *to, const matmul_job &job, const matmul_tile &tile,
                     size_t begin)
    {
        constexpr int STEP = THREADS / 8;
        const int bytes = (int)min((size_t)BYTES, job.row_bytes - begin);
        const int first = (int)threadIdx.x / 8, unit = (int)threadIdx.x % 8;
        const unsigned char *from = source(job, tile, first, begin);
        unsigned char *row = to + first * PITCH + unit * 16;

        static_assert(ROWS % STEP == 0, "every thread has as many rows");
        ROLLED
        for (int r = first; r < ROWS; r += STEP) {
            const int at = unit * 16 - offset(from); /* in the piece */
            const int end = r < tile.rows ? bytes - at : 0;

            UNROLL
            for (int u = 0; u < UNITS; u += 8)
                if (u + 8 <= UNITS || unit < UNITS - u)
                    cp_async16_part(row + u * 16, from + at + u * 16,
                                    max(0, min(16, end - u * 16)));
            from += STEP * job.row_bytes;
            row += STEP * PITCH;
        }
    }

    /* The piece of row r, which was copied with the same `begin`. */
    MATMUL const unsigned char *piece(const unsigned char *copied, const matmul_job &job,
                                      const matmul_tile &tile, int r, size_t begin)
    {
        return copied + r * PITCH + offset(source(job, tile, r, begin));
    }
};

/* Record `index` of the tile's tokens. */
template <int TOKENS, int THREADS, class Record>
MATMUL void copy_records(Record *to, const matmul_job &job, const matmul_tile &tile, int index)
{
    constexpr int UNITS = (int)sizeof(Record) / 16;
    const Record *from =
        (const Record *)job.records + (size_t)index * (size_t)job.tokens + (size_t)tile.token;
    const int first = (int)threadIdx.x, count = tile.tokens * UNITS;

    UNROLL
    for (int i = 0; i < TOKENS * UNITS; i += THREADS)
        if (first + i < count)
            cp_async16((int4 *)to + first + i, (const int4 *)from + first + i, true);
}

/* Zeros in place of records that no token of the tile has. */
template <int TOKENS, int THREADS, class Record>
MATMUL void clear_records(Record *to, const matmul_tile &tile)
{
    constexpr int UNITS = (int)sizeof(Record) / 16;

    ROLLED
    for (int i = tile.tokens * UNITS + (int)threadIdx.x; i < TOKENS * UNITS; i += THREADS)
        ((int4 *)to)[i] = make_int4(0, 0, 0, 0);
}

/* One output of the tile; r, t: within it. */
MATMUL void put_output(const matmul_job &job, const matmul_tile &tile, int r, int t, float y)
{
    if (r >= tile.rows || t >= tile.tokens)
        return;
    const size_t token = (size_t)(tile.token + t), row = (size_t)(tile.row + r);
    const matmul_part &part = job.parts[tile.part];
    float *out = part.out + token * part.out_step + row;

    if (part.bias)
        y = y + part.bias[row];
    *out = part.accumulate ? *out + y : y;
}

/* The 16 x 8 outputs from row r and token t on that an mma leaves in a warp. */
MATMUL void put_fragment(const matmul_job &job, const matmul_tile &tile, int r, int t,
                         const float (&y)[4])
{
    const int lane = (int)threadIdx.x % 32;

    UNROLL
    for (int e = 0; e < 4; e++)
        put_output(job, tile, r + lane / 4 + e / 2 * 8, t + lane % 4 * 2 + e % 2, y[e]);
}

/*
 * The way along the width, VALUES at a time, of a block with a Product:
 *   ROWS, TOKENS, THREADS   its tile
 *   STAGES                  pieces under way or in use, at least two
 *   memory                  shared memory: stage stages[STAGES] and what else it needs
 *   sums                    what a thread holds, zeros at first
 *   clear(memory, tile)           before all else
 *   load(stage, job, tile, step)  begins the copies of piece `step`
 *   add(memory, stage, job, tile, step, sums)  its products
 *   put(job, tile, sums)          to the outputs
 * The launch bounds keep a thread at 128 registers, so that a multiprocessor has
 * room for 512 threads, four warps for each of its schedulers; blocks of 192 threads,
 * whose sums take more, at 168, for two such blocks.
 *
 * The barrier of a step says two things: the piece of every thread has come, and
 * all are done with the stage that is filled next.
 */
template <class Product>
static __global__ void __launch_bounds__(Product::THREADS, 512 / Product::THREADS)
    multiply_tile(matmul_job job)
{
    DYN_SMEM(smem);
    typename Product::memory &memory = *(typename Product::memory *)smem;
    const matmul_tile tile = find_tile<Product::ROWS, Product::TOKENS>(job);
    const int steps = (job.width + Product::VALUES - 1) / Product::VALUES;
    typename Product::sums sums = {};

    if (tile.tokens <= 0)
        return;
    Product::clear(memory, tile);
    ROLLED
    for (int step = 0; step < Product::STAGES - 1; step++) {
        if (step < steps)
            Product::load(memory.stages[step], job, tile, step);
        cp_async_commit();
    }
    ROLLED
    for (int step = 0; step < steps; step++) {
        const int next = step + Product::STAGES - 1;

        cp_async_wait<Product::STAGES - 2>();
        __syncthreads();
        if (next < steps)
            Product::load(memory.stages[next % Product::STAGES], job, tile, next);
        cp_async_commit();
        Product::add(memory, memory.stages[step % Product::STAGES], job, tile, step, sums);
    }
    Product::put(job, tile, sums);
}

/* ---- On the host ---- */

/* Where activations point to their records of the form with this bit. */
void **form_records(struct cuda_activations *activations, unsigned bit);

/* Products of one type, on their way to a launch. */
struct matmul_plan {
    matmul_job job;
    int typical; /* tokens that a matrix meets; with experts it may be more or less */
    cudaStream_t stream;
};

/* Launches a plan; each type's is in one of the files matmul_*.cu. */
template <uint32_t TYPE> cudaError_t launch_matmul(matmul_plan &plan);

/* Blocks that a launch has for tiles of so many tokens, and of rows. Each expert adds less than a
 * tile to what all tokens take, and has one of them at least. */
static inline int tiles_of_tokens(const matmul_job &job, int tokens)
{
    if (job.first)
        return job.tokens / tokens + (job.experts < job.tokens ? job.experts : job.tokens);
    return (job.tokens + tokens - 1) / tokens;
}

static inline int tiles_of_rows(const matmul_job &job, int rows)
{
    int tiles = 0;

    for (int p = 0; p < job.count; p++)
        tiles += (job.parts[p].rows + rows - 1) / rows;
    return tiles;
}

/* Launches the plan with blocks of this kind. */
template <class Product> static cudaError_t launch_product(matmul_plan &plan)
{
    constexpr size_t smem = sizeof(typename Product::memory);
    matmul_job &job = plan.job;
    const int x = tiles_of_tokens(job, Product::TOKENS);
    int y = 0;

    static_assert(smem <= SMEM_LIMIT, "fits every GPU");
    for (int p = 0; p < job.count; p++) {
        job.parts[p].first_tile = y;
        y += (job.parts[p].rows + Product::ROWS - 1) / Product::ROWS;
    }
    if (smem > 48 * 1024) {
        const cudaError_t error = allow_smem(multiply_tile<Product>, smem);

        if (error != cudaSuccess)
            return error;
    }
    return launch(multiply_tile<Product>, dim3((unsigned)x, (unsigned)y), dim3(Product::THREADS),
                  smem, plan.stream, job);
}
