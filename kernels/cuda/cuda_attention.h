/*
 * cuda_attention.h: attention on the card without a mask: every query of a
 * window over all keys of that window. Two ways, each of them the same bits for
 * a query whatever else is in the launch:
 *
 * - fast: flash attention on f16 tensor cores. Queries (times 1 / sqrt(head_dim)),
 *   keys, values and the softmax's weights are rounded to f16, everything else
 *   is f32. A key or value above 65504 becomes infinite and shows as NaN.
 * - exact: f32 on the ordinary cores, to the bit what the CPU's attention
 *   computes. The other kernels have the CPU's bits anyway (but for products with
 *   F16 and BF16 weights), so that with it a model's logits are the CPU's.
 *
 * Pointers, stream, errors and threads: as in cuda_rows.h.
 */
#ifndef CUDA_ATTENTION_H
#define CUDA_ATTENTION_H

#include <stdbool.h>
#include <stddef.h>

struct CUstream_st;

#ifdef __cplusplus
extern "C" {
#endif

enum { CUDA_ATTENTION_WINDOWS = 32, CUDA_ATTENTION_MAX_DIM = 256 };

/* out[t, h, :] = softmax(q[t, h, :] k[:, g, :]' / sqrt(head_dim)) v[:, g, :] with
 * g = h / (heads / kv_heads). The pointers are to the window's first rows. */
struct cuda_attention_window {
    const float *q;     /* [queries, heads, head_dim] */
    const float *k, *v; /* [keys, kv_heads, head_dim] */
    float *out;         /* as q, which it may be; otherwise it overlaps no input */
    int queries, keys;  /* keys >= 1; no queries: no work */
};

struct cuda_attention {
    int heads, kv_heads;              /* heads a multiple of kv_heads */
    int head_dim;                     /* a multiple of 32, 32 .. CUDA_ATTENTION_MAX_DIM */
    size_t q_step, kv_step, out_step; /* floats from row to row, multiples of 4 */
    bool exact;
    const struct cuda_attention_window *windows; /* host memory [count] */
    int count;                                   /* 1 .. CUDA_ATTENTION_WINDOWS */
    void *workspace; /* device, 16-byte aligned, cuda_attention_workspace_bytes; in use until the
                        work on the stream is done */
};

/* Bytes of workspace for windows with up to `keys` keys in all: f16 copies of
 * their keys and values. 0 when exact. */
size_t cuda_attention_workspace_bytes(int kv_heads, int head_dim, int windows, int keys,
                                      bool exact);

/* Queues the attention of all windows. Data pointers are 16-byte aligned. */
int cuda_attend(const struct cuda_attention *attention, struct CUstream_st *stream);

#ifdef __cplusplus
}
#endif

#endif
