/* gpu_check.h: whether a GPU computes what the CPU does. */
#ifndef GPU_CHECK_H
#define GPU_CHECK_H

#include "dllm.h"

/* Lowest cosine of a row of got to that of want, both [rows, width]; NaN where one has no length
 * or a value that is not finite. */
double gpu_check_cosine(const float *got, const float *want, int rows, int width);

/* Rounding keys and values to f16 leaves 0.9999 in the worst row; less than this is a fault. */
#define GPU_CHECK_COSINE 0.999

/* One pass of the demo model over the same canvas on GPU number index and on the CPU: the lowest
 * cosine of a row's logits. Fails as dllm_engine_open and dllm_logits do. */
enum dllm_status gpu_check_demo(int index, double *cosine, struct dllm_error *error);

#endif
