/*
 * cuda_pick.h: from rows of logits on the card to tokens and how sure they are,
 * so that logits stay there: the rules of src/backend/pick.h. On the same
 * logits the ids are those of pick_row (equal logits: the lower id), the
 * probabilities and confidences within 1e-5 of its, the random ones equal.
 *
 * Rows are independent: a row's result has the same bits whatever else is in
 * the launch. Pointers, stream, errors and threads: as in cuda_rows.h.
 */
#ifndef CUDA_PICK_H
#define CUDA_PICK_H

#include <stdbool.h>
#include <stdint.h>

struct CUstream_st;

#ifdef __cplusplus
extern "C" {
#endif

/* A set of ids as bits, device memory [(vocab + 31) / 32]: id i is bit i % 32 of
 * word i / 32. NULL: none. */
typedef const uint32_t *cuda_id_set;

/* As struct pick_rules, whose enums `method` and `confidence` hold and whose
 * conditions are these. */
struct cuda_pick_rules {
    int method;     /* enum pick_method */
    int confidence; /* enum pick_confidence */
    double temperature;
    double top_p;
    int top_k;
    cuda_id_set banned, deferred;
    bool runner_up, gap;
    uint64_t seed;
    uint32_t step;
};

enum cuda_row_state {
    CUDA_ROW_GOOD,
    CUDA_ROW_NOT_A_NUMBER, /* NaN or +infinity beside the banned ids */
    CUDA_ROW_EMPTY         /* nothing finite beside the banned ids */
};

/* As struct pick; of a row that is not good only `state` means anything (copy
 * that row to the host for pick_row's message). */
struct cuda_pick {
    int32_t token, runner_up;
    int32_t state; /* enum cuda_row_state */
    double confidence, probability, runner_up_probability, gap;
};

/* picks[i] for row i of logits [count, vocab], which stands at positions[i];
 * vocab below PICK_DRAW_TOKEN. logits are left as they are. The step is part of the launch: do not
 * capture it in a graph that is to be replayed for other steps. */
int cuda_pick_rows(const float *logits, int count, int vocab, const struct cuda_pick_rules *rules,
                   const int32_t *positions, struct cuda_pick *picks, struct CUstream_st *stream);

/* losses[i] = -ln of the softmax probability of targets[i] in row i of logits
 * [count, vocab], within 1e-5 of cross_entropy_row; not finite where the row
 * holds NaN or +infinity, or -infinity at the target. */
int cuda_cross_entropy_rows(const float *logits, int count, int vocab, const int32_t *targets,
                            double *losses, struct CUstream_st *stream);

#ifdef __cplusplus
}
#endif

#endif
