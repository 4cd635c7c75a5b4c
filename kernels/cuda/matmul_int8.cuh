/*
 * matmul_int8.cuh: products of block types on int8 tensor cores. A warp computes
 * 16 rows for all tokens of the tile. Of each super-block of 256 it takes 32
 * weights of its rows at a time, unpacks them in registers (dequant.cuh) and
 * multiplies them with eight tokens an mma.
 *
 * Sums and their order are those of kernels/cpu/matmul_ref.c, to the bit: integers
 * within a block, then one chain of f32 operations per output. The minimums of a
 * block of 256 are a product of their own, with the sums of the inputs, which two
 * bytes hold.
 */
#pragma once
#include "cuda_records.h"
#include "dequant.cuh"
#include "matmul.cuh"

/* The warp's rows g and g + 8 of a tile, for lane l with g = l / 4. */
MATMUL int fragment_row(int h)
{
    return (int)threadIdx.x / 32 * 16 + (int)threadIdx.x % 32 / 4 + 8 * h;
}

/* Weights 32j .. 32j + 31 of the two rows, as A of an mma. */
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

/* Shape of a tile: fewer rows and more stages where little is computed per weight. */
template <class W, class Record, int PIECE, int TILE_TOKENS> struct int8_tile {
    typedef weight_rows<PIECE, W::ALIGN> rows;
    static constexpr size_t RECORDS = TILE_TOKENS * sizeof(Record);
    static constexpr bool TALL = 2 * (128 * rows::PITCH + RECORDS) <= SMEM_LIMIT;
    static constexpr int TOKENS = TILE_TOKENS, ROWS = TOKENS >= 64 && TALL ? 128 : 64;
    static constexpr int THREADS = ROWS * 2, VALUES = 256, STAGES = TOKENS >= 64 ? 2 : 3;
    struct stage {
        unsigned char weights[ROWS * rows::PITCH];
        Record records[TOKENS];
    };
    struct sums {
        float y[TOKENS / 8][4];
    };

    MATMUL void load(stage &to, const matmul_job &job, const matmul_tile &tile, int step)
    {
        const int count = (tile.tokens + 15) / 16 * 16;

        rows::template copy<ROWS, THREADS>(to.weights, tile, (size_t)step * PIECE);
        copy_records<THREADS>(to.records, job, tile, step, count);
    }

    /* Calls each(n) for n = 0, 2, .., the first of two eights of tokens of which one at
     * least is the tile's. */
    template <class Each> MATMUL void each_pair(const matmul_tile &tile, Each each)
    {
        UNROLL
        for (int n = 0; n < TOKENS / 8; n += 2)
            if (8 * n < tile.tokens)
                each(n);
    }

    /* As the reference, which fills the last super-block up: that makes -0 +0. */
    MATMUL void put(const matmul_job &job, const matmul_tile &tile, sums &s)
    {
        const bool filled_up = job.width % 256 != 0;

        UNROLL
        for (int n = 0; n < TOKENS / 8; n++) {
            UNROLL
            for (int e = 0; e < 4; e++)
                s.y[n][e] = filled_up ? s.y[n][e] + 0.0f : s.y[n][e];
            put_fragment(tile, (int)threadIdx.x / 32 * 16, n * 8, s.y[n]);
        }
    }
};

/* ---- Blocks of 256 ---- */

template <class W, int TILE_TOKENS>
struct product_256 : int8_tile<W, cuda_record_q8_256, (int)sizeof(typename W::block), TILE_TOKENS> {
    typedef int8_tile<W, cuda_record_q8_256, (int)sizeof(typename W::block), TILE_TOKENS> base;
    typedef typename W::block block;
    using typename base::rows;
    using typename base::stage;
    using typename base::sums;
    typedef int totals[TILE_TOKENS / 8][4];

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
    MATMUL void load_scales(const block *const (&row)[2], int j, int (&scale)[2][2])
    {
        if constexpr (W::GROUP < 256) {
            constexpr int groups = 32 / W::GROUP;

            UNROLL
            for (int i = 0; i < groups; i++)
                UNROLL
            for (int h = 0; h < 2; h++)
                scale[i][h] = W::scale(row[h], groups * j + i);
        }
    }

    /* Minimums times sums of inputs, eight tokens from t on. */
    MATMUL void sum_minimums(const cuda_record_q8_256 *records, int t, const uint32_t (&a)[2],
                             int (&sum)[4])
    {
        const int lane = (int)threadIdx.x % 32, c = lane % 4;
        const cuda_record_q8_256 &record = records[t + lane / 4];

        mma_s8_16816(sum, a[0], a[1], *(const uint32_t *)(record.high + 4 * c));
        UNROLL
        for (int e = 0; e < 4; e++)
            sum[e] *= 64;
        mma_s8_16816(sum, a[0], a[1], *(const uint32_t *)(record.low + 4 * c));
    }

    /* The block's values onto the chains of the outputs. */
    MATMUL void finish(const stage &s, const matmul_tile &tile, const block *const (&row)[2],
                       const totals &total, sums &out)
    {
        const int c = (int)threadIdx.x % 4;
        const float d[2] = {W::d(row[0]), W::d(row[1])};
        uint32_t minimums[2] = {};
        float dmin[2] = {};

        if constexpr (W::MINIMUMS) {
            UNROLL
            for (int h = 0; h < 2; h++) {
                minimums[h] = W::minimums(row[h], c);
                dmin[h] = W::dmin(row[h]);
            }
        }
        base::each_pair(tile, [&](int pair) {
            UNROLL
            for (int n = pair; n < pair + 2; n++) {
                int least[4] = {};

                if constexpr (W::MINIMUMS)
                    sum_minimums(s.records, 8 * n, minimums, least);
                UNROLL
                for (int e = 0; e < 4; e++) {
                    float v = d[e / 2] * (float)(W::SIGN * total[n][e]);

                    if constexpr (W::MINIMUMS)
                        v = fmaf(-dmin[e / 2], (float)least[e], v);
                    out.y[n][e] = fmaf(s.records[8 * n + 2 * c + e % 2].scale, v, out.y[n][e]);
                }
            }
        });
    }

    MATMUL void add(const stage &s, const matmul_tile &tile, int step, sums &out)
    {
        const size_t begin = (size_t)step * sizeof(block);
        const block *const row[2] = {
            (const block *)rows::piece(s.weights, tile, fragment_row(0), begin),
            (const block *)rows::piece(s.weights, tile, fragment_row(1), begin)};
        totals total = {};

        ROLLED
        for (int j = 0; j < 8; j++) {
            uint32_t a[4];
            int scale[2][2] = {};

            load_weights<W>(row, j, a);
            load_scales(row, j, scale);
            base::each_pair(tile, [&](int n) {
                uint32_t b[4];

                load_inputs(s.records, 8 * n, j, b);
                add_group(a, scale, b[0], b[1], total[n]);
                add_group(a, scale, b[2], b[3], total[n + 1]);
            });
        }
        finish(s, tile, row, total, out);
    }
};

/* ---- Blocks of 32, eight at a time ---- */

template <class W, int TILE_TOKENS>
struct product_32
    : int8_tile<W, cuda_record_q8_32, 8 * (int)sizeof(typename W::block), TILE_TOKENS> {
    typedef int8_tile<W, cuda_record_q8_32, 8 * (int)sizeof(typename W::block), TILE_TOKENS> base;
    typedef typename W::block block;
    using typename base::rows;
    using typename base::stage;
    using typename base::sums;

    /* A block's values onto the chains of the outputs of eight tokens from t on. */
    MATMUL void add_block(const stage &s, int t, int j, const int (&sum)[4], const float (&d)[2],
                          const float (&m)[2], float (&y)[4])
    {
        const int c = (int)threadIdx.x % 4;

        UNROLL
        for (int e = 0; e < 4; e++) {
            const cuda_record_q8_32 &record = s.records[t + 2 * c + e % 2];
            float v = d[e / 2] * (float)sum[e];

            if constexpr (W::OFFSET)
                v = fmaf(m[e / 2], (float)record.sum[j], v);
            y[e] = fmaf(record.scale[j], v, y[e]);
        }
    }

    MATMUL void add(const stage &s, const matmul_tile &tile, int step, sums &out)
    {
        const size_t begin = (size_t)step * 8 * sizeof(block);
        const block *const first[2] = {
            (const block *)rows::piece(s.weights, tile, fragment_row(0), begin),
            (const block *)rows::piece(s.weights, tile, fragment_row(1), begin)};
        const int blocks = (int)min((size_t)8, (tile.row_bytes - begin) / sizeof(block));

        ROLLED
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
            base::each_pair(tile, [&](int n) {
                int low[4] = {}, high[4] = {};
                uint32_t b[4];

                load_inputs(s.records, 8 * n, j, b);
                mma_s8_16832(low, a, b[0], b[1]);
                mma_s8_16832(high, a, b[2], b[3]);
                add_block(s, 8 * n, j, low, d, m, out.y[n]);
                add_block(s, 8 * n + 8, j, high, d, m, out.y[n + 1]);
            });
        }
    }
};

/* ---- On the host ---- */

/* Launches with the smallest tile that holds what a matrix meets. */
#define INT8_LAUNCHER(PRODUCT, WEIGHTS)                                                            \
    template <> cudaError_t launch_matmul<WEIGHTS::TYPE>(matmul_plan & plan)                       \
    {                                                                                              \
        return plan.most <= 16   ? launch_product<PRODUCT<WEIGHTS, 16>>(plan)                      \
               : plan.most <= 32 ? launch_product<PRODUCT<WEIGHTS, 32>>(plan)                      \
                                 : launch_product<PRODUCT<WEIGHTS, 64>>(plan);                     \
    }
