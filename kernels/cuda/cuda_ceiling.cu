/*
 * cuda_ceiling.cu: loops that bound the speed of products (cuda_ceiling.h).
 *
 * A multiply takes some thirty cycles until its sums can be used and a multiprocessor has
 * four tensor cores: 16 warps with 8 chains keep 32 multiplies under way on each. Operands
 * look like random numbers, since a card slows down where more of its bits change. Reading
 * needs some 40 KB under way on each multiprocessor; three blocks of 512 threads with four
 * loads of 16 bytes have 96.
 */
#include "cuda_ceiling.h"
#include "ptx.cuh"

constexpr int THREADS = CUDA_CEILING_THREADS, CHAINS = CUDA_CEILING_CHAINS, LOADS = 4;

static __device__ void multiply_add(int (&d)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1)
{
    mma_s8_16832(d, a, b0, b1);
}

static __device__ void multiply_add(float (&d)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1)
{
    mma_f16_16816(d, a, b0, b1);
}

/* Register i of this lane. */
template <class Sum> static __device__ uint32_t operand(int i)
{
    const uint32_t x = (threadIdx.x % 32 * 13 + (uint32_t)i + 1) * 2654435761u, r = x ^ x >> 16;

    return std::is_same<Sum, int>::value ? r : (r & 0x83ff83ffu) | 0x30003000u;
}

/* Total: what Sum is added up in, which may wrap. */
template <class Sum, class Total>
static __global__ void __launch_bounds__(THREADS) multiply_loop(int loops, Total *sums)
{
    uint32_t a[4], b[CHAINS + 1];
    Sum d[CHAINS][4] = {};
    Total total = 0;

    UNROLL
    for (int i = 0; i < 4; i++)
        a[i] = operand<Sum>(i);
    UNROLL
    for (int i = 0; i <= CHAINS; i++)
        b[i] = operand<Sum>(4 + i);
    for (int loop = 0; loop < loops; loop++) {
        UNROLL
        for (int c = 0; c < CHAINS; c++)
            multiply_add(d[c], a, b[c], b[c + 1]);
    }
    UNROLL
    for (int c = 0; c < CHAINS; c++) {
        UNROLL
        for (int i = 0; i < 4; i++)
            total += (Total)d[c][i];
    }
    sums[(size_t)blockIdx.x * THREADS + threadIdx.x] = total;
}

template <class Sum, class Total>
static int launch_multiply(int blocks, int loops, Total *sums, cudaStream_t stream)
{
    if (blocks < 1 || loops < 1)
        return cudaErrorInvalidValue;
    return launch(multiply_loop<Sum, Total>, dim3((unsigned)blocks), dim3(THREADS), 0, stream,
                  loops, sums);
}

int cuda_ceiling_int8(int blocks, int loops, uint32_t *sums, struct CUstream_st *stream)
{
    return launch_multiply<int>(blocks, loops, sums, stream);
}

int cuda_ceiling_f16(int blocks, int loops, float *sums, struct CUstream_st *stream)
{
    return launch_multiply<float>(blocks, loops, sums, stream);
}

static __device__ uint32_t sum_of(const uint4 &v)
{
    return v.x + v.y + v.z + v.w;
}

/* All blocks go through the data side by side. */
static __global__ void __launch_bounds__(THREADS)
    read_loop(const uint4 *data, size_t units, int loops, uint32_t *sums)
{
    const size_t first = (size_t)blockIdx.x * THREADS + threadIdx.x;
    const size_t step = (size_t)gridDim.x * THREADS;
    uint32_t sum = 0;

    for (int loop = 0; loop < loops; loop++) {
        size_t at = first;

        for (; at + (LOADS - 1) * step < units; at += LOADS * step) {
            uint4 v[LOADS];

            UNROLL
            for (int i = 0; i < LOADS; i++)
                v[i] = data[at + (size_t)i * step];
            UNROLL
            for (int i = 0; i < LOADS; i++)
                sum += sum_of(v[i]);
        }
        for (; at < units; at += step)
            sum += sum_of(data[at]);
    }
    sums[first] = sum;
}

int cuda_ceiling_read(const void *data, size_t bytes, int blocks, int loops, uint32_t *sums,
                      struct CUstream_st *stream)
{
    if (blocks < 1 || loops < 1 || bytes < sizeof(uint4) ||
        ((uintptr_t)data | bytes) % sizeof(uint4) != 0)
        return cudaErrorInvalidValue;
    return launch(read_loop, dim3((unsigned)blocks), dim3(THREADS), 0, stream, (const uint4 *)data,
                  bytes / sizeof(uint4), loops, sums);
}
