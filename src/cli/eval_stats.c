/* eval_stats.c: the paired interval and the exact test. */
#include "eval_stats.h"

#include <math.h>

static const double z = 1.959963984540054; /* 97.5 % of a normal distribution lie below */

struct share {
    double value, low, high;
};

/* Wilson's score interval. */
static struct share wilson(int right, int asked)
{
    double n = asked, p = right / n, square = z * z;
    double middle = 2 * n * p + square, reach = z * sqrt(square + 4 * n * p * (1 - p));

    return (struct share){p, (middle - reach) / (2 * (n + square)),
                          (middle + reach) / (2 * (n + square))};
}

/* Newcombe's estimate of the correlation between the two answers to a question. */
static double correlation(const struct eval_pairs *pairs)
{
    double a = pairs->both, b = pairs->only_this, c = pairs->only_other, d = pairs->neither;
    double margins = (a + b) * (c + d) * (a + c) * (b + d), half = (a + b + c + d) / 2;
    double product = a * d - b * c;

    if (margins == 0)
        return 0;
    if (product > 0)
        product = product > half ? product - half : 0;
    return product / sqrt(margins);
}

/* The length of the side across from two sides with this cosine between them. */
static double across(double one, double other, double cosine)
{
    return sqrt(one * one - 2 * cosine * one * other + other * other);
}

struct eval_difference eval_paired_difference(const struct eval_pairs *pairs)
{
    int asked = pairs->both + pairs->only_this + pairs->only_other + pairs->neither;
    double cosine = correlation(pairs);
    struct share own, other;
    struct eval_difference out = {0};

    if (asked == 0)
        return out;
    own = wilson(pairs->both + pairs->only_this, asked);
    other = wilson(pairs->both + pairs->only_other, asked);
    out.value = own.value - other.value;
    out.low = out.value - across(own.value - own.low, other.high - other.value, cosine);
    out.high = out.value + across(other.value - other.low, own.high - own.value, cosine);
    return out;
}

double eval_mcnemar(int better, int worse)
{
    int total = better + worse, least = better < worse ? better : worse;
    double sum = 0;

    for (int k = 0; k <= least; k++)
        sum += exp(lgamma(total + 1) - lgamma(k + 1) - lgamma(total - k + 1) - total * log(2));
    return sum > 0.5 ? 1 : 2 * sum;
}
