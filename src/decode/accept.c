/*
 * accept.c: Fast-dLLM's and EB-Sampler's rules of how many tokens are sure enough.
 */
#include "accept.h"

int accept_threshold(const double *confidences, int count, double threshold)
{
    int accepted = 1;

    while (accepted < count && confidences[accepted] >= threshold)
        accepted++;
    return accepted;
}

/* The bound rises with q and confidences fall, so the accepted are a head. */
int accept_factor(const double *confidences, int count, double factor)
{
    int accepted = 1;

    while (accepted < count && confidences[accepted] >= 1 - factor / (accepted + 2))
        accepted++;
    return accepted == count - 1 ? count : accepted;
}

int accept_entropy(const double *confidences, int count, double bound)
{
    double sum = -confidences[0];
    int accepted = 1;

    while (accepted < count && sum <= bound)
        sum -= confidences[accepted++];
    return accepted;
}

bool accept_all(const struct pick *picks, int count, int step, int steps)
{
    double limit = step < (steps + 2) / 3 ? 7.5 : step < (2 * steps + 2) / 3 ? 5 : 2.5;
    double sum = 0;

    for (int i = 0; i < count; i++)
        sum += picks[i].gap;
    return sum >= limit * count;
}
