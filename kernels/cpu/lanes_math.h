/*
 * lanes_math.h: exp, sums and partial loads over sixteen lanes. Include after
 * one of the lanes_*.h.
 */
#ifndef LANES_MATH_H
#define LANES_MATH_H

/*
 * e^x for -87 <= x <= 88; arguments outside are taken to the nearer end, NaN
 * goes through. Relative error below 2e-7 (checked over the whole range by
 * tests/check/test_rows.c).
 *
 * x = n ln 2 + r with |r| <= ln(2) / 2, n rounded by adding 1.5 * 2^23; e^r by
 * its Taylor polynomial of degree 7, whose first omitted term is below
 * 0.3466^8 / 8! = 5.2e-9.
 */
ALWAYS_INLINE struct lanes lanes_exp(struct lanes x)
{
    static const float taylor[] = {1.0f / 720, 1.0f / 120, 1.0f / 24, 1.0f / 6, 0.5f, 1.0f, 1.0f};
    const struct lanes magic = lanes_set1(0x1.8p23f);
    struct lanes t, n, r, p;

    x = lanes_min(lanes_set1(88.0f), lanes_max(lanes_set1(-87.0f), x));
    t = lanes_fma(x, lanes_set1(0x1.715476p0f), magic); /* log2(e) */
    n = lanes_sub(t, magic);
    r = lanes_fnma(n, lanes_set1(0x1.62e4p-1f), x);    /* high part of ln 2 */
    r = lanes_fnma(n, lanes_set1(0x1.7f7d1cp-20f), r); /* the rest */
    p = lanes_set1(1.0f / 5040);
    for (unsigned i = 0; i < ARRAY_COUNT(taylor); i++)
        p = lanes_fma(p, r, lanes_set1(taylor[i]));
    return lanes_mul(p, lanes_power_of_two(t));
}

/* Lane l and l + 8, then l + 4, l + 2, l + 1: the order is part of the result. */
ALWAYS_INLINE float lanes_sum(struct lanes a)
{
    float v[LANES];

    lanes_store(v, a);
    for (int half = LANES / 2; half; half /= 2)
        for (int i = 0; i < half; i++)
            v[i] += v[i + half];
    return v[0];
}

/* The largest lane; NaN in any lane may or may not show. */
ALWAYS_INLINE float lanes_largest(struct lanes a)
{
    float v[LANES];

    lanes_store(v, a);
    for (int half = LANES / 2; half; half /= 2)
        for (int i = 0; i < half; i++)
            v[i] = v[i] > v[i + half] ? v[i] : v[i + half];
    return v[0];
}

/* The first count values of p, the rest `fill`. */
ALWAYS_INLINE struct lanes lanes_load_part(const float *p, int count, float fill)
{
    float v[LANES];

    for (int i = 0; i < LANES; i++)
        v[i] = i < count ? p[i] : fill;
    return lanes_load(v);
}

ALWAYS_INLINE void lanes_store_part(float *p, struct lanes a, int count)
{
    float v[LANES];

    lanes_store(v, a);
    memcpy(p, v, sizeof *p * (size_t)count);
}

#endif
