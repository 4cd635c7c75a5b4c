/* cuda_cross_entropy.cu: how unlikely rows of logits find given tokens; a block a row. */
#include "logit_row.cuh"

/* NaN, +infinity or nothing finite in a row makes the sum NaN. */
static __global__ void __launch_bounds__(ROW_THREADS)
    cross_entropies(const float *logits, int vocab, const int32_t *targets, double *losses)
{
    __shared__ row_smem s;
    const logit_row row = open_row(logits, vocab, nullptr, nullptr);
    const float max = summarize_row(s, row).max;
    const double sum =
        sum_weights(s, row, [&](int, float logit) { return (double)expf(logit - max); });

    if (threadIdx.x == 0)
        losses[blockIdx.x] = log(sum) - ((double)row.logits[targets[blockIdx.x]] - (double)max);
}

int cuda_cross_entropy_rows(const float *logits, int count, int vocab, const int32_t *targets,
                            double *losses, struct CUstream_st *stream)
{
    if (count < 0 || vocab < 1)
        return cudaErrorInvalidValue;
    if (count == 0)
        return cudaSuccess;
    return launch(cross_entropies, dim3((unsigned)count), dim3(ROW_THREADS), 0, stream, logits,
                  vocab, targets, losses);
}
