/*
 * matmul_half.cu: products with F16 and BF16 weights on tensor cores, sums in f32.
 * A warp computes 16 rows for all tokens of the tile, 64 values of the width at a
 * time. Rows that begin on multiples of 16 bytes are read by ldmatrix, others by
 * halves.
 */
#include "cuda_records.h"
#include "dequant.cuh"
#include "matmul.cuh"

struct f16_weights {
    MATMUL void multiply(float (&sum)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1)
    {
        mma_f16_16816(sum, a, b0, b1);
    }
};

struct bf16_weights {
    MATMUL void multiply(float (&sum)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1)
    {
        mma_bf16_16816(sum, a, b0, b1);
    }
};

/* ALIGN: of rows in memory, 16 or 2. */
template <class W, int ALIGN, int TILE_TOKENS> struct product_half {
    typedef weight_rows<128, ALIGN> rows;
    static constexpr int TOKENS = TILE_TOKENS, ROWS = TOKENS >= 64 ? 128 : 64;
    static constexpr int THREADS = ROWS * 2, VALUES = 64;
    static constexpr int STAGES = TOKENS >= 128 ? 2 : TOKENS >= 64 ? 3 : 5;

    struct stage {
        unsigned char weights[ROWS * rows::PITCH];
        cuda_record_half records[TOKENS];
    };
    struct memory {
        stage stages[STAGES];
    };
    struct sums {
        float y[TOKENS / 8][4];
    };

    MATMUL void clear(memory &all, const matmul_tile &tile)
    {
        UNROLL
        for (int i = 0; i < STAGES; i++)
            clear_records<TOKENS, THREADS>(all.stages[i].records, tile);
    }

    MATMUL void load(stage &to, const matmul_job &job, const matmul_tile &tile, int step)
    {
        rows::template copy<ROWS, THREADS>(to.weights, job, tile, (size_t)step * 128);
        copy_records<TOKENS, THREADS>(to.records, job, tile, step);
    }

    /* Weights 16k .. 16k + 15 of the warp's rows from `row` on as A of an mma. */
    MATMUL void load_weights(const stage &s, const matmul_job &job, const matmul_tile &tile,
                             int row, size_t begin, int k, uint32_t (&a)[4])
    {
        const int lane = (int)threadIdx.x % 32;

        if constexpr (ALIGN == 16) {
            const int r = row + lane % 16;

            ldmatrix_x4(a, rows::piece(s.weights, job, tile, r, begin) + 32 * k + lane / 16 * 16);
        } else {
            UNROLL
            for (int i = 0; i < 4; i++) {
                const int r = row + lane / 4 + i % 2 * 8;
                const unsigned char *piece = rows::piece(s.weights, job, tile, r, begin);

                a[i] = load_word<2>(piece + 32 * k + i / 2 * 16 + lane % 4 * 4);
            }
        }
    }

    MATMUL void add(const memory &, const stage &s, const matmul_job &job, const matmul_tile &tile,
                    int step, sums &out)
    {
        const int lane = (int)threadIdx.x % 32, row = (int)threadIdx.x / 32 * 16;

        ROLLED
        for (int k = 0; k < 4; k++) {
            uint32_t a[4];

            load_weights(s, job, tile, row, (size_t)step * 128, k, a);
            UNROLL
            for (int n = 0; n < TOKENS / 8; n += 2) {
                const int t = 8 * n + lane / 16 * 8 + lane % 8;
                uint32_t b[4];

                ldmatrix_x4(b, s.records[t].x + 16 * k + lane / 8 % 2 * 8);
                W::multiply(out.y[n], a, b[0], b[1]);
                W::multiply(out.y[n + 1], a, b[2], b[3]);
            }
        }
    }

    /* Back to the unit of a token's inputs. */
    MATMUL void put(const matmul_job &job, const matmul_tile &tile, sums &s)
    {
        const cuda_record_half *records = (const cuda_record_half *)job.records + tile.token;
        const int c = (int)threadIdx.x % 4;

        UNROLL
        for (int n = 0; n < TOKENS / 8; n++) {
            UNROLL
            for (int e = 0; e < 4; e++)
                s.y[n][e] *= records[min(8 * n + 2 * c + e % 2, tile.tokens - 1)].unit;
            put_fragment(job, tile, (int)threadIdx.x / 32 * 16, 8 * n, s.y[n]);
        }
    }
};

/*
 * Tiles of 128 tokens read weights from the cache half as often as those of 64, and a warp
 * has sixteen products for nine loads from shared memory, not eight for five. But they
 * leave half as many blocks, and one that is half empty costs as much as a full one. So
 * they are taken for an even number of tiles of 64, and where a card's multiprocessors, of
 * which large ones have about 128, all get one. That is a rule of thumb: no hardware has
 * confirmed it.
 */
static bool wants_128_tokens(const matmul_plan &plan)
{
    const long long blocks =
        (long long)tiles_of_tokens(plan.job, 128) * tiles_of_rows(plan.job, 128);

    return (plan.typical + 63) / 64 % 2 == 0 && blocks >= 128;
}

template <class W, int ALIGN> static cudaError_t launch_half(matmul_plan &plan)
{
    if (plan.typical <= 16)
        return launch_product<product_half<W, ALIGN, 16>>(plan);
    if (wants_128_tokens(plan))
        return launch_product<product_half<W, ALIGN, 128>>(plan);
    return launch_product<product_half<W, ALIGN, 64>>(plan);
}

template <> cudaError_t launch_matmul<DTYPE_F16>(matmul_plan &plan)
{
    return plan.job.row_bytes % 16 ? launch_half<f16_weights, 2>(plan)
                                   : launch_half<f16_weights, 16>(plan);
}

template <> cudaError_t launch_matmul<DTYPE_BF16>(matmul_plan &plan)
{
    return plan.job.row_bytes % 16 ? launch_half<bf16_weights, 2>(plan)
                                   : launch_half<bf16_weights, 16>(plan);
}
