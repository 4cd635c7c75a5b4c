/*
 * cuda_ceiling.h: loops whose speed no product can pass on this card: the tensor cores'
 * instructions of the matmul kernels on registers alone, and the reading of memory. The
 * caller times them; their results keep compilers from leaving loops out, and show that
 * none was.
 *
 * Pointers, stream, errors and threads: as in cuda_rows.h. `blocks`, `loops` and `bytes`
 * are at least 1.
 */
#ifndef CUDA_CEILING_H
#define CUDA_CEILING_H

#include <stddef.h>
#include <stdint.h>

struct CUstream_st;

#ifdef __cplusplus
extern "C" {
#endif

/* Of a block; and sums of a warp that do not wait for each other. */
enum { CUDA_CEILING_THREADS = 512, CUDA_CEILING_CHAINS = 8 };

/* Operations of a block in a loop, two per multiply-add. */
enum {
    CUDA_CEILING_INT8_OPERATIONS =
        CUDA_CEILING_THREADS / 32 * CUDA_CEILING_CHAINS * 2 * 16 * 8 * 32,
    CUDA_CEILING_F16_OPERATIONS = CUDA_CEILING_THREADS / 32 * CUDA_CEILING_CHAINS * 2 * 16 * 8 * 16
};

/*
 * In each of `loops`, every warp adds to each chain c the product of A (16 x 32 of s8, or
 * 16 x 16 of f16) and B (32 x 8, 16 x 8), as ptx.cuh lays them out. Lane l has registers
 * r(i) = x ^ x >> 16, x = (13 l + i + 1) * 2654435761 modulo 2^32: A in i = 0..3, B in 4 + c
 * and 5 + c; for f16 each half of r(i) becomes one from 1/8 to 1/4 of either sign, r(i) &
 * 0x83ff83ff | 0x30003000. sums [blocks * CUDA_CEILING_THREADS]: of each thread the sum of
 * what it has of all chains, for s8 modulo 2^32. A block a multiprocessor fills it.
 */
int cuda_ceiling_int8(int blocks, int loops, uint32_t *sums, struct CUstream_st *stream);
int cuda_ceiling_f16(int blocks, int loops, float *sums, struct CUstream_st *stream);

/*
 * Reads data (on a multiple of 16, as is bytes) `loops` times, 16 bytes at once. sums
 * [blocks * CUDA_CEILING_THREADS]: together the sum of all 32-bit words times loops, modulo
 * 2^32. Three blocks a multiprocessor keep it busy, and fit on any.
 */
int cuda_ceiling_read(const void *data, size_t bytes, int blocks, int loops, uint32_t *sums,
                      struct CUstream_st *stream);

#ifdef __cplusplus
}
#endif

#endif
