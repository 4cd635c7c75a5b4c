/*
 * gpu.cuh: the one include of every kernel file. nvcc gets CUDA's headers; g++
 * gets the emulation of tests/cuda_emu, so that the same source runs and is
 * checked on a machine without a GPU.
 *
 * What both compilers understand of a kernel file:
 *  - Kernels are `static __global__`; an extern "C" launcher calls launch() and
 *    returns its error. No <<<>>>, and no asm outside ptx.cuh.
 *  - __shared__ arrays have a fixed size and a plain type. What is sized at
 *    launch is one struct at DYN_SMEM, whose sizeof is the launch's smem.
 *  - Warp collectives name all 32 lanes and all 32 reach them; a block is a
 *    multiple of 32 threads. No return before a later barrier.
 *  - What lanes hand each other through memory has a barrier (__syncwarp or
 *    __syncthreads) between write and read and between read and the next write.
 *  - No block waits for another; sums across blocks are atomics or a second
 *    launch. No benign races.
 *  - (size_t) before a product with a stride. fmaf() where a fused operation is
 *    wanted: nothing is contracted (-fmad=false, as -ffp-contract=off in C).
 *  - Bytes are read as words through aligned pointers, not by memcpy.
 */
#pragma once
#ifdef __CUDACC__
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#define DYN_SMEM(name) extern __shared__ __align__(128) unsigned char name[]
#define UNROLL         _Pragma("unroll")
#else
#include "cuda_emu.h"
#define DYN_SMEM(name) unsigned char *name = emu::dyn_smem()
#define UNROLL
#endif
#include <cstddef>
#include <cstdint>
#include <type_traits>

constexpr unsigned ALL_LANES = 0xffffffffu;

/*
 * launch(kernel<...>, grid, block, smem bytes, stream, arguments...): queues a
 * kernel; the arguments convert to the kernel's own types. Returns what
 * cudaLaunchKernel returns.
 */
template <class... Parameters>
static inline cudaError_t launch(void (*kernel)(Parameters...), dim3 grid, dim3 block, size_t smem,
                                 cudaStream_t stream,
                                 typename std::common_type<Parameters>::type... arguments)
{
#ifdef __CUDACC__
    void *pointers[] = {(void *)&arguments...};
    return cudaLaunchKernel((const void *)kernel, grid, block, pointers, smem, stream);
#else
    return emu::launch(kernel, grid, block, smem, stream, arguments...);
#endif
}

/* Lets a kernel have more than 48 KB of dynamic shared memory; call before its first launch. */
template <class... Parameters>
static inline cudaError_t allow_smem(void (*kernel)(Parameters...), size_t bytes)
{
    return cudaFuncSetAttribute((const void *)kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                (int)bytes);
}
