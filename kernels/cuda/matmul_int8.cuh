/*
 * matmul_int8.cuh: products of block types on int8 tensor cores. A warp computes
 * 16 rows for all tokens of the tile. Of each super-block of 256 it takes 32
 * weights of its rows at a time, unpacks them in registers (dequant.cuh) and
 * multiplies them with eight tokens an mma.
 *
 * Sums and their order are those of kernels/cpu/matmul_ref.c, to the bit: integers
 * within a block, then one chain of f32 operations per output. The minimums of a
 * block of 256 are a product of their own, with the sums of the inputs, on f16 tensor
 * cores: what they add are integers that f32 has.
 *
 * With few tokens there is little to do for a piece of weights, and what counts is
 * how many are under way. Then a tile is low, and SPLIT warps that have the same
 * rows take one of SPLIT consecutive super-blocks each, of which only the last step,
 * the chain, is made in order, by the first of these warps.
 */
#pragma once
#include "cuda_records.h"
#include "dequant.cuh"
#include "matmul.cuh"

/* Weights 32j .. 32j + 31 of rows g and g + 8, as A of an mma. */
template <class W>
MATMUL void load_weights(const typename W::block *const (&row)[2], int j, uint32_t (&a)[4])
{
    const int c = (int)threadIdx.x % 4;

    a[0] = W::template word<0>(row[0], j, c);
    a[1] = W::template word<0>(row[1], j, c);
    a[2] = W::template word<1>(row[0], j, c);
    a[3] = W::template word<1>(row[1], j, c);
}

/* Values 32j .. 32j + 31 of tokens t .. t + 15: b[0], b[1] are B of an mma for the
 * first eight, b[2], b[3] for the others. */
template <class Record>
MATMUL void load_inputs(const Record *records, int t, int j, uint32_t (&b)[4])
{
    const int lane = (int)threadIdx.x % 32;

    ldmatrix_x4(b, records[t + lane / 16 * 8 + lane % 8].q + 32 * j + lane / 8 % 2 * 16);
}

/* The shape of a tile whose super-blocks of weights take BYTES and of inputs a Record. */
template <class W, class Record, int BYTES, int TILE_TOKENS, int TILE_ROWS, int TILE_SPLIT>
struct int8_tile {
    static constexpr int TOKENS = TILE_TOKENS, ROWS = TILE_ROWS, SPLIT = TILE_SPLIT;
    static constexpr int GROUPS = ROWS / 16; /* warps side by side */
    static constexpr int THREADS = 32 * GROUPS * SPLIT, VALUES = 256 * SPLIT;
    typedef weight_rows<BYTES * SPLIT, W::ALIGN> rows;

    struct stage {
        unsigned char weights[ROWS * rows::PITCH];
        Record records[SPLIT][TOKENS];
    };
    /* What warps hand the first one of their rows: four values of a thread for eight tokens. */
    static constexpr int HANDED = (SPLIT - 1) * GROUPS * (TOKENS / 8) * 32;
    static constexpr int FIT = (int)((SMEM_LIMIT - 16 - 16 * HANDED) / sizeof(stage));
    static constexpr int STAGES = TOKENS >= 64 || FIT < 3 ? 2 : FIT < 4 ? FIT : 4;
    /* Two eights of tokens do not keep a warp busy from one 32 weights to the next. */
    static constexpr int AT_ONCE = TOKENS <= 16 ? 4 : 1;
    /* A large tile is computed as a whole, tokens or not: what never branches has products of
     * all eights under way at once. */
    static constexpr bool WHOLE = TOKENS >= 64;

    struct sums {
        float y[TOKENS / 8][4];
    };

    /* Which rows and which super-block of a step are this warp's. */
    MATMUL int group()
    {
        return (int)threadIdx.x / 32 % GROUPS;
    }
    MATMUL int part()
    {
        return SPLIT == 1 ? 0 : (int)threadIdx.x / 32 / GROUPS;
    }

    /* Super-blocks of a step. */
    MATMUL int parts_of(int width, int step)
    {
        return min(SPLIT, (width + 255) / 256 - step * SPLIT);
    }

    template <class Memory> MATMUL void clear(Memory &all, const matmul_tile &tile)
    {
        UNROLL
        for (int i = 0; i < STAGES; i++)
            UNROLL
        for (int p = 0; p < SPLIT; p++)
            clear_records<TOKENS, THREADS>(all.stages[i].records[p], tile);
    }

    MATMUL void load(stage &to, const matmul_job &job, const matmul_tile &tile, int step)
    {
        rows::template copy<ROWS, THREADS>(to.weights, job, tile, (size_t)step * BYTES * SPLIT);
        UNROLL
        for (int p = 0; p < SPLIT; p++)
            if (p < parts_of(job.width, step))
                copy_records<TOKENS, THREADS>(to.records[p], job, tile, step * SPLIT + p);
    }

    /* This warp's piece of row g, or with h = 1 of row g + 8; g: a quarter of the lane. */
    MATMUL const unsigned char *piece(const stage &s, const matmul_job &job,
                                      const matmul_tile &tile, int step, int h)
    {
        const int r = group() * 16 + (int)threadIdx.x % 32 / 4 + 8 * h;

        return rows::piece(s.weights, job, tile, r, (size_t)step * BYTES * SPLIT) + part() * BYTES;
    }

    /* Calls each(n) for n = 0, 2, .., the first of two eights of tokens of which one at
     * least is the tile's; in large tiles for all of them. */
    template <class Each> MATMUL void each_pair(const matmul_tile &tile, Each each)
    {
        UNROLL
        for (int n = 0; n < TOKENS / 8; n += 2)
            if (WHOLE || 8 * n < tile.tokens)
                each(n);
    }

    /* The same with values 32j .. 32j + 31 of the sixteen tokens, as load_inputs gives them. */
    template <class Each>
    MATMUL void each_input(const Record *records, const matmul_tile &tile, int j, Each each)
    {
        each_pair(tile, [&](int n) {
            uint32_t b[4];

            load_inputs(records, 8 * n, j, b);
            each(n, b);
        });
    }

    /* As the reference, which fills the last super-block up: that makes -0 +0. */
    MATMUL void put(const matmul_job &job, const matmul_tile &tile, sums &s)
    {
        const bool filled_up = job.width % 256 != 0;

        if (part() > 0)
            return;
        UNROLL
        for (int n = 0; n < TOKENS / 8; n++) {
            UNROLL
            for (int e = 0; e < 4; e++)
                s.y[n][e] = filled_up ? s.y[n][e] + 0.0f : s.y[n][e];
            put_fragment(job, tile, group() * 16, n * 8, s.y[n]);
        }
    }
};

/* ---- Blocks of 256 ---- */

template <class W, int TOKENS, int ROWS, int SPLIT>
struct product_256
    : int8_tile<W, cuda_record_q8_256, (int)sizeof(typename W::block), TOKENS, ROWS, SPLIT> {
    typedef int8_tile<W, cuda_record_q8_256, (int)sizeof(typename W::block), TOKENS, ROWS, SPLIT>
        base;
    typedef typename W::block block;
    using typename base::stage;
    using typename base::sums;
    typedef int totals[TOKENS / 8][4];

    struct memory {
        stage stages[base::STAGES];
        float4 handed[base::HANDED > 0 ? base::HANDED : 1];
    };

    /* Where part p > 0 of a step leaves the values of eight tokens. */
    MATMUL float4 &handed(memory &all, int p, int n)
    {
        const int warp = (p - 1) * base::GROUPS + base::group();

        return all.handed[(warp * (TOKENS / 8) + n) * 32 + (int)threadIdx.x % 32];
    }

    /* total += scale * (weights 32j .. 32j + 31) * (inputs b), of eight tokens. */
    MATMUL void add_group(const uint32_t (&a)[4], const int (&scale)[2][2], uint32_t b0,
                          uint32_t b1, int (&total)[4])
    {
        if constexpr (W::GROUP == 256) {
            mma_s8_16832(total, a, b0, b1);
        } else if constexpr (W::GROUP == 32) {
            int sum[4] = {};

            mma_s8_16832(sum, a, b0, b1);
            UNROLL
            for (int e = 0; e < 4; e++)
                total[e] += scale[0][e / 2] * sum[e];
        } else {
            int first[4] = {}, second[4] = {};

            mma_s8_16816(first, a[0], a[1], b0);
            mma_s8_16816(second, a[2], a[3], b1);
            UNROLL
            for (int e = 0; e < 4; e++)
                total[e] += scale[0][e / 2] * first[e] + scale[1][e / 2] * second[e];
        }
    }

    /* Scales of 32j .. 32j + 31, [groups][rows]. */
    template <class Scales> MATMUL void find_scales(const Scales &of, int j, int (&scale)[2][2])
    {
        if constexpr (W::GROUP < 256) {
            constexpr int groups = 32 / W::GROUP;

            UNROLL
            for (int i = 0; i < groups; i++)
                UNROLL
            for (int h = 0; h < 2; h++)
                scale[i][h] = W::scale(of[h], groups * j + i);
        }
    }

    /* The minimums of groups g and g + 1 as f16. */
    MATMUL uint32_t two_minimums(const block *row, int g)
    {
        const float first = (float)W::minimum(row, g), second = (float)W::minimum(row, g + 1);

        return __half_as_ushort(__float2half_rn(first)) |
               (uint32_t)__half_as_ushort(__float2half_rn(second)) << 16;
    }

    /* Minimums of the rows as A of an mma. */
    MATMUL void load_minimums(const block *const (&row)[2], uint32_t (&a)[4])
    {
        UNROLL
        for (int i = 0; i < 4; i++)
            a[i] = two_minimums(row[i % 2], i / 2 * 8 + (int)threadIdx.x % 4 * 2);
    }

    /* Minimums times sums of inputs, of eight tokens from t on and of the next eight. The
     * sixteen products are integers and so are their sums, below 2^21: f32 has them. */
    MATMUL void sum_minimums(const cuda_record_q8_256 *records, int t, const uint32_t (&a)[4],
                             float (&sum)[2][4])
    {
        const int lane = (int)threadIdx.x % 32;
        uint32_t b[4];

        ldmatrix_x4(b, records[t + lane / 16 * 8 + lane % 8].sums + lane / 8 % 2 * 8);
        mma_f16_16816(sum[0], a, b[0], b[1]);
        mma_f16_16816(sum[1], a, b[2], b[3]);
    }

    /* Gives put(n, v) for each eight of tokens v = d * total - dmin * minimums. */
    template <class Put>
    MATMUL void scale_totals(const cuda_record_q8_256 *records, const matmul_tile &tile,
                             const block *const (&row)[2], const totals &total, Put put)
    {
        const float d[2] = {W::d(row[0]), W::d(row[1])};
        uint32_t minimums[4] = {};
        float dmin[2] = {};

        if constexpr (W::MINIMUMS) {
            load_minimums(row, minimums);
            UNROLL
            for (int h = 0; h < 2; h++)
                dmin[h] = W::dmin(row[h]);
        }
        base::each_pair(tile, [&](int pair) {
            float least[2][4] = {};

            if constexpr (W::MINIMUMS)
                sum_minimums(records, 8 * pair, minimums, least);
            UNROLL
            for (int n = pair; n < pair + 2; n++) {
                float v[4];

                UNROLL
                for (int e = 0; e < 4; e++) {
                    v[e] = d[e / 2] * (float)(W::SIGN * total[n][e]);
                    if constexpr (W::MINIMUMS)
                        v[e] = fmaf(-dmin[e / 2], least[n - pair][e], v[e]);
                }
                put(n, v);
            }
        });
    }

    /* Gives put(n, v) the values of this warp's super-block, for each eight of tokens. */
    template <class Put>
    MATMUL void multiply(const stage &s, const matmul_job &job, const matmul_tile &tile, int step,
                         Put put)
    {
        const cuda_record_q8_256 *records = s.records[base::part()];
        const block *const row[2] = {(const block *)base::piece(s, job, tile, step, 0),
                                     (const block *)base::piece(s, job, tile, step, 1)};
        const typename W::scales scales[2] = {W::load_scales(row[0]), W::load_scales(row[1])};
        [[maybe_unused]] constexpr int AT_ONCE = base::AT_ONCE;
        totals total = {};

        UNROLLED(AT_ONCE)
        for (int j = 0; j < 8; j++) {
            uint32_t a[4];
            int scale[2][2] = {};

            load_weights<W>(row, j, a);
            find_scales(scales, j, scale);
            base::each_input(records, tile, j, [&](int n, const uint32_t(&b)[4]) {
                add_group(a, scale, b[0], b[1], total[n]);
                add_group(a, scale, b[2], b[3], total[n + 1]);
            });
        }
        scale_totals(records, tile, row, total, put);
    }

    /* y = fma(scale of the token, v, y) of eight tokens. */
    MATMUL void chain(const cuda_record_q8_256 *records, int n, const float (&v)[4], sums &out)
    {
        UNROLL
        for (int e = 0; e < 4; e++) {
            const int t = 8 * n + (int)threadIdx.x % 4 * 2 + e % 2;

            out.y[n][e] = fmaf(records[t].scale, v[e], out.y[n][e]);
        }
    }

    /* Onto the chains what the other parts of a step left, in their order. */
    MATMUL void chain_handed(memory &all, const stage &s, const matmul_tile &tile, int parts,
                             sums &out)
    {
        ROLLED
        for (int p = 1; p < parts; p++)
            base::each_pair(tile, [&](int pair) {
                UNROLL
                for (int n = pair; n < pair + 2; n++) {
                    const float4 four = handed(all, p, n);
                    const float v[4] = {four.x, four.y, four.z, four.w};

                    chain(s.records[p], n, v, out);
                }
            });
    }

    MATMUL void add(memory &all, const stage &s, const matmul_job &job, const matmul_tile &tile,
                    int step, sums &out)
    {
        const int part = base::part(), parts = base::parts_of(job.width, step);

        if (SPLIT == 1 || part < parts)
            multiply(s, job, tile, step, [&](int n, const float(&v)[4]) {
                if (part == 0)
                    chain(s.records[0], n, v, out);
                else
                    handed(all, part, n) = make_float4(v[0], v[1], v[2], v[3]);
            });
        if constexpr (SPLIT > 1) {
            __syncthreads();
            if (part == 0)
                chain_handed(all, s, tile, parts, out);
        }
    }
};

/* ---- Blocks of 32, eight at a time ---- */

template <class W, int TOKENS, int ROWS>
struct product_32
    : int8_tile<W, cuda_record_q8_32, 8 * (int)sizeof(typename W::block), TOKENS, ROWS, 1> {
    typedef int8_tile<W, cuda_record_q8_32, 8 * (int)sizeof(typename W::block), TOKENS, ROWS, 1>
        base;
    typedef typename W::block block;
    using typename base::stage;
    using typename base::sums;

    struct memory {
        stage stages[base::STAGES];
    };

    /* A block's values onto the chains of the outputs of eight tokens from t on. */
    MATMUL void add_block(const cuda_record_q8_32 *records, int t, int j, const int (&sum)[4],
                          const float (&d)[2], const float (&m)[2], float (&y)[4])
    {
        UNROLL
        for (int e = 0; e < 4; e++) {
            const cuda_record_q8_32 &record = records[t + (int)threadIdx.x % 4 * 2 + e % 2];
            float v = d[e / 2] * (float)sum[e];

            if constexpr (W::OFFSET)
                v = fmaf(m[e / 2], (float)record.sum[j], v);
            y[e] = fmaf(record.scale[j], v, y[e]);
        }
    }

    MATMUL void add(memory &, const stage &s, const matmul_job &job, const matmul_tile &tile,
                    int step, sums &out)
    {
        const cuda_record_q8_32 *records = s.records[0];
        const block *const first[2] = {(const block *)base::piece(s, job, tile, step, 0),
                                       (const block *)base::piece(s, job, tile, step, 1)};
        const int blocks = min(8, (int)(job.row_bytes / sizeof(block)) - 8 * step);
        [[maybe_unused]] constexpr int AT_ONCE = base::AT_ONCE;

        UNROLLED(AT_ONCE)
        for (int j = 0; j < blocks; j++) {
            const block *const row[2] = {first[0] + j, first[1] + j};
            const float d[2] = {W::d(row[0]), W::d(row[1])};
            float m[2] = {};
            uint32_t a[4];

            if constexpr (W::OFFSET) {
                m[0] = W::m(row[0]);
                m[1] = W::m(row[1]);
            }
            load_weights<W>(row, 0, a);
            base::each_input(records, tile, j, [&](int n, const uint32_t(&b)[4]) {
                int low[4] = {}, high[4] = {};

                mma_s8_16832(low, a, b[0], b[1]);
                mma_s8_16832(high, a, b[2], b[3]);
                add_block(records, 8 * n, j, low, d, m, out.y[n]);
                add_block(records, 8 * n + 8, j, high, d, m, out.y[n + 1]);
            });
        }
    }
};

/*
 * ---- On the host: the smallest tile that holds what a matrix meets ----
 *
 * A thread holds four sums for eight tokens and with blocks of 256 as many totals: 80
 * registers for 80 tokens, with which two blocks of 96 rows fit a multiprocessor. Groups
 * of 16 weights take more and stop at 64.
 */

/* Whether two stages and what else a tile has fit. */
template <class Product> constexpr bool fits()
{
    return sizeof(typename Product::memory) <= SMEM_LIMIT;
}

/* Whether tiles of 80 tokens leave less of themselves empty than those of 64. */
static bool wants_80_tokens(const matmul_plan &plan)
{
    return (plan.typical + 79) / 80 * 80 < (plan.typical + 63) / 64 * 64;
}

template <class W> static cudaError_t launch_256(matmul_plan &plan)
{
    constexpr int rows_32 = fits<product_256<W, 32, 64, 2>>() ? 64 : 32;

    if (plan.typical <= 16)
        return launch_product<product_256<W, 16, 32, 4>>(plan);
    if (plan.typical <= 32)
        return launch_product<product_256<W, 32, rows_32, 2>>(plan);
    if constexpr (W::GROUP > 16)
        if (wants_80_tokens(plan))
            return launch_product<product_256<W, 80, 96, 1>>(plan);
    return launch_product<product_256<W, 64, 96, 1>>(plan);
}

template <class W> static cudaError_t launch_32(matmul_plan &plan)
{
    constexpr int rows_64 = fits<product_32<W, 64, 128>>() ? 128 : 64;
    constexpr int rows_80 = fits<product_32<W, 80, 96>>() ? 96 : 64;

    if (plan.typical <= 16)
        return launch_product<product_32<W, 16, 64>>(plan);
    if (plan.typical <= 32)
        return launch_product<product_32<W, 32, 64>>(plan);
    if (wants_80_tokens(plan))
        return launch_product<product_32<W, 80, rows_80>>(plan);
    return launch_product<product_32<W, 64, rows_64>>(plan);
}

#define LAUNCHER_256(W)                                                                            \
    template <> cudaError_t launch_matmul<W::TYPE>(matmul_plan & plan)                             \
    {                                                                                              \
        return launch_256<W>(plan);                                                                \
    }

#define LAUNCHER_32(W)                                                                             \
    template <> cudaError_t launch_matmul<W::TYPE>(matmul_plan & plan)                             \
    {                                                                                              \
        return launch_32<W>(plan);                                                                 \
    }
