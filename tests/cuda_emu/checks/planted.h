/*
 * planted.h: kernels with faults on purpose, one at a time, for tests that the
 * emulator finds them. `bug` is a kernel argument: a fault is a condition in the
 * source, next to the line that is right.
 */
#pragma once
#include <cuda_runtime_api.h>

#include <cstdint>

enum Bug {
    SOUND,             /* no fault: must pass in every mode */
    SOUND_PLAIN_READS, /* planted_exchange without ldmatrix */

    /* planted_matmul.cu: fragments and decoding */
    WRONG_C_ROW,
    WRONG_C_COLUMN,
    WRONG_A_REGISTERS,
    WRONG_B_ORDER,
    WRONG_NIBBLE,
    WRONG_SCALE,
    /* barriers and asynchronous copies */
    NO_BARRIER_BEFORE_READS,
    NO_BARRIER_AFTER_READS,
    WAIT_LEAVES_TWO,
    WAIT_LEAVES_ONE_AT_END,
    NO_COMMIT,
    WRONG_BUFFER,
    PREFETCH_INTO_USED,
    /* bounds */
    READ_NO_GUARD,
    READ_GUARD_OFF_BY_ONE,
    WRITE_GUARD_OFF_BY_ONE,
    GRID_TOO_SMALL,
    NEXT_ARRAY_IN_STRUCT,
    SMEM_TOO_SMALL,
    SMEM_NOT_ALLOWED,
    REGISTER_INDEX,
    CHUNK_NOT_LOADED,
    ADDS_TO_FRESH_MEMORY,
    COPY_MISALIGNED,
    LDMATRIX_MISALIGNED,
    HOST_POINTER,
    LDMATRIX_CONFLICTS, /* not wrong, but slow: shows in the statistics alone */

    /* planted_rows.cu: one block's softmax over a row */
    MASK_OFF_BY_ONE,
    TAIL_DROPPED,
    SUM_NO_BARRIER,
    SHARED_REUSED,
    SHARED_WRITTEN_PAST,
    SHARED_READ_PAST,
    SHARED_POINTER_PAST,
    DIVERGENT_BARRIER,
    DIVERGENT_SHUFFLE,
    DIVERGENT_BALLOT,
    RETURN_BEFORE_BARRIER,
    VECTOR_MISALIGNED,
    COUNT_GUARD,
    PLAIN_ADD_ACROSS_WARPS,
    PLAIN_ADD_ACROSS_BLOCKS,

    /* planted_exchange.cu: lanes hand each other halves */
    NO_SYNCWARP_BEFORE_READS,
    NO_SYNCWARP_AFTER_READS,
    NO_SYNCWARP_BEFORE_LDMATRIX,
    NOT_TRANSPOSED,
    WRONG_P_REGISTERS
};

/* w: [rows, width / 2] bytes, weight 2i in the low nibble, less 8; scales [rows, width / 32]; x:
 * [tokens, width]; out: [tokens, rows] = scaled sums. width is a multiple of 64. */
cudaError_t planted_matmul(float *out, const uint8_t *w, const float *scales, const int8_t *x,
                           int rows, int width, int tokens, Bug bug);

/* x: [rows, width], in place: softmax over the first `keys` values of a row, the rest 0. width is a
 * multiple of 4. large[0] += how many results are above 0.01. */
cudaError_t planted_softmax(float *x, int *large, int rows, int width, int keys, Bug bug);

/* out: [16, 8] f32 = (2^rounds - 1) * p (16 x 16, f16) * v (16 x 8, f16), row by row: each round
 * doubles what there is and adds the product. */
cudaError_t planted_exchange(float *out, const uint16_t *p, const uint16_t *v, int rounds, Bug bug);
