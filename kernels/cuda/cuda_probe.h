/*
 * cuda_probe.h: one PTX wrapper at a time, on raw registers of one warp, so that
 * a run on a GPU ties the asm of ptx.cuh to the emulation that the other tests
 * rely on. Only tests call it.
 */
#ifndef CUDA_PROBE_H
#define CUDA_PROBE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum cuda_probe {
    CUDA_PROBE_MMA_S8_16832,
    CUDA_PROBE_MMA_S8_16816,
    CUDA_PROBE_MMA_F16,
    CUDA_PROBE_MMA_BF16,
    CUDA_PROBE_LDMATRIX_X4,
    CUDA_PROBE_LDMATRIX_X4_TRANS,
    CUDA_PROBE_LDMATRIX_X2,
    CUDA_PROBE_LDMATRIX_X2_TRANS,
    CUDA_PROBE_CP_ASYNC_16,
    CUDA_PROBE_CP_ASYNC_8,
    CUDA_PROBE_CP_ASYNC_4,
    CUDA_PROBE_CP_ASYNC_PART,
    CUDA_PROBE_EX2,
    CUDA_PROBE_COUNT
};

/*
 * in: device, 192 words. Lane l's a registers are in[4l..4l + 3], its b registers
 * in[128 + 2l], in[129 + 2l]; for ldmatrix and cp.async the first 128 words are
 * what is copied to shared memory (row r of matrix m: words 32m + 4r..). out:
 * device, 128 words, lane l's results from 4l on. mma start from d = 0. cp.async
 * copies for even lanes and leaves zeros for odd ones; of a part lane l copies l % 17
 * bytes. Returns a cudaError_t.
 */
int cuda_probe_run(uint32_t *out, const uint32_t *in, enum cuda_probe which, void *stream);

#ifdef __cplusplus
}
#endif
#endif
