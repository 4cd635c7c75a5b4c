/*
 * cuda_probe.cu: each wrapper of ptx.cuh alone (cuda_probe.h).
 */
#include "cuda_probe.h"
#include "ptx.cuh"

static __device__ void probe_mma(uint32_t (&r)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1,
                                 int which)
{
    int sums[4] = {};
    float floats[4] = {};
    if (which == CUDA_PROBE_MMA_S8_16832)
        mma_s8_16832(sums, a, b0, b1);
    else if (which == CUDA_PROBE_MMA_S8_16816)
        mma_s8_16816(sums, a[0], a[1], b0);
    else if (which == CUDA_PROBE_MMA_F16)
        mma_f16_16816(floats, a, b0, b1);
    else
        mma_bf16_16816(floats, a, b0, b1);
    for (int i = 0; i < 4; i++)
        r[i] = which <= CUDA_PROBE_MMA_S8_16816 ? (uint32_t)sums[i] : __float_as_uint(floats[i]);
}

static __device__ void probe_ldmatrix(uint32_t (&r)[4], const uint32_t *row, int which)
{
    uint32_t two[2] = {0, 0};
    if (which == CUDA_PROBE_LDMATRIX_X4)
        ldmatrix_x4(r, row);
    else if (which == CUDA_PROBE_LDMATRIX_X4_TRANS)
        ldmatrix_x4_trans(r, row);
    else if (which == CUDA_PROBE_LDMATRIX_X2)
        ldmatrix_x2(two, row);
    else
        ldmatrix_x2_trans(two, row);
    if (which >= CUDA_PROBE_LDMATRIX_X2) {
        r[0] = two[0];
        r[1] = two[1];
    }
}

/* 16 bytes of this lane, in pieces of the size that is probed. */
static __device__ void probe_copy(uint32_t *to, const uint32_t *from, int which, bool full)
{
    if (which == CUDA_PROBE_CP_ASYNC_8) {
        cp_async8(to, from, full);
        cp_async8(to + 2, from + 2, full);
    } else if (which == CUDA_PROBE_CP_ASYNC_4) {
        for (int i = 0; i < 4; i++)
            cp_async4(to + i, from + i, full);
    } else if (which == CUDA_PROBE_CP_ASYNC_PART) {
        cp_async16_part(to, from, (int)threadIdx.x % 17);
    } else {
        cp_async16(to, from, full);
    }
    cp_async_commit();
    cp_async_wait<0>();
    __syncwarp();
}

static __global__ void probe(uint32_t *out, const uint32_t *in, int which)
{
    __shared__ __align__(128) uint32_t rows[32 * 4];
    const int lane = (int)threadIdx.x;
    const uint32_t *mine = in + lane * 4;
    const uint32_t a[4] = {mine[0], mine[1], mine[2], mine[3]};
    uint32_t r[4] = {0, 0, 0, 0};
    if (which <= CUDA_PROBE_MMA_BF16) {
        probe_mma(r, a, in[128 + lane * 2], in[129 + lane * 2], which);
    } else if (which <= CUDA_PROBE_LDMATRIX_X2_TRANS) {
        probe_copy(rows + lane * 4, mine, CUDA_PROBE_CP_ASYNC_16, true);
        probe_ldmatrix(r, rows + lane * 4, which);
    } else if (which <= CUDA_PROBE_CP_ASYNC_PART) {
        probe_copy(rows + lane * 4, mine, which, lane % 2 == 0);
        for (int i = 0; i < 4; i++)
            r[i] = rows[lane * 4 + i];
    } else {
        for (int i = 0; i < 4; i++)
            r[i] = __float_as_uint(ex2(__uint_as_float(a[i])));
    }
    for (int i = 0; i < 4; i++)
        out[lane * 4 + i] = r[i];
}

int cuda_probe_run(uint32_t *out, const uint32_t *in, enum cuda_probe which, void *stream)
{
    return launch(probe, dim3(1), dim3(32), 0, (cudaStream_t)stream, out, in, (int)which);
}
