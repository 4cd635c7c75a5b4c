/*
 * planted_exchange.cu: one warp hands itself a matrix through shared memory, as
 * attention does between its two products.
 */
#include "planted.h"
#include "ptx.cuh"

static __global__ void exchange(float *out, const uint16_t *p, const uint16_t *v, int rounds,
                                Bug bug)
{
    __shared__ __align__(16) uint16_t matrix[16 * 8];
    const int lane = (int)threadIdx.x, group = lane / 4, t = lane % 4;
    float d[4] = {};
    const bool plain_reads = bug == SOUND_PLAIN_READS || bug == NO_SYNCWARP_BEFORE_READS ||
                             bug == NO_SYNCWARP_AFTER_READS;
    for (int round = 0; round < rounds; round++) {
        /* Lane l brings a row that lane l + 1 uses, so that nobody reads what it wrote itself. */
        const int row = (lane + 1) % 16;
        if (lane < 16)
            for (int i = 0; i < 8; i++)
                matrix[row * 8 + i] = v[row * 8 + i];
        if (bug != NO_SYNCWARP_BEFORE_READS && bug != NO_SYNCWARP_BEFORE_LDMATRIX)
            __syncwarp();
        uint32_t b[2];
        if (plain_reads) {
            for (int i = 0; i < 2; i++)
                b[i] = matrix[(2 * t + 8 * i) * 8 + group] |
                       (uint32_t)matrix[(2 * t + 8 * i + 1) * 8 + group] << 16;
        } else if (bug == NOT_TRANSPOSED) {
            ldmatrix_x2(b, matrix + lane % 16 * 8);
        } else {
            ldmatrix_x2_trans(b, matrix + lane % 16 * 8);
        }
        uint32_t a[4];
        for (int i = 0; i < 4; i++) {
            const int j = bug == WRONG_P_REGISTERS ? i ^ 1 : i;
            const uint16_t *from = p + (group + 8 * (j & 1)) * 16 + 2 * t + 8 * (j >> 1);
            a[i] = from[0] | (uint32_t)from[1] << 16;
        }
        for (int i = 0; i < 4; i++)
            d[i] *= 2;
        mma_f16_16816(d, a, b[0], b[1]);
        if (bug != NO_SYNCWARP_AFTER_READS)
            __syncwarp();
    }
    for (int i = 0; i < 4; i++)
        out[(group + 8 * (i / 2)) * 8 + 2 * t + i % 2] = d[i];
}

cudaError_t planted_exchange(float *out, const uint16_t *p, const uint16_t *v, int rounds, Bug bug)
{
    return launch(exchange, dim3(1), dim3(32), 0, nullptr, out, p, v, rounds, bug);
}
