/* divergence.c: see divergence.h. */
#include "divergence.h"

#include <math.h>

/* log of the sum of exponentials, in doubles. */
static double log_total(const float *logits, size_t vocab)
{
    double top = -INFINITY, sum = 0;

    for (size_t i = 0; i < vocab; i++)
        top = fmax(top, (double)logits[i]);
    for (size_t i = 0; i < vocab; i++)
        sum += exp((double)logits[i] - top);
    return top + log(sum);
}

double divergence(const float *truth, const float *other, size_t rows, size_t vocab)
{
    double sum = 0;

    for (size_t r = 0; r < rows; r++, truth += vocab, other += vocab) {
        double truth_total = log_total(truth, vocab), other_total = log_total(other, vocab);

        for (size_t i = 0; i < vocab; i++) {
            double p = (double)truth[i] - truth_total, q = (double)other[i] - other_total;

            sum += exp(p) * (p - q);
        }
    }
    return sum / (double)rows;
}
