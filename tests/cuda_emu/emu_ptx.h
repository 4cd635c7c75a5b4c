/*
 * emu_ptx.h: the other half of kernels/cuda/ptx.cuh, for g++: the same names,
 * computed as the PTX ISA defines them (tensor_core.cpp, async_copy.cpp).
 */
#pragma once
#include "cuda_emu.h"
#define PTX_FN static inline

namespace emu
{
/* A lane's registers of an mma: d is int[4] or float[4]. */
struct MmaRegisters {
    void *d;
    const uint32_t *a, *b;
};
/* WarpFunctions (emu_warp.h) over MmaRegisters. */
void mma_s8_k32(unsigned mask, void **arguments);
void mma_s8_k16(unsigned mask, void **arguments);
void mma_f16_k16(unsigned mask, void **arguments);
void mma_bf16_k16(unsigned mask, void **arguments);

/* A lane's registers of an ldmatrix of 2 or 4 matrices, and its row's address. */
struct MatrixLoad {
    uint32_t *r;
    const void *row;
    int matrices;
    bool transposed;
};
/* The same over MatrixLoad. */
void load_matrices(unsigned mask, void **arguments);

/* Begins a copy of 4, 8 or 16 bytes, closes a group, waits for all but the newest groups. */
void cp_async(void *dst, const void *src, int bytes, int filled);
void cp_commit();
void cp_wait(int newest);
} // namespace emu

PTX_FN void mma_s8_16832(int (&d)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1)
{
    const uint32_t b[2] = {b0, b1};
    emu::MmaRegisters registers{d, a, b};
    emu::warp_collective(emu::mma_s8_k32, ~0u, &registers, "mma.m16n8k32.s8");
}

PTX_FN void mma_s8_16816(int (&d)[4], uint32_t a0, uint32_t a1, uint32_t b0)
{
    const uint32_t a[2] = {a0, a1};
    emu::MmaRegisters registers{d, a, &b0};
    emu::warp_collective(emu::mma_s8_k16, ~0u, &registers, "mma.m16n8k16.s8");
}

PTX_FN void mma_f16_16816(float (&d)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1)
{
    const uint32_t b[2] = {b0, b1};
    emu::MmaRegisters registers{d, a, b};
    emu::warp_collective(emu::mma_f16_k16, ~0u, &registers, "mma.m16n8k16.f16");
}

PTX_FN void mma_bf16_16816(float (&d)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1)
{
    const uint32_t b[2] = {b0, b1};
    emu::MmaRegisters registers{d, a, b};
    emu::warp_collective(emu::mma_bf16_k16, ~0u, &registers, "mma.m16n8k16.bf16");
}

PTX_FN void ldmatrix_x4(uint32_t (&r)[4], const void *row)
{
    emu::MatrixLoad load{r, row, 4, false};
    emu::warp_collective(emu::load_matrices, ~0u, &load, "ldmatrix.x4");
}

PTX_FN void ldmatrix_x4_trans(uint32_t (&r)[4], const void *row)
{
    emu::MatrixLoad load{r, row, 4, true};
    emu::warp_collective(emu::load_matrices, ~0u, &load, "ldmatrix.x4.trans");
}

PTX_FN void ldmatrix_x2(uint32_t (&r)[2], const void *row)
{
    emu::MatrixLoad load{r, row, 2, false};
    emu::warp_collective(emu::load_matrices, ~0u, &load, "ldmatrix.x2");
}

PTX_FN void ldmatrix_x2_trans(uint32_t (&r)[2], const void *row)
{
    emu::MatrixLoad load{r, row, 2, true};
    emu::warp_collective(emu::load_matrices, ~0u, &load, "ldmatrix.x2.trans");
}

PTX_FN void cp_async16(void *dst, const void *src, bool full)
{
    emu::cp_async(dst, src, 16, full ? 16 : 0);
}

PTX_FN void cp_async16_part(void *dst, const void *src, int bytes)
{
    emu::cp_async(dst, src, 16, bytes);
}

PTX_FN void cp_async8(void *dst, const void *src, bool full)
{
    emu::cp_async(dst, src, 8, full ? 8 : 0);
}

PTX_FN void cp_async4(void *dst, const void *src, bool full)
{
    emu::cp_async(dst, src, 4, full ? 4 : 0);
}

PTX_FN void cp_async_commit()
{
    emu::cp_commit();
}

template <int N> PTX_FN void cp_async_wait()
{
    emu::cp_wait(N);
}

PTX_FN float ex2(float x)
{
    const float y = emu::off_by(2, exp2f(x), x);
    return y < 0x1p-126f ? 0.0f : y;
}
