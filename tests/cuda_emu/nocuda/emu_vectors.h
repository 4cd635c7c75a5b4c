/*
 * emu_vectors.h: CUDA's vector types, part of the stand-in headers.
 */
#pragma once

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
    struct __align__(4 * sizeof(T)) N##4                                                           \
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
