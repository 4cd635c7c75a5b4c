/*
 * matmul_f32.cu: products with F32 weights on the ordinary cores: for each output
 * one chain y = fma(w, x, y) in the order of the width, the bits of the CPU. A
 * thread makes the chains of four rows and four tokens, which are eight apart.
 */
#include "cuda_records.h"
#include "matmul.cuh"

/* ALIGN: of rows in memory, 16 or 4. */
template <int ALIGN> struct product_f32 {
    typedef weight_rows<128, ALIGN> rows;
    static constexpr int TOKENS = 32, ROWS = 32, THREADS = 64, VALUES = 32, STAGES = 3;

    struct stage {
        unsigned char weights[ROWS * rows::PITCH];
        cuda_record_f32 records[TOKENS];
    };
    struct memory {
        stage stages[STAGES];
    };
    struct sums {
        float y[4][4]; /* [rows][tokens] */
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

    /* The first row and token of this thread. */
    MATMUL int first_row()
    {
        return (int)threadIdx.x % 8;
    }
    MATMUL int first_token()
    {
        return (int)threadIdx.x / 8;
    }

    MATMUL void load_four(const void *at, float (&v)[4])
    {
        if constexpr (ALIGN == 16) {
            const float4 four = *(const float4 *)at;

            v[0] = four.x, v[1] = four.y, v[2] = four.z, v[3] = four.w;
        } else {
            UNROLL
            for (int i = 0; i < 4; i++)
                v[i] = ((const float *)at)[i];
        }
    }

    MATMUL void add(const memory &, const stage &s, const matmul_job &job, const matmul_tile &tile,
                    int step, sums &out)
    {
        ROLLED
        for (int k = 0; k < VALUES; k += 4) {
            float w[4][4];

            UNROLL
            for (int r = 0; r < 4; r++) {
                const int row = first_row() + 8 * r;

                load_four(rows::piece(s.weights, job, tile, row, (size_t)step * 128) + 4 * k, w[r]);
            }
            UNROLL
            for (int t = 0; t < 4; t++) {
                const float4 x = *(const float4 *)(s.records[first_token() + 8 * t].x + k);

                UNROLL
                for (int r = 0; r < 4; r++) {
                    float &y = out.y[r][t];

                    y = fmaf(w[r][0], x.x, y);
                    y = fmaf(w[r][1], x.y, y);
                    y = fmaf(w[r][2], x.z, y);
                    y = fmaf(w[r][3], x.w, y);
                }
            }
        }
    }

    /* As the reference, which fills the last 256 up: that makes -0 +0. */
    MATMUL void put(const matmul_job &job, const matmul_tile &tile, sums &s)
    {
        const bool filled_up = job.width % 256 != 0;

        UNROLL
        for (int r = 0; r < 4; r++)
            UNROLL
        for (int t = 0; t < 4; t++) {
            const float y = filled_up ? s.y[r][t] + 0.0f : s.y[r][t];

            put_output(job, tile, first_row() + 8 * r, first_token() + 8 * t, y);
        }
    }
};

template <> cudaError_t launch_matmul<DTYPE_F32>(matmul_plan &plan)
{
    return plan.job.row_bytes % 16 ? launch_product<product_f32<4>>(plan)
                                   : launch_product<product_f32<16>>(plan);
}
