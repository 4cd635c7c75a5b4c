/*
 * matmul_ref.c: matmuls in plain C with strict floats: the specification that
 * every level equals in every bit.
 *
 * For each row and token the super-blocks are met in order of the width, whose
 * last super-block is padded with zero weights and zero inputs.
 *   Q4_K, Q5_K, Q6_K: total and minimums are exact integers,
 *       v = d * (float)total          one rounding each
 *       v = fma(-dmin, minimums, v)   not for Q6_K
 *       y = fma(scale, v, y)
 *   Q8_0, per block of 32: v = d * (float)sum, y = fma(scale, v, y)
 *   F32, F16, BF16, per weight: y = fma(w, x, y)
 * with y = 0 at first. Then y + bias, then out + y if accumulating.
 *
 * Bounds: with |x| <= 127 and 6-bit scales, a Q4_K total is at most
 * 256 * 15 * 127 * 63 = 30,723,840, Q5_K's 63,495,936 and Q6_K's
 * 256 * 32 * 127 * 128 = 133,169,152, all below 2^31. Minimums are at most
 * 8 * 63 * 32 * 127 = 2,048,256 and a Q8_0 sum 32 * 128 * 127 = 520,192, both
 * below 2^24 and exact as f32.
 *
 * Against the exact sum of the same (quantized) inputs and weights, a result is
 * within (n + 8) * 2^-24 * sum of |w x|, n being the length of its fma chain
 * (super-blocks, blocks of 32, or weights): each step of the chain rounds once,
 * at a size of at most that sum; the eight are the roundings of v and of the
 * decoded weight. Where v is a difference (Q4_K, Q5_K), |d * scale * q| and
 * |dmin * minimum| count each by itself.
 */
#include "blocks.h"
#include "compiler.h"
#include "half.h"
#include "kernels.h"
#include "prepare.h"

#include <math.h>
#include <string.h>

/* A super-block of a K type as integers, in the order of activation_place. */
struct ref_block {
    int16_t weight[SUPER_BLOCK];  /* scale * q */
    int16_t minimum[SUPER_BLOCK]; /* zero for Q6_K */
    float d, dmin;
};

/* The 6-bit scale and minimum of sub-block j of Q4_K and Q5_K. */
static void unpack_scale(const uint8_t s[12], int j, int *scale, int *minimum)
{
    if (j < 4) {
        *scale = s[j] & 63;
        *minimum = s[j + 4] & 63;
    } else {
        *scale = (s[j + 4] & 15) | s[j - 4] >> 6 << 4;
        *minimum = s[j + 4] >> 4 | s[j] >> 6 << 4;
    }
}

static int nibble(const uint8_t q[128], int i)
{
    return q[i / 64 * 32 + i % 32] >> (i / 32 % 2 * 4) & 15;
}

static void decode_q4_k(const void *bytes, struct ref_block *out)
{
    struct block_q4_k block;
    memcpy(&block, bytes, sizeof(block));
    out->d = half_to_float(block.d);
    out->dmin = half_to_float(block.dmin);
    for (int i = 0; i < SUPER_BLOCK; i++) {
        int scale, minimum, at = activation_place(i);
        unpack_scale(block.scales, i / 32, &scale, &minimum);
        out->weight[at] = (int16_t)(scale * nibble(block.q, i));
        out->minimum[at] = (int16_t)minimum;
    }
}

static void decode_q5_k(const void *bytes, struct ref_block *out)
{
    struct block_q5_k block;
    memcpy(&block, bytes, sizeof(block));
    out->d = half_to_float(block.d);
    out->dmin = half_to_float(block.dmin);
    for (int i = 0; i < SUPER_BLOCK; i++) {
        int scale, minimum, at = activation_place(i);
        unpack_scale(block.scales, i / 32, &scale, &minimum);
        int q = nibble(block.q, i) + 16 * (block.high[i % 32] >> (i / 32) & 1);
        out->weight[at] = (int16_t)(scale * q);
        out->minimum[at] = (int16_t)minimum;
    }
}

static void decode_q6_k(const void *bytes, struct ref_block *out)
{
    struct block_q6_k block;
    memcpy(&block, bytes, sizeof(block));
    out->d = half_to_float(block.d);
    out->dmin = 0.0f;
    for (int i = 0; i < SUPER_BLOCK; i++) {
        int half = i / 128, part = i / 32 % 4, at = activation_place(i);
        int low = block.low[half * 64 + part % 2 * 32 + i % 32] >> (part / 2 * 4) & 15;
        int high = block.high[half * 32 + i % 32] >> (2 * part) & 3;
        out->weight[at] = (int16_t)(block.scales[i / 16] * ((low | high << 4) - 32));
        out->minimum[at] = 0;
    }
}

typedef void ref_decode(const void *bytes, struct ref_block *out);

/* One super-block of one row onto one sum per token. */
static void add_k_block(const struct ref_block *w, const struct activations *in, int b, float *sums)
{
    for (int t = 0; t < in->tokens; t++) {
        size_t row = (size_t)b * (size_t)in->tokens + (size_t)t;
        const int8_t *q = in->q8_256.q + row * SUPER_BLOCK;
        int32_t total = 0, minimums = 0;
        for (int i = 0; i < SUPER_BLOCK; i++) {
            total += w->weight[i] * q[i];
            minimums += w->minimum[i] * q[i];
        }
        /* Without minimums the fma adds -0 * 0 = -0, which changes nothing. */
        float v = fmaf(-w->dmin, (float)minimums, w->d * (float)total);
        sums[t] = fmaf(in->q8_256.scale[row], v, sums[t]);
    }
}

static void add_q8_0_block(const uint8_t *bytes, const struct activations *in, int b, float *sums)
{
    for (int t = 0; t < in->tokens; t++) {
        size_t row = (size_t)b * (size_t)in->tokens + (size_t)t;
        for (int j = 0; j < 8; j++) {
            const int8_t *q = in->q8_32.q + row * SUPER_BLOCK;
            struct block_q8_0 block;
            memcpy(&block, bytes + (size_t)j * sizeof(block), sizeof(block));
            int32_t sum = 0;
            for (int i = 0; i < 32; i++) {
                sum += block.q[i] * q[activation_place(32 * j + i)];
            }
            float v = half_to_float(block.d) * (float)sum;
            sums[t] = fmaf(in->q8_32.scale[row * 8 + j], v, sums[t]);
        }
    }
}

static void add_float_block(const float w[SUPER_BLOCK], const struct activations *in, int b,
                            float *sums)
{
    for (int t = 0; t < in->tokens; t++) {
        const float *x = in->f32 + ((size_t)b * (size_t)in->tokens + (size_t)t) * SUPER_BLOCK;
        for (int i = 0; i < SUPER_BLOCK; i++) {
            sums[t] = fmaf(w[i], x[i], sums[t]);
        }
    }
}

/* The sums of row r to where they go. */
static void finish_row(const struct matmul_item *item, int r, const float *sums)
{
    for (int t = 0; t < item->in->tokens; t++) {
        float *out = item->out + (size_t)t * item->out_step + r;
        float y = item->bias ? sums[t] + item->bias[r] : sums[t];
        *out = item->accumulate ? *out + y : y;
    }
}

/* Copies super-block b of row r, padded with zeros; bytes: of a whole one. */
static void copy_block(const struct matmul_item *item, int r, int b, size_t bytes, uint8_t *out)
{
    size_t start = (size_t)b * bytes;
    size_t count = MIN(bytes, item->row_bytes - start);
    memcpy(out, (const uint8_t *)item->weights + (size_t)r * item->row_bytes + start, count);
    memset(out + count, 0, bytes - count);
}

static float *clear_sums(const struct matmul_item *item)
{
    memset(item->scratch, 0, (size_t)item->in->tokens * sizeof(float));
    return item->scratch;
}

static void matmul_k_ref(const struct matmul_item *item, size_t bytes, ref_decode *decode)
{
    for (int r = 0; r < item->rows; r++) {
        float *sums = clear_sums(item);
        for (int b = 0; b < item->in->blocks; b++) {
            uint8_t copy[sizeof(struct block_q6_k)];
            struct ref_block block;
            copy_block(item, r, b, bytes, copy);
            decode(copy, &block);
            add_k_block(&block, item->in, b, sums);
        }
        finish_row(item, r, sums);
    }
}

static void matmul_q4_k_ref(const struct matmul_item *item)
{
    matmul_k_ref(item, sizeof(struct block_q4_k), decode_q4_k);
}

static void matmul_q5_k_ref(const struct matmul_item *item)
{
    matmul_k_ref(item, sizeof(struct block_q5_k), decode_q5_k);
}

static void matmul_q6_k_ref(const struct matmul_item *item)
{
    matmul_k_ref(item, sizeof(struct block_q6_k), decode_q6_k);
}

static void matmul_q8_0_ref(const struct matmul_item *item)
{
    for (int r = 0; r < item->rows; r++) {
        float *sums = clear_sums(item);
        for (int b = 0; b < item->in->blocks; b++) {
            uint8_t copy[8 * sizeof(struct block_q8_0)];
            copy_block(item, r, b, sizeof(copy), copy);
            add_q8_0_block(copy, item->in, b, sums);
        }
        finish_row(item, r, sums);
    }
}

static void matmul_f32_ref(const struct matmul_item *item)
{
    for (int r = 0; r < item->rows; r++) {
        float *sums = clear_sums(item);
        for (int b = 0; b < item->in->blocks; b++) {
            float w[SUPER_BLOCK];
            copy_block(item, r, b, sizeof(w), (uint8_t *)w);
            add_float_block(w, item->in, b, sums);
        }
        finish_row(item, r, sums);
    }
}

static void matmul_half_ref(const struct matmul_item *item, float (*to_float)(uint16_t))
{
    for (int r = 0; r < item->rows; r++) {
        float *sums = clear_sums(item);
        for (int b = 0; b < item->in->blocks; b++) {
            uint16_t halves[SUPER_BLOCK];
            float w[SUPER_BLOCK];
            copy_block(item, r, b, sizeof(halves), (uint8_t *)halves);
            for (int i = 0; i < SUPER_BLOCK; i++) {
                w[i] = to_float(halves[i]);
            }
            add_float_block(w, item->in, b, sums);
        }
        finish_row(item, r, sums);
    }
}

static void matmul_f16_ref(const struct matmul_item *item)
{
    matmul_half_ref(item, half_to_float);
}

static void matmul_bf16_ref(const struct matmul_item *item)
{
    matmul_half_ref(item, bfloat_to_float);
}

void matmul_kernels_ref(struct cpu_kernels *kernels)
{
    kernels->prepare = prepare_ref;
    kernels->matmul[DTYPE_F32] = matmul_f32_ref;
    kernels->matmul[DTYPE_F16] = matmul_f16_ref;
    kernels->matmul[DTYPE_BF16] = matmul_bf16_ref;
    kernels->matmul[DTYPE_Q8_0] = matmul_q8_0_ref;
    kernels->matmul[DTYPE_Q4_K] = matmul_q4_k_ref;
    kernels->matmul[DTYPE_Q5_K] = matmul_q5_k_ref;
    kernels->matmul[DTYPE_Q6_K] = matmul_q6_k_ref;
}
