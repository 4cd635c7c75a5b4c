/*
 * softmax.h: the vocabulary-wide sums behind a pick, in doubles, with an
 * exponential written so that any compiler can keep it in vector registers.
 *
 * A row here is f32, padded with -infinity to a multiple of SOFTMAX_LANES, and
 * 64-byte aligned. Sums run over SOFTMAX_LANES interleaved partial sums that
 * are added in one fixed order: the bits do not depend on the vector width.
 */
#ifndef SOFTMAX_H
#define SOFTMAX_H

#include <stdint.h>

#define SOFTMAX_LANES 8

/* e^x for x <= 0 (and -infinity), within 1e-15 of the true value relatively;
 * 0 below -708, where the true value is under 4e-308. */
double softmax_exp(double x);

/* Largest element of row [padded]; -infinity if nothing is finite. *bad is set
 * to whether there is NaN or +infinity in it. */
float softmax_max(const float *row, int padded, int *bad);

/* Sum of e^((row[i] - max) * scale), max being at least every element. */
double softmax_sum(const float *row, int padded, double max, double scale);

/* The same, keeping the terms in weights [padded], 64-byte aligned. */
double softmax_weights(const float *row, int padded, double max, double scale, double *weights);

/* Sum of weights [padded]. */
double softmax_total(const double *weights, int padded);

/* Sum over weights w > 0 of p ln(p + 1e-10), p = w / total: the entropy with
 * its sign turned, as Dream's published code defines it. */
double softmax_neg_entropy(const double *weights, int padded, double total);

#endif
