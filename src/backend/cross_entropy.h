/* cross_entropy.h: how unlikely a row of logits finds a given token. */
#ifndef CROSS_ENTROPY_H
#define CROSS_ENTROPY_H

#include <stddef.h>
#include <stdint.h>

/* -ln of the softmax probability of target in logits [vocab] f32, over all ids, the
 * mask's included, in doubles: as the published likelihood of LLaDA takes it. Not
 * finite where the row holds NaN or +infinity, or -infinity at target. scratch holds
 * cross_entropy_scratch_bytes(vocab) bytes, 64-byte aligned. A pure function. */
double cross_entropy_row(const float *logits, int vocab, int32_t target, void *scratch);

/* At most pick_scratch_bytes(vocab). */
size_t cross_entropy_scratch_bytes(int vocab);

#endif
