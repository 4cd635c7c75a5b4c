/*
 * prepare.cu: rows of f32 become inputs of matmuls: norm or gate, then every form
 * that the weights need, in one launch. A block takes a row, a warp 256 values of
 * it at a time, a lane eight of them that lie side by side.
 *
 * The float operations and their order are those of kernels/cpu (rms_norm and
 * gated of rows_body.h, prepare_ref.c): the bits are the CPU's. Its sum of squares
 * is sixteen chains, which is why one warp makes it from a copy of the row in
 * shared memory while the others wait: a chain of 4096 / 16 additions.
 */
#include "cuda_matmul.h"
#include "cuda_records.h"
#include "gpu.cuh"
#include "strict_exp.cuh"

#include "activations.h"

constexpr int PREPARE_WARPS = 8, PREPARE_THREADS = 32 * PREPARE_WARPS;
constexpr int NORM_CHAINS = 16;
/* Bytes of a row's copy that need no asking: 48 KB less what the static arrays take. */
constexpr size_t UNASKED_COPY = 47 * 1024;

/* A launch's arguments: what is asked for, and where the forms go. */
struct prepare_job {
    cuda_inputs in;
    cuda_activations out;
};

/* Eight values from p on, those past `count` as 0. */
static __device__ void load_eight(const float *p, int count, float (&v)[8])
{
    if (count >= 8 && (uintptr_t)p % 16 == 0) {
        const float4 a = ((const float4 *)p)[0], b = ((const float4 *)p)[1];

        v[0] = a.x, v[1] = a.y, v[2] = a.z, v[3] = a.w;
        v[4] = b.x, v[5] = b.y, v[6] = b.z, v[7] = b.w;
        return;
    }
    UNROLL
    for (int i = 0; i < 8; i++)
        v[i] = i < count ? p[i] : 0.0f;
}

/* Where a row's values come from. */
struct row_source {
    const float *x, *up, *norm; /* up and norm: NULL where there is none */
    float scale;                /* of the norm */
    int width;
};

/* Values at .. at + 7 as the matmul shall see them. */
static __device__ void eight_values(const row_source &row, int at, float (&v)[8])
{
    const int count = row.width - at;
    float other[8];

    load_eight(row.x + at, count, v);
    if (row.norm) {
        load_eight(row.norm + at, count, other);
        UNROLL
        for (int i = 0; i < 8; i++)
            v[i] = i < count ? v[i] * row.scale * other[i] : 0.0f; /* the scale may be NaN */
    } else if (row.up) {
        load_eight(row.up + at, count, other);
        UNROLL
        for (int i = 0; i < 8; i++)
            v[i] = v[i] / (1.0f + strict_exp(0.0f - v[i])) * other[i];
    }
}

/* Magnitudes compare as integers; a NaN is above infinity and wins. */
static __device__ uint32_t largest_of_eight(const float (&v)[8])
{
    uint32_t most = 0;

    UNROLL
    for (int i = 0; i < 8; i++)
        most = max(most, __float_as_uint(v[i]) & 0x7fffffffu);
    return most;
}

/* Over groups of `lanes` lanes. */
template <int LANES> static __device__ uint32_t largest_of_lanes(uint32_t most)
{
    UNROLL
    for (int bits = LANES / 2; bits; bits /= 2)
        most = max(most, __shfl_xor_sync(ALL_LANES, most, bits));
    return most;
}

/* Eight q as bytes of two words; returns their scale. */
static __device__ float quantize_eight(const float (&v)[8], uint32_t most_bits, uint32_t (&q)[2])
{
    const float most = __uint_as_float(most_bits);

    q[0] = q[1] = 0;
    if (most < ACTIVATION_TINY)
        return 0.0f;
    if (most_bits >= 0x7f800000u)
        return most;
    const float factor = 127.0f / most;
    UNROLL
    for (int i = 0; i < 8; i++)
        q[i / 4] |= (uint32_t)(__float2int_rn(v[i] * factor) & 255) << i % 4 * 8;
    return most / 127.0f;
}

static __device__ int sum_of_bytes(const uint32_t (&q)[2])
{
    return __dp4a((int)q[0], 0x01010101, __dp4a((int)q[1], 0x01010101, 0));
}

/* ---- A warp's 256 values as records; `at` is the place of the record of 256. ---- */

struct quantized {
    uint32_t q[2];
    float scale;
    int sum; /* of the 16 or 32 values that this lane's belong to */
};

static __device__ quantized quantize_256(const float (&v)[8])
{
    quantized r;

    r.scale = quantize_eight(v, largest_of_lanes<32>(largest_of_eight(v)), r.q);
    r.sum = sum_of_bytes(r.q);
    r.sum += __shfl_xor_sync(ALL_LANES, r.sum, 1);
    return r;
}

static __device__ void put_256(cuda_record_q8_256 *out, const quantized &r, int lane)
{
    *(uint2 *)(out->q + 8 * lane) = make_uint2(r.q[0], r.q[1]);
    if (lane % 2 == 0)
        out->sums[lane / 2] = __half_as_ushort(__float2half_rn((float)r.sum));
    if (lane == 0)
        *(float4 *)&out->scale = make_float4(r.scale, 0, 0, 0);
}

static __device__ quantized quantize_32(const float (&v)[8])
{
    quantized r;

    r.scale = quantize_eight(v, largest_of_lanes<4>(largest_of_eight(v)), r.q);
    r.sum = sum_of_bytes(r.q);
    r.sum += __shfl_xor_sync(ALL_LANES, r.sum, 1);
    r.sum += __shfl_xor_sync(ALL_LANES, r.sum, 2);
    return r;
}

static __device__ void put_32(cuda_record_q8_32 *out, const quantized &r, int lane)
{
    *(uint2 *)(out->q + 8 * lane) = make_uint2(r.q[0], r.q[1]);
    if (lane % 4 == 0) {
        out->scale[lane / 4] = r.scale;
        out->sum[lane / 4] = (int16_t)r.sum;
    }
}

/* part: which eighth of the record is this lane's. */
static __device__ void put_half(cuda_record_half *out, const uint32_t (&x)[4], float unit, int part)
{
    *(uint4 *)(out->x + 8 * part) = make_uint4(x[0], x[1], x[2], x[3]);
    if (part == 0)
        *(float4 *)&out->unit = make_float4(unit, 0, 0, 0);
}

static __device__ void put_f32(cuda_record_f32 *out, const float (&v)[8], int part)
{
    ((float4 *)out->x)[2 * part] = make_float4(v[0], v[1], v[2], v[3]);
    ((float4 *)out->x)[2 * part + 1] = make_float4(v[4], v[5], v[6], v[7]);
    if (part == 0)
        *(uint4 *)out->zero = make_uint4(0, 0, 0, 0);
}

/* The power of two that takes a magnitude with these bits to 2^14 or more, below
 * 2^15 (as near as f32 allows for a very small one), and its inverse. */
static __device__ void half_units(uint32_t most_bits, float &factor, float &unit)
{
    const uint32_t exponent = max(most_bits >> 23, 15u);

    factor = unit = 1.0f;
    if (most_bits == 0 || exponent >= 255)
        return;
    factor = __uint_as_float((268u - exponent) << 23);
    unit = __uint_as_float((exponent - 14u) << 23);
}

static __device__ void pack_f16(const float (&v)[8], float factor, uint32_t (&x)[4])
{
    UNROLL
    for (int i = 0; i < 4; i++) {
        const uint32_t low = __half_as_ushort(__float2half_rn(v[2 * i] * factor));
        const uint32_t high = __half_as_ushort(__float2half_rn(v[2 * i + 1] * factor));

        x[i] = low | high << 16;
    }
}

static __device__ void pack_bf16(const float (&v)[8], uint32_t (&x)[4])
{
    UNROLL
    for (int i = 0; i < 4; i++) {
        const uint32_t low = __bfloat16_as_ushort(__float2bfloat16_rn(v[2 * i]));
        const uint32_t high = __bfloat16_as_ushort(__float2bfloat16_rn(v[2 * i + 1]));

        x[i] = low | high << 16;
    }
}

/* What a row is scaled by for f16. */
struct half_scale {
    float factor, unit;
};

/* Calls put(token) for each token that the block's row becomes. */
template <class Put> static __device__ void each_token(const cuda_inputs &in, Put put)
{
    const size_t row = blockIdx.x;

    if (!in.slots)
        put(row);
    else
        for (int i = 0; i < in.used; i++)
            put((size_t)in.slots[row * (size_t)in.used + (size_t)i]);
}

/* All forms of super-block b of the block's row, by one warp. */
static __device__ void put_super_block(const prepare_job &job, const row_source &row, int b,
                                       half_scale f16)
{
    const int lane = (int)threadIdx.x % 32, width = row.width;
    const size_t tokens = (size_t)job.out.tokens, block = (size_t)b;
    const unsigned forms = job.out.forms;
    float v[8];

    eight_values(row, b * 256 + 8 * lane, v);
    if (forms & CUDA_FORM_Q8_256) {
        const quantized r = quantize_256(v);

        each_token(job.in, [&](size_t token) {
            put_256((cuda_record_q8_256 *)job.out.q8_256 + block * tokens + token, r, lane);
        });
    }
    if (forms & CUDA_FORM_Q8_32) {
        const quantized r = quantize_32(v);

        each_token(job.in, [&](size_t token) {
            put_32((cuda_record_q8_32 *)job.out.q8_32 + block * tokens + token, r, lane);
        });
    }
    const size_t half_at = block * 4 + (size_t)lane / 8, f32_at = block * 8 + (size_t)lane / 4;
    if (half_at * 64 < (size_t)width && forms & (CUDA_FORM_F16 | CUDA_FORM_BF16)) {
        uint32_t x16[4], xb[4];

        pack_f16(v, f16.factor, x16);
        pack_bf16(v, xb);
        each_token(job.in, [&](size_t token) {
            const size_t at = half_at * tokens + token;

            if (forms & CUDA_FORM_F16)
                put_half((cuda_record_half *)job.out.f16 + at, x16, f16.unit, lane % 8);
            if (forms & CUDA_FORM_BF16)
                put_half((cuda_record_half *)job.out.bf16 + at, xb, 1.0f, lane % 8);
        });
    }
    if (f32_at * 32 < (size_t)width && forms & CUDA_FORM_F32)
        each_token(job.in, [&](size_t token) {
            put_f32((cuda_record_f32 *)job.out.f32 + f32_at * tokens + token, v, lane % 4);
        });
}

/* ---- What a whole row gives: by all threads of its block. ---- */

/* 1 / sqrt(mean square + eps); copies the row to `copy` [width] on the way. */
static __device__ float row_norm_scale(const float *x, int width, float eps, float *copy)
{
    __shared__ float result;

    for (int i = (int)threadIdx.x; i < width; i += PREPARE_THREADS)
        copy[i] = x[i];
    __syncthreads();
    if (threadIdx.x < 32) {
        float sum = 0;

        for (int i = (int)threadIdx.x % NORM_CHAINS; i < width; i += NORM_CHAINS)
            sum = fmaf(copy[i], copy[i], sum);
        __syncwarp();
        UNROLL
        for (int bits = NORM_CHAINS / 2; bits; bits /= 2)
            sum += __shfl_xor_sync(ALL_LANES, sum, bits);
        if (threadIdx.x == 0)
            result = 1.0f / sqrtf(sum / (float)width + eps);
    }
    __syncthreads();
    return result;
}

/* Bits of the largest magnitude of the row. */
static __device__ uint32_t row_largest(const row_source &row)
{
    __shared__ uint32_t warps[PREPARE_WARPS];
    const int warp = (int)threadIdx.x / 32, lane = (int)threadIdx.x % 32;
    uint32_t most = 0;
    float v[8];

    for (int at = (int)threadIdx.x * 8; at < row.width; at += PREPARE_THREADS * 8) {
        eight_values(row, at, v);
        most = max(most, largest_of_eight(v));
    }
    __syncwarp();
    most = largest_of_lanes<32>(most);
    if (lane == 0)
        warps[warp] = most;
    __syncthreads();
    for (int w = 0; w < PREPARE_WARPS; w++)
        most = max(most, warps[w]);
    return most;
}

static __global__ void __launch_bounds__(PREPARE_THREADS) prepare_rows(prepare_job job)
{
    DYN_SMEM(smem); /* float [width] with a norm, else nothing */
    const size_t at = (size_t)blockIdx.x * (size_t)job.out.width;
    const int blocks = (job.out.width + 255) / 256;
    row_source row = {job.in.x + at, job.in.up ? job.in.up + at : nullptr, job.in.norm, 0.0f,
                      job.out.width};
    half_scale f16 = {1.0f, 1.0f};

    if (row.norm) {
        row.scale = row_norm_scale(row.x, row.width, job.in.eps, (float *)smem);
        row.x = (const float *)smem;
    }
    if (job.out.forms & CUDA_FORM_F16)
        half_units(row_largest(row), f16.factor, f16.unit);
    for (int b = (int)threadIdx.x / 32; b < blocks; b += PREPARE_WARPS)
        put_super_block(job, row, b, f16);
}

static bool inputs_are_valid(const cuda_inputs &in, const cuda_activations &out)
{
    if (in.rows < 0 || out.width < 1 || !out.forms || (in.norm && in.up))
        return false;
    if (in.norm && out.width > CUDA_NORM_MAX_WIDTH)
        return false;
    if (in.slots)
        return in.used >= 1 && (long long)in.rows * in.used <= out.tokens;
    return in.rows == out.tokens;
}

int cuda_prepare(const struct cuda_inputs *in, const struct cuda_activations *out,
                 struct CUstream_st *stream)
{
    const prepare_job job = {*in, *out};
    const size_t smem = in->norm ? (size_t)out->width * sizeof(float) : 0;

    if (!inputs_are_valid(*in, *out))
        return cudaErrorInvalidValue;
    if (in->rows == 0)
        return cudaSuccess;
    if (smem > UNASKED_COPY) {
        const cudaError_t error = allow_smem(prepare_rows, CUDA_NORM_MAX_WIDTH * sizeof(float));

        if (error != cudaSuccess)
            return error;
    }
    return launch(prepare_rows, dim3((unsigned)in->rows), dim3(PREPARE_THREADS), smem, stream, job);
}
