/*
 * double_forward.h: the transformer as a plain loop in double precision: what
 * forward.c is compared with. F32 models of up to DOUBLE_LAYERS layers and rows
 * of up to DOUBLE_WIDEST values.
 */
#ifndef DOUBLE_FORWARD_H
#define DOUBLE_FORWARD_H

#include "forward.h"

enum { DOUBLE_TOKENS = 21, DOUBLE_WIDEST = 256, DOUBLE_LAYERS = 3 };

/* Logits [DOUBLE_TOKENS, vocab] of a pass over positions [low, high) of ids
 * [DOUBLE_TOKENS] into out, those of the other positions undefined. Keys and
 * values of other positions are those of the last pass that had them inside. */
void double_forward(const struct model *model, const int32_t *ids, int low, int high, double *out);

#endif
