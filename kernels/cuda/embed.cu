/* embed.cu: rows of a matrix in f32, by id: a block copies a row, a thread four
 * weights at a time. The bits are those of kernels/cpu/dequantize_ref.c. */
#include "cuda_matmul.h"
#include "dequant_32.cuh"
#include "dequant_iq.cuh"
#include "dequant_k.cuh"

constexpr int EMBED_THREADS = 128;

/* Word i of a row, of blocks of 256: weights 4i .. 4i + 3. */
template <class W> struct row_of_256 {
    typedef typename W::block block;
    static constexpr int FOURS = 64;

    DECODE void four(const block *b, int i, float (&v)[4])
    {
        const int j = i / 8, half_of = i / 4 % 2, t = i % 4, group = 2 * j + half_of;
        const uint32_t bytes =
            half_of ? W::template word<1>(b, j, t) : W::template word<0>(b, j, t);
        const float d = W::d(b);
        int scale = W::SIGN;
        float least = 0;

        if constexpr (W::GROUP < 256)
            scale *= W::scale(W::load_scales(b), W::GROUP == 32 ? j : group);
        if constexpr (W::MINIMUMS)
            least = W::dmin(b) * (float)W::minimum(b, group);
        UNROLL
        for (int k = 0; k < 4; k++)
            v[k] = d * (float)(scale * (int8_t)(bytes >> 8 * k)) - least;
    }
};

/* The same of blocks of 32. */
template <class W> struct row_of_32 {
    typedef typename W::block block;
    static constexpr int FOURS = 8;

    DECODE void four(const block *b, int i, float (&v)[4])
    {
        const uint32_t bytes =
            i < 4 ? W::template word<0>(b, 0, i % 4) : W::template word<1>(b, 0, i % 4);
        const float d = W::d(b);
        float m = -0.0f;

        if constexpr (W::OFFSET)
            m = W::m(b);
        UNROLL
        for (int k = 0; k < 4; k++)
            v[k] = d * (float)(int8_t)(bytes >> 8 * k) + m;
    }
};

/* Where the block of this thread's row begins, and where its values go. */
DECODE const void *source_row(const cuda_embedding &job, size_t row_bytes)
{
    return (const char *)job.weights + (size_t)job.ids[blockIdx.x] * row_bytes;
}

DECODE float *target_row(const cuda_embedding &job)
{
    return job.x + (size_t)blockIdx.x * (size_t)job.width;
}

template <class Row>
static __global__ void __launch_bounds__(EMBED_THREADS)
    embed_blocks(cuda_embedding job, size_t row_bytes)
{
    const typename Row::block *row = (const typename Row::block *)source_row(job, row_bytes);
    float *x = target_row(job);

    for (int i = (int)threadIdx.x; i < job.width / 4; i += EMBED_THREADS) {
        float v[4];

        Row::four(row + i / Row::FOURS, i % Row::FOURS, v);
        UNROLL
        for (int k = 0; k < 4; k++)
            x[4 * i + k] = v[k];
    }
}

struct f32_value {
    typedef float stored;

    DECODE float value(float stored)
    {
        return stored;
    }
};

struct f16_value {
    typedef uint16_t stored;

    DECODE float value(uint16_t bits)
    {
        return half_value(bits);
    }
};

struct bf16_value {
    typedef uint16_t stored;

    DECODE float value(uint16_t bits)
    {
        return __uint_as_float((uint32_t)bits << 16);
    }
};

template <class Value>
static __global__ void __launch_bounds__(EMBED_THREADS)
    embed_floats(cuda_embedding job, size_t row_bytes)
{
    const typename Value::stored *row = (const typename Value::stored *)source_row(job, row_bytes);
    float *x = target_row(job);

    for (int i = (int)threadIdx.x; i < job.width; i += EMBED_THREADS)
        x[i] = Value::value(row[i]);
}

/* ---- On the host ---- */

typedef void embed_kernel(cuda_embedding job, size_t row_bytes);

struct embed_type {
    uint32_t type;
    embed_kernel *kernel;
};

#define BLOCKS_256(W)                                                                              \
    {                                                                                              \
        W::TYPE, embed_blocks<row_of_256<W>>                                                       \
    }
#define BLOCKS_32(W)                                                                               \
    {                                                                                              \
        W::TYPE, embed_blocks<row_of_32<W>>                                                        \
    }

static const embed_type embed_types[] = {
    {DTYPE_F32, embed_floats<f32_value>},
    {DTYPE_F16, embed_floats<f16_value>},
    {DTYPE_BF16, embed_floats<bf16_value>},
    BLOCKS_32(weights_q4_0),
    BLOCKS_32(weights_q4_1),
    BLOCKS_32(weights_q5_0),
    BLOCKS_32(weights_q5_1),
    BLOCKS_32(weights_q8_0),
    BLOCKS_32(weights_iq4_nl),
    BLOCKS_32(weights_mxfp4),
    BLOCKS_256(weights_q2_k),
    BLOCKS_256(weights_q3_k),
    BLOCKS_256(weights_q4_k),
    BLOCKS_256(weights_q5_k),
    BLOCKS_256(weights_q6_k),
    BLOCKS_256(weights_iq4_xs),
    BLOCKS_256(weights_iq3_s),
    BLOCKS_256(weights_iq3_xxs),
    BLOCKS_256(weights_iq2_s),
    BLOCKS_256(weights_iq2_xs),
    BLOCKS_256(weights_iq2_xxs),
    BLOCKS_256(weights_iq1_s),
    BLOCKS_256(weights_iq1_m),
    BLOCKS_256(weights_tq1_0),
    BLOCKS_256(weights_tq2_0),
};

int cuda_embed(const struct cuda_embedding *embedding, struct CUstream_st *stream)
{
    for (const embed_type &t : embed_types) {
        if (t.type != embedding->type)
            continue;
        if (embedding->count < 0 || embedding->width < 1 ||
            (uint32_t)embedding->width % dtype_info(t.type)->block_weights != 0 ||
            (uintptr_t)embedding->weights % 16 != 0)
            return cudaErrorInvalidValue;
        if (embedding->count == 0)
            return cudaSuccess;
        return launch(t.kernel, dim3((unsigned)embedding->count), dim3(EMBED_THREADS), 0, stream,
                      *embedding, (size_t)dtype_row_bytes(t.type, (uint64_t)embedding->width));
    }
    return cudaErrorInvalidValue;
}
