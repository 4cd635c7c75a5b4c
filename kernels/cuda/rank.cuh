/*
 * rank.cuh: the order of scores as one integer, so that a maximum also settles
 * ties: the higher score first, of equal ones the lower id.
 */
#pragma once
#include "gpu.cuh"

/* 64 bits as CUDA's atomics and shuffles take them. */
typedef unsigned long long rank_key;

/* Of no score; the key of NaN is above it and below that of -infinity. */
constexpr rank_key NO_RANK = 0;

/* Bits that order as floats do; -0 counts as 0, NaN as less than everything. */
static __device__ __forceinline__ unsigned ordered_bits(float score)
{
    const unsigned bits = __float_as_uint(score + 0.0f);

    if (!(score == score))
        return 0;
    return bits & 0x80000000u ? ~bits : bits | 0x80000000u;
}

/* Of a score with these ordered bits; id >= 0. */
static __device__ __forceinline__ rank_key rank_of_bits(unsigned bits, int id)
{
    return (rank_key)bits << 32 | (0xffffffffu - (unsigned)id);
}

static __device__ __forceinline__ rank_key rank_of(float score, int id)
{
    return rank_of_bits(ordered_bits(score), id);
}

/* At most that of any id with a score of these bits. */
static __device__ __forceinline__ rank_key lowest_rank(unsigned bits)
{
    return (rank_key)bits << 32;
}

static __device__ __forceinline__ int rank_id(rank_key key)
{
    return (int)(0xffffffffu - (unsigned)key);
}

/* The score of a key that came from a number. */
static __device__ __forceinline__ float rank_score(rank_key key)
{
    const unsigned bits = (unsigned)(key >> 32);

    return __uint_as_float(bits & 0x80000000u ? bits & 0x7fffffffu : ~bits);
}

static __device__ __forceinline__ rank_key rank_max(rank_key a, rank_key b)
{
    return a > b ? a : b;
}

/* The largest key of the warp, for all its lanes. */
static __device__ __forceinline__ rank_key warp_rank_max(rank_key key)
{
    UNROLL
    for (int bits = 16; bits; bits /= 2)
        key = rank_max(key, __shfl_xor_sync(ALL_LANES, key, bits));
    return key;
}
