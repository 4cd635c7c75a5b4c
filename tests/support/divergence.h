/*
 * divergence.h: how far logits are from the truth, as distributions.
 */
#ifndef DIVERGENCE_H
#define DIVERGENCE_H

#include <stddef.h>

/* KL(truth || other) in nats, the mean over rows; both [rows, vocab]. */
double divergence(const float *truth, const float *other, size_t rows, size_t vocab);

#endif
