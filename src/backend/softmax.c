/*
 * softmax.c: exponentials and sums over a vocabulary.
 *
 * The loops go over fixed groups of SOFTMAX_LANES elements without branches,
 * the form that the compiler turns into vector code for any instruction set.
 */
#include "softmax.h"

#include "compiler.h"

#include <math.h>
#include <string.h>

/* Below this e^x leaves the range of normal doubles. */
#define EXP_LOWEST -708.0

/* e^x = 2^k e^r with k = round(x / ln 2) and |r| <= ln(2)/2 = 0.347. The Taylor
 * terms of e^r up to r^12 leave out less than r^13/13! = 1.7e-16; with the
 * roundings of the sum the error stays below 6e-16. The terms are paired, so
 * that the chain of operations that wait for each other is short. */
ALWAYS_INLINE double exp_lane(double x)
{
    /* Adding 1.5 * 2^52 puts round(x / ln 2) into the low bits of the sum. */
    const double shifter = 0x1.8p52;
    double clamped = x < EXP_LOWEST ? EXP_LOWEST : x;
    double shifted = clamped * 0x1.71547652b82fep+0 + shifter;
    double k = shifted - shifter;
    /* ln 2 in two parts: k times the first is exact, it ends in zeros. */
    double r = (clamped - k * 0x1.62e42fee00000p-1) - k * 0x1.a39ef35793c76p-33;
    double r2, r4, low, middle, high, sum;
    double power;
    uint64_t bits;

    r2 = r * r;
    r4 = r2 * r2;
    low = (1.0 + r) + r2 * (1.0 / 2 + r * (1.0 / 6));
    middle = (1.0 / 24 + r * (1.0 / 120)) + r2 * (1.0 / 720 + r * (1.0 / 5040));
    high = (1.0 / 40320 + r * (1.0 / 362880)) + r2 * (1.0 / 3628800 + r * (1.0 / 39916800)) +
           r4 * (1.0 / 479001600);
    sum = low + r4 * (middle + r4 * high);
    memcpy(&bits, &shifted, sizeof bits);
    bits = (bits << 52) + (UINT64_C(1023) << 52);
    memcpy(&power, &bits, sizeof power);
    return x < EXP_LOWEST ? 0.0 : sum * power;
}

double softmax_exp(double x)
{
    return exp_lane(x);
}

float softmax_max(const float *row, int padded, int *bad)
{
    float max[SOFTMAX_LANES];
    int odd[SOFTMAX_LANES] = {0};
    float best = -INFINITY;

    for (int lane = 0; lane < SOFTMAX_LANES; lane++)
        max[lane] = -INFINITY;
    *bad = 0;
    for (int i = 0; i < padded; i += SOFTMAX_LANES)
        for (int lane = 0; lane < SOFTMAX_LANES; lane++) {
            float x = row[i + lane];
            max[lane] = x > max[lane] ? x : max[lane];
            odd[lane] |= !(x < INFINITY);
        }
    for (int lane = 0; lane < SOFTMAX_LANES; lane++) {
        best = MAX(best, max[lane]);
        *bad |= odd[lane];
    }
    return best;
}

static double lanes_add(const double lanes[SOFTMAX_LANES])
{
    return ((lanes[0] + lanes[1]) + (lanes[2] + lanes[3])) +
           ((lanes[4] + lanes[5]) + (lanes[6] + lanes[7]));
}

double softmax_sum(const float *row, int padded, double max, double scale)
{
    double lanes[SOFTMAX_LANES] = {0};

    for (int i = 0; i < padded; i += SOFTMAX_LANES)
        for (int lane = 0; lane < SOFTMAX_LANES; lane++)
            lanes[lane] += exp_lane((row[i + lane] - max) * scale);
    return lanes_add(lanes);
}

double softmax_weights(const float *row, int padded, double max, double scale, double *weights)
{
    double lanes[SOFTMAX_LANES] = {0};

    for (int i = 0; i < padded; i += SOFTMAX_LANES)
        for (int lane = 0; lane < SOFTMAX_LANES; lane++) {
            double weight = exp_lane((row[i + lane] - max) * scale);
            weights[i + lane] = weight;
            lanes[lane] += weight;
        }
    return lanes_add(lanes);
}

double softmax_total(const double *weights, int padded)
{
    double lanes[SOFTMAX_LANES] = {0};

    for (int i = 0; i < padded; i += SOFTMAX_LANES)
        for (int lane = 0; lane < SOFTMAX_LANES; lane++)
            lanes[lane] += weights[i + lane];
    return lanes_add(lanes);
}

double softmax_neg_entropy(const double *weights, int padded, double total)
{
    double sum = 0;

    for (int i = 0; i < padded; i++)
        if (weights[i] > 0) {
            double p = weights[i] / total;
            sum += p * log(p + 1e-10);
        }
    return sum;
}
