/* cross_entropy.c: the softmax of one id; the row is copied once, to be padded. */
#include "cross_entropy.h"

#include "compiler.h"
#include "softmax.h"

#include <math.h>
#include <string.h>

size_t cross_entropy_scratch_bytes(int vocab)
{
    return sizeof(float) * (size_t)ROUND_UP(vocab, CACHE_LINE / (int)sizeof(float));
}

double cross_entropy_row(const float *logits, int vocab, int32_t target, void *scratch)
{
    int padded = (int)(cross_entropy_scratch_bytes(vocab) / sizeof(float)), bad;
    float *row = scratch, max;

    memcpy(row, logits, sizeof *row * (size_t)vocab);
    for (int id = vocab; id < padded; id++)
        row[id] = -INFINITY;
    max = softmax_max(row, padded, &bad);
    if (bad || max == -INFINITY)
        return NAN;
    return log(softmax_sum(row, padded, max, 1.0)) - ((double)row[target] - max);
}
