/*
 * cuda_runtime_api.h: stands in for NVIDIA's header on machines without the CUDA
 * toolkit; only what this project uses, with the same values. For C and C++.
 */
#pragma once
#include <math.h>
#include <stddef.h>
#include <stdint.h>

#define __global__
#define __device__
#define __host__
#define __forceinline__ inline __attribute__((always_inline))
#define __align__(n)    __attribute__((aligned(n)))

typedef struct CUstream_st *cudaStream_t;

#ifdef __cplusplus
struct uint3 {
    unsigned x, y, z;
};
struct dim3 {
    unsigned x, y, z;
    constexpr dim3(unsigned a = 1, unsigned b = 1, unsigned c = 1) : x(a), y(b), z(c)
    {
    }
};
static inline uint3 make_uint3(unsigned x, unsigned y, unsigned z)
{
    return uint3{x, y, z};
}

#define EMU_VECTORS(T, N)                                                                          \
    struct __align__(2 * sizeof(T)) N##2                                                           \
    {                                                                                              \
        T x, y;                                                                                    \
    };                                                                                             \
    struct __align__(sizeof(T) == 8 ? 16 : 4 * sizeof(T)) N##4                                     \
    {                                                                                              \
        T x, y, z, w;                                                                              \
    };                                                                                             \
    static inline N##2 make_##N##2(T x, T y)                                                       \
    {                                                                                              \
        return N##2 {x, y};                                                                        \
    }                                                                                              \
    static inline N##4 make_##N##4(T x, T y, T z, T w)                                             \
    {                                                                                              \
        return N##4 {x, y, z, w};                                                                  \
    }
EMU_VECTORS(signed char, char)
EMU_VECTORS(unsigned char, uchar)
EMU_VECTORS(short, short)
EMU_VECTORS(unsigned short, ushort)
EMU_VECTORS(int, int)
EMU_VECTORS(unsigned, uint)
EMU_VECTORS(float, float)
#undef EMU_VECTORS
extern "C" {
#endif

enum cudaError {
    cudaSuccess = 0,
    cudaErrorInvalidValue = 1,
    cudaErrorMemoryAllocation = 2,
    cudaErrorInvalidConfiguration = 9,
};
typedef enum cudaError cudaError_t;
enum cudaMemcpyKind {
    cudaMemcpyHostToHost,
    cudaMemcpyHostToDevice,
    cudaMemcpyDeviceToHost,
    cudaMemcpyDeviceToDevice
};
enum cudaFuncAttribute { cudaFuncAttributeMaxDynamicSharedMemorySize = 8 };

/* NVIDIA's documentation of the runtime API says what each does. */
cudaError_t cudaGetDeviceCount(int *count);
cudaError_t cudaMalloc(void **devPtr, size_t size);
cudaError_t cudaFree(void *devPtr);
cudaError_t cudaMemcpy(void *dst, const void *src, size_t count, enum cudaMemcpyKind kind);
cudaError_t cudaMemcpyAsync(void *dst, const void *src, size_t count, enum cudaMemcpyKind kind,
                            cudaStream_t stream);
cudaError_t cudaMemset(void *devPtr, int value, size_t count);
cudaError_t cudaDeviceSynchronize(void);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
cudaError_t cudaGetLastError(void);
const char *cudaGetErrorString(cudaError_t error);
cudaError_t cudaFuncSetAttribute(const void *func, enum cudaFuncAttribute attr, int value);
#ifdef __cplusplus
}
#endif
