/*
 * schedule.h: how many positions each step commits, and how steps are shared
 * out over blocks.
 */
#ifndef SCHEDULE_H
#define SCHEDULE_H

/* Blocks of block_length (at least 1) in a region of that many positions; the
 * last may be shorter. */
int schedule_block_count(int region, int block_length);

/* Steps of block `index`: steps shared out in proportion to the blocks' sizes
 * by largest remainder (of equal ones the earlier block first), at least one
 * each. steps is at least the number of blocks; the shares add up to it. */
int schedule_block_steps(int region, int block_length, int steps, int index);

/* What LLaDA commits at step `step` of `steps` of a block that held `masks`
 * when it was entered: masks div steps, the first masks mod steps one more. */
int schedule_llada_count(int masks, int steps, int step);

/* What Dream commits at step `step` of `steps` with `masks` left: with
 * t_i = 1 - i (1 - eps) / steps, floor(masks (1 - t_{i+1} / t_i)), and all of
 * them at the last step. eps counts in billionths, 1e-9 to 1 - 1e-9, so that
 * the floor is one of whole numbers. */
int schedule_dream_count(int masks, int steps, int step, double eps);

/* Dream's share 1 - t_{i+1} / t_i itself; 1 at the last step. */
double schedule_dream_share(int steps, int step, double eps);

#endif
