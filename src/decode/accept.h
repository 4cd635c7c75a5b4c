/*
 * accept.h: how many positions a step commits when confidence decides instead
 * of a schedule (Fast-dLLM, arXiv 2505.22618; EB-Sampler, arXiv 2505.24857) or ends it early.
 *
 * confidences [count] are sorted, the surest first; count is at least 1. Every
 * rule accepts at least the first and at most all.
 */
#ifndef ACCEPT_H
#define ACCEPT_H

#include "pick.h"

/* The first and every other that is at least the threshold. */
int accept_threshold(const double *confidences, int count, double threshold);

/* The first and every q-th (q >= 2) that is at least 1 - factor / (q + 1). As
 * published, one short of all is all. */
int accept_factor(const double *confidences, int count, double factor);

/* Confidences are entropies with their sign turned: the longest head whose
 * entropies without the largest of them, the last, add up to at most the bound. */
int accept_entropy(const double *confidences, int count, double bound);

/* Whether all picks [count] are committed at step `step` of `steps` of a block
 * (Prophet, arXiv 2508.19982): the mean of their gaps between the two highest
 * logits is at least 7.5 in the first third of the steps, 5 in the second, 2.5
 * in the last. */
bool accept_all(const struct pick *picks, int count, int step, int steps);

#endif
