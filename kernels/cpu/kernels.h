/*
 * kernels.h: the table of CPU kernels. The reference fills every pointer; each
 * level up to the chosen one overwrites those it has a faster body for. All
 * levels give the same bits: integer sums are exact, and float operations and
 * their order are part of a kernel's definition here.
 */
#ifndef KERNELS_H
#define KERNELS_H

#include "activations.h"
#include "cpu_features.h"
#include "dtype.h"

/*
 * One work item of a matmul: consecutive rows of a matrix against consecutive
 * tokens. y = dot(row r, token first_token + t), then y = y + bias[r] if bias is
 * given, then out[t * out_step + r] = y, or out[...] + y if accumulate is set. The order of
 * every float operation of the dot is in matmul_ref.c. Nothing outside the
 * rows * row_bytes bytes of weights is read, and nothing outside the item's
 * outputs written. in must hold the form of the weight type.
 */
struct matmul_item {
    const void *weights; /* first row, blocks as in the file, any alignment */
    size_t row_bytes;
    int rows; /* at least 1; multiples of 16 are fastest */
    const struct activations *in;
    int first_token, tokens; /* of those of in; at least 1 */
    /* How many of in's blocks all rows should meet before the next ones, so that these blocks'
     * inputs stay near; 0: all. It changes no result, and a kernel need not heed it. */
    int blocks_at_once;
    float *out;        /* first token, first row of the item */
    size_t out_step;   /* floats from a token to the next */
    const float *bias; /* [rows] or NULL */
    bool accumulate;
    void *scratch; /* matmul_scratch_bytes(tokens), 64-byte aligned, per worker */
};

typedef void matmul_kernel(const struct matmul_item *item);

/* Scratch that any matmul kernel may use for that many tokens. */
size_t matmul_scratch_bytes(int tokens);

/* Fills token `token` of the forms in out->forms from x [out->width]. */
typedef void prepare_kernel(const float *x, int token, struct activations *out);

/* y[i] = x[i] * weight[i] / sqrt(mean(x^2) + eps); y may be x. */
typedef void rms_norm_kernel(const float *x, const float *weight, float eps, int width, float *y);

/* y[i] = silu(gate[i]) * up[i], silu(x) = x / (1 + exp(-x)); y may be gate. */
typedef void gated_kernel(const float *gate, const float *up, int width, float *y);

/* Turns `heads` heads of head_dim values in place; angles is [rope_dims / 2, 2]
 * (cos, sin) of this position; halves pairs (i, i + rope_dims / 2) instead of
 * (2i, 2i + 1). With norm [head_dim] each head first goes through rms_norm. */
struct rope_row {
    float *x;
    const float *angles;
    const float *norm; /* NULL: none */
    float eps;
    int heads, head_dim, rope_dims;
    bool halves;
};
typedef void rope_kernel(const struct rope_row *row);

/* y[i] = y[i] + ... of guidance: y = u + (scale + 1)(y - u), in doubles. */
typedef void guide_kernel(float *y, const float *u, double scale, int width);

/* y[i] = y[i] + scale * x[i], each operation rounded; y and x lie apart. */
typedef void add_scaled_kernel(float *y, const float *x, float scale, int width);

/* Attention of up to ATTENTION_QUERIES queries of one head over all keys. */
enum { ATTENTION_QUERIES = 8, ATTENTION_KEYS = 128, ATTENTION_LANES = 16, ATTENTION_KEY_PAD = 32 };

struct attention_item {
    const float *q; /* first query; rows q_step floats apart */
    size_t q_step;
    int queries; /* 1 .. ATTENTION_QUERIES */
    /* Keys turned by turn_keys, [keys / 16][head_dim][16], padded with zeros to a
     * multiple of ATTENTION_KEY_PAD keys. */
    const float *keys;
    const float *v; /* first value row of the head; rows v_step floats apart */
    size_t v_step;
    int key_count, head_dim;
    float *out; /* rows out_step floats apart */
    size_t out_step;
    void *scratch; /* attention_scratch_bytes(head_dim), 64-byte aligned */
};
typedef void attention_kernel(const struct attention_item *item);

/* Scratch that any attention kernel may use for heads of that many dims. */
size_t attention_scratch_bytes(int head_dim);

/* out [keys / 16][head_dim][16] from count k rows k_step floats apart; keys =
 * count rounded up to ATTENTION_KEY_PAD, those past the end are zeros. */
typedef void turn_keys_kernel(const float *k, size_t k_step, int count, int head_dim, float *out);

struct cpu_kernels {
    matmul_kernel *matmul[DTYPE_LIMIT]; /* by weight type, NULL: none */
    prepare_kernel *prepare;
    rms_norm_kernel *rms_norm;
    gated_kernel *gated;
    rope_kernel *rope;
    guide_kernel *guide;
    add_scaled_kernel *add_scaled;
    turn_keys_kernel *turn_keys;
    attention_kernel *attention;
};

/* The table of a level, which must be available on this machine. */
void cpu_kernels_init(struct cpu_kernels *kernels, enum cpu_level level);

/* What kernels.c calls, lowest level first. */
void matmul_kernels_ref(struct cpu_kernels *kernels);
void matmul_kernels_avx2(struct cpu_kernels *kernels);
void matmul_kernels_avxvnni(struct cpu_kernels *kernels);
void matmul_kernels_avx512vnni(struct cpu_kernels *kernels);
/* Some of AVX512-VNNI's with larger tiles, for processors that multiply 512 bits in one pass. */
void matmul_kernels_tiles8(struct cpu_kernels *kernels);
void rows_kernels_ref(struct cpu_kernels *kernels);
void rows_kernels_avx2(struct cpu_kernels *kernels);
void rows_kernels_avx512vnni(struct cpu_kernels *kernels);
void attention_kernels_ref(struct cpu_kernels *kernels);
void attention_kernels_avx2(struct cpu_kernels *kernels);
void attention_kernels_avx512vnni(struct cpu_kernels *kernels);

/* Decodes one row of `width` weights of any type with kernels to f32: the
 * specification of a block type, used for embeddings and tests. width is a
 * multiple of the type's block. */
void dequantize_row(uint32_t type, const void *row, int width, float *out);

#endif
