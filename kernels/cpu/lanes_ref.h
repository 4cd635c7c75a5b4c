/*
 * lanes_ref.h: sixteen floats side by side, in plain C. The kernel bodies
 * (rows_body.h, attention_body.h) are written once over these few operations;
 * lanes_avx2.h and lanes_avx512.h offer the same ones as instructions. Every
 * operation is one IEEE operation per lane, so all three give the same bits.
 */
#ifndef LANES_H
#define LANES_H

#include "compiler.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

enum { LANES = 16 };

struct lanes {
    float v[LANES];
};

#define LANES_EACH(expression)                                                                     \
    struct lanes r;                                                                                \
    for (int i = 0; i < LANES; i++)                                                                \
        r.v[i] = (expression);                                                                     \
    return r

ALWAYS_INLINE struct lanes lanes_load(const float *p)
{
    LANES_EACH(p[i]);
}

ALWAYS_INLINE void lanes_store(float *p, struct lanes a)
{
    memcpy(p, a.v, sizeof a.v);
}

ALWAYS_INLINE struct lanes lanes_set1(float x)
{
    LANES_EACH(x);
}

ALWAYS_INLINE struct lanes lanes_add(struct lanes a, struct lanes b)
{
    LANES_EACH(a.v[i] + b.v[i]);
}

ALWAYS_INLINE struct lanes lanes_sub(struct lanes a, struct lanes b)
{
    LANES_EACH(a.v[i] - b.v[i]);
}

ALWAYS_INLINE struct lanes lanes_mul(struct lanes a, struct lanes b)
{
    LANES_EACH(a.v[i] * b.v[i]);
}

ALWAYS_INLINE struct lanes lanes_div(struct lanes a, struct lanes b)
{
    LANES_EACH(a.v[i] / b.v[i]);
}

/* a * b + c, rounded once. */
ALWAYS_INLINE struct lanes lanes_fma(struct lanes a, struct lanes b, struct lanes c)
{
    LANES_EACH(fmaf(a.v[i], b.v[i], c.v[i]));
}

/* c - a * b, rounded once. */
ALWAYS_INLINE struct lanes lanes_fnma(struct lanes a, struct lanes b, struct lanes c)
{
    LANES_EACH(fmaf(-a.v[i], b.v[i], c.v[i]));
}

/* The larger; b when the two do not compare, as the instruction has it: a
 * constant first lets a NaN through. */
ALWAYS_INLINE struct lanes lanes_max(struct lanes a, struct lanes b)
{
    LANES_EACH(a.v[i] > b.v[i] ? a.v[i] : b.v[i]);
}

/* The smaller; b when the two do not compare. */
ALWAYS_INLINE struct lanes lanes_min(struct lanes a, struct lanes b)
{
    LANES_EACH(a.v[i] < b.v[i] ? a.v[i] : b.v[i]);
}

/* 2^n for t = n + 1.5 * 2^23, whose low bits hold n (-126 <= n <= 127). */
ALWAYS_INLINE struct lanes lanes_power_of_two(struct lanes t)
{
    struct lanes r;

    for (int i = 0; i < LANES; i++) {
        uint32_t bits;

        memcpy(&bits, &t.v[i], sizeof bits);
        bits = (bits << 23) + 0x3f800000u;
        memcpy(&r.v[i], &bits, sizeof bits);
    }
    return r;
}

#undef LANES_EACH

#endif
