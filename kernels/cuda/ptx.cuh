/*
 * ptx.cuh: every PTX instruction of the project, as a named wrapper; the only
 * asm there is. tests/cuda_emu/emu_ptx.h defines the same names for g++ with the
 * fragment layouts of the PTX ISA, and tests/cuda/test_ptx.cpp compares each
 * with them, one by one, on whatever runs it.
 *
 * Fragments of an mma, for lane l with group g = l / 4 and t = l % 4:
 *   C, D  16 x 8   d[i] is row g + 8 (i / 2), column 2t + i % 2
 *   A s8  16 x 32  byte j of a[i]: row g + 8 (i % 2), column 4t + j + 16 (i / 2)
 *   B s8  32 x 8   byte j of b_i: row 4t + j + 16 i, column g
 *   A f16 16 x 16  half j of a[i]: row g + 8 (i % 2), column 2t + j + 8 (i / 2)
 *   B f16 16 x 8   half j of b_i: row 2t + j + 8 i, column g
 * The k16 form for s8 has a0, a1 (rows g, g + 8) and b0 alone.
 */
#pragma once
#include "gpu.cuh"
#ifdef __CUDACC__
#define PTX_FN static __device__ __forceinline__

PTX_FN uint32_t smem_addr(const void *shared)
{
    return (uint32_t)__cvta_generic_to_shared(shared);
}

/* d += a (16 x 32, s8) * b (32 x 8, s8), exact. */
PTX_FN void mma_s8_16832(int (&d)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1)
{
    asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 "
                 "{%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9},{%0,%1,%2,%3};"
                 : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

/* d += a (16 x 16, s8) * b (16 x 8, s8), exact. */
PTX_FN void mma_s8_16816(int (&d)[4], uint32_t a0, uint32_t a1, uint32_t b0)
{
    asm volatile("mma.sync.aligned.m16n8k16.row.col.s32.s8.s8.s32 "
                 "{%0,%1,%2,%3},{%4,%5},{%6},{%0,%1,%2,%3};"
                 : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
                 : "r"(a0), "r"(a1), "r"(b0));
}

/* d += a (16 x 16, f16) * b (16 x 8, f16), sums in f32. */
PTX_FN void mma_f16_16816(float (&d)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1)
{
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
                 "{%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9},{%0,%1,%2,%3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

/* d += a (16 x 16, bf16) * b (16 x 8, bf16), sums in f32. */
PTX_FN void mma_bf16_16816(float (&d)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1)
{
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
                 "{%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9},{%0,%1,%2,%3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

/*
 * Matrices of 8 x 8 halves from shared memory. Lane 8m + r gives the address of
 * row r of matrix m, a multiple of 16 bytes. Lane l gets in r[m] the halves
 * (l / 4, 2 (l % 4)) and the one right of it; with trans those of the transposed
 * matrix. The x2 forms read the addresses of lanes 0..15.
 */
PTX_FN void ldmatrix_x4(uint32_t (&r)[4], const void *row)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3},[%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(smem_addr(row))
                 : "memory");
}

PTX_FN void ldmatrix_x4_trans(uint32_t (&r)[4], const void *row)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3},[%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(smem_addr(row))
                 : "memory");
}

PTX_FN void ldmatrix_x2(uint32_t (&r)[2], const void *row)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0,%1},[%2];"
                 : "=r"(r[0]), "=r"(r[1])
                 : "r"(smem_addr(row))
                 : "memory");
}

PTX_FN void ldmatrix_x2_trans(uint32_t (&r)[2], const void *row)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0,%1},[%2];"
                 : "=r"(r[0]), "=r"(r[1])
                 : "r"(smem_addr(row))
                 : "memory");
}

/*
 * Asynchronous copies, global to shared, 16, 8 or 4 bytes; both addresses are
 * multiples of that. With full == false src is not read and zeros are written; of
 * a part the first `bytes` (0..16) come from src, the others are zeros.
 * Copies belong to the group that the next commit closes; wait<n> returns when
 * at most the n newest groups of this thread are under way. Other threads may
 * read what arrived after a barrier behind the wait.
 */
PTX_FN void cp_async16(void *dst, const void *src, bool full)
{
    asm volatile("cp.async.cg.shared.global [%0],[%1],16,%2;" ::"r"(smem_addr(dst)), "l"(src),
                 "r"(full ? 16 : 0)
                 : "memory");
}

PTX_FN void cp_async16_part(void *dst, const void *src, int bytes)
{
    asm volatile("cp.async.cg.shared.global [%0],[%1],16,%2;" ::"r"(smem_addr(dst)), "l"(src),
                 "r"(bytes)
                 : "memory");
}

PTX_FN void cp_async8(void *dst, const void *src, bool full)
{
    asm volatile("cp.async.ca.shared.global [%0],[%1],8,%2;" ::"r"(smem_addr(dst)), "l"(src),
                 "r"(full ? 8 : 0)
                 : "memory");
}

PTX_FN void cp_async4(void *dst, const void *src, bool full)
{
    asm volatile("cp.async.ca.shared.global [%0],[%1],4,%2;" ::"r"(smem_addr(dst)), "l"(src),
                 "r"(full ? 4 : 0)
                 : "memory");
}

PTX_FN void cp_async_commit()
{
    asm volatile("cp.async.commit_group;" ::: "memory");
}

template <int N> PTX_FN void cp_async_wait()
{
    asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory");
}

/* 2^x with a relative error of 2^-22; subnormal results are zero. */
PTX_FN float ex2(float x)
{
    float y;
    asm("ex2.approx.ftz.f32 %0,%1;" : "=f"(y) : "f"(x));
    return y;
}
#else
#include "emu_ptx.h"
#endif
