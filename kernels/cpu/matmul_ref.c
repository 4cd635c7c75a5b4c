/*
 * matmul_ref.c: matmuls in plain C with strict floats: the specification that
 * every level equals in every bit.
 *
 * For each row and token the super-blocks are met in order of the width, whose
 * last super-block is padded with zero weights and zero inputs.
 *   types of 256 weights a block: total = sum of weight * x and minimums = sum
 *   of minimum * x are exact integers (unpack.h),
 *       v = d * (float)total          one rounding each
 *       v = fma(-dmin, minimums, v)   where the type has minimums
 *       y = fma(scale, v, y)
 *   types of 32 weights a block, per block:
 *       v = d * (float)sum
 *       v = fma(m, (float)(sum of x), v)   where the type has m
 *       y = fma(scale, v, y)
 *   F32, F16, BF16, per weight: y = fma(w, x, y)
 * with y = 0 at first. Then y + bias, then out + y if accumulating.
 *
 * Bounds: |x| <= 127. The largest weights are Q6_K's: a total is at most
 * 256 * 127 * 32 * 128 = 133,169,152, below 2^31. Whatever a damaged block says, a
 * weight is unpacked to 16 bits, and 256 * 127 * 32768 = 1,065,353,216 is below
 * 2^31 as well; so is what a level adds its products to, part of a total. Minimums are at most
 * 8 * 63 * 32 * 127 = 2,048,256 and a sum over a block of 32 at most
 * 32 * 128 * 127 = 520,192, both below 2^24 and exact as f32.
 *
 * Against the exact sum of the same (quantized) inputs and weights, a result is
 * within (n + 8) * 2^-24 * sum of |w x|, n being the length of its fma chain
 * (super-blocks, blocks of 32, or weights): each step of the chain rounds once,
 * at a size of at most that sum; the eight are the roundings of v and of the
 * decoded weight. Where v is a difference or a sum (Q2_K, Q4_K, Q5_K, Q4_1,
 * Q5_1), its two parts count each by itself.
 */
#include "compiler.h"
#include "half.h"
#include "kernels.h"
#include "prepare.h"
#include "unpack.h"

#include <math.h>
#include <string.h>

/* The record of super-block b of the item's token t. */
static size_t record_of(const struct matmul_item *item, int b, int t)
{
    return (size_t)b * (size_t)item->in->tokens + (size_t)(item->first_token + t);
}

/* One super-block of one row onto one sum per token. Weights and inputs meet in
 * the order of the inputs. */
static void add_256(const struct unpacked_256 *w, const struct matmul_item *item, int b,
                    float *sums)
{
    const struct activations_q8_256 *in = &item->in->q8_256;
    int16_t weight[SUPER_BLOCK], minimum[SUPER_BLOCK];
    for (int i = 0; i < SUPER_BLOCK; i++) {
        weight[activation_place(i)] = w->weight[i];
        minimum[activation_place(i)] = w->minimum[i];
    }
    for (int t = 0; t < item->tokens; t++) {
        size_t row = record_of(item, b, t);
        const int8_t *x = in->q + row * SUPER_BLOCK;
        int32_t total = 0, minimums = 0;
        for (int i = 0; i < SUPER_BLOCK; i++) {
            total += weight[i] * x[i];
            minimums += minimum[i] * x[i];
        }
        /* Without minimums the fma adds -0 * 0 = -0, which changes nothing. */
        float v = fmaf(-w->dmin, (float)minimums, w->d * (float)total);
        sums[t] = fmaf(in->scale[row], v, sums[t]);
    }
}

/* The eight blocks of a super-block of one row. */
static void add_32(const struct unpacked_32 w[8], const struct matmul_item *item, int b,
                   float *sums)
{
    const struct activations_q8_32 *in = &item->in->q8_32;
    for (int t = 0; t < item->tokens; t++) {
        size_t row = record_of(item, b, t);
        const int8_t *q = in->q + row * SUPER_BLOCK;
        for (int j = 0; j < 8; j++) {
            int32_t sum = 0, inputs = 0;
            for (int i = 0; i < 32; i++) {
                int x = q[activation_place(32 * j + i)];
                sum += w[j].weight[i] * x;
                inputs += x;
            }
            /* Without m the fma adds a zero, which can change the sign of a zero v
             * and nothing in y. */
            float v = fmaf(w[j].m, (float)inputs, w[j].d * (float)sum);
            sums[t] = fmaf(in->scale[row * 8 + (size_t)j], v, sums[t]);
        }
    }
}

static void add_float_block(const float w[SUPER_BLOCK], const struct matmul_item *item, int b,
                            float *sums)
{
    for (int t = 0; t < item->tokens; t++) {
        const float *x = item->in->f32 + record_of(item, b, t) * SUPER_BLOCK;
        for (int i = 0; i < SUPER_BLOCK; i++) {
            sums[t] = fmaf(w[i], x[i], sums[t]);
        }
    }
}

/* The sums of row r to where they go. */
static void finish_row(const struct matmul_item *item, int r, const float *sums)
{
    for (int t = 0; t < item->tokens; t++) {
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

/* The block at byte `at` of row r. */
static const uint8_t *block_of(const struct matmul_item *item, int r, size_t at)
{
    return (const uint8_t *)item->weights + (size_t)r * item->row_bytes + at;
}

static float *clear_sums(const struct matmul_item *item)
{
    memset(item->scratch, 0, (size_t)item->tokens * sizeof(float));
    return item->scratch;
}

static void matmul_256_ref(const struct matmul_item *item, uint32_t type)
{
    for (int r = 0; r < item->rows; r++) {
        float *sums = clear_sums(item);
        for (int b = 0; b < item->in->blocks; b++) {
            const size_t bytes = dtype_info(type)->block_bytes;
            struct unpacked_256 block;
            unpack_256_of(type)(block_of(item, r, (size_t)b * bytes), &block);
            add_256(&block, item, b, sums);
        }
        finish_row(item, r, sums);
    }
}

static void matmul_32_ref(const struct matmul_item *item, uint32_t type)
{
    for (int r = 0; r < item->rows; r++) {
        float *sums = clear_sums(item);
        for (int b = 0; b < item->in->blocks; b++) {
            const size_t bytes = dtype_info(type)->block_bytes;
            struct unpacked_32 blocks[8] = {0};
            for (size_t j = 0, at = (size_t)b * 8 * bytes; j < 8 && at < item->row_bytes; j++) {
                unpack_32_of(type)(block_of(item, r, at), &blocks[j]);
                at += bytes;
            }
            add_32(blocks, item, b, sums);
        }
        finish_row(item, r, sums);
    }
}

/* A matmul_kernel has no room for a type, so each type has its own. */
#define MATMUL_REF(name, TYPE, weights)                                                            \
    static void matmul_##name##_ref(const struct matmul_item *item)                                \
    {                                                                                              \
        matmul_##weights##_ref(item, TYPE);                                                        \
    }

MATMUL_REF(q4_0, DTYPE_Q4_0, 32)
MATMUL_REF(q4_1, DTYPE_Q4_1, 32)
MATMUL_REF(q5_0, DTYPE_Q5_0, 32)
MATMUL_REF(q5_1, DTYPE_Q5_1, 32)
MATMUL_REF(q8_0, DTYPE_Q8_0, 32)
MATMUL_REF(iq4_nl, DTYPE_IQ4_NL, 32)
MATMUL_REF(mxfp4, DTYPE_MXFP4, 32)
MATMUL_REF(q2_k, DTYPE_Q2_K, 256)
MATMUL_REF(q3_k, DTYPE_Q3_K, 256)
MATMUL_REF(q4_k, DTYPE_Q4_K, 256)
MATMUL_REF(q5_k, DTYPE_Q5_K, 256)
MATMUL_REF(q6_k, DTYPE_Q6_K, 256)
MATMUL_REF(iq4_xs, DTYPE_IQ4_XS, 256)
MATMUL_REF(iq3_s, DTYPE_IQ3_S, 256)
MATMUL_REF(iq3_xxs, DTYPE_IQ3_XXS, 256)
MATMUL_REF(iq2_s, DTYPE_IQ2_S, 256)
MATMUL_REF(iq2_xs, DTYPE_IQ2_XS, 256)
MATMUL_REF(iq2_xxs, DTYPE_IQ2_XXS, 256)
MATMUL_REF(iq1_s, DTYPE_IQ1_S, 256)
MATMUL_REF(iq1_m, DTYPE_IQ1_M, 256)
MATMUL_REF(tq1_0, DTYPE_TQ1_0, 256)
MATMUL_REF(tq2_0, DTYPE_TQ2_0, 256)

static void matmul_f32_ref(const struct matmul_item *item)
{
    for (int r = 0; r < item->rows; r++) {
        float *sums = clear_sums(item);
        for (int b = 0; b < item->in->blocks; b++) {
            float w[SUPER_BLOCK];
            copy_block(item, r, b, sizeof(w), (uint8_t *)w);
            add_float_block(w, item, b, sums);
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
            add_float_block(w, item, b, sums);
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
    kernels->matmul[DTYPE_Q4_0] = matmul_q4_0_ref;
    kernels->matmul[DTYPE_Q4_1] = matmul_q4_1_ref;
    kernels->matmul[DTYPE_Q5_0] = matmul_q5_0_ref;
    kernels->matmul[DTYPE_Q5_1] = matmul_q5_1_ref;
    kernels->matmul[DTYPE_Q8_0] = matmul_q8_0_ref;
    kernels->matmul[DTYPE_IQ4_NL] = matmul_iq4_nl_ref;
    kernels->matmul[DTYPE_MXFP4] = matmul_mxfp4_ref;
    kernels->matmul[DTYPE_Q2_K] = matmul_q2_k_ref;
    kernels->matmul[DTYPE_Q3_K] = matmul_q3_k_ref;
    kernels->matmul[DTYPE_Q4_K] = matmul_q4_k_ref;
    kernels->matmul[DTYPE_Q5_K] = matmul_q5_k_ref;
    kernels->matmul[DTYPE_Q6_K] = matmul_q6_k_ref;
    kernels->matmul[DTYPE_IQ4_XS] = matmul_iq4_xs_ref;
    kernels->matmul[DTYPE_IQ3_S] = matmul_iq3_s_ref;
    kernels->matmul[DTYPE_IQ3_XXS] = matmul_iq3_xxs_ref;
    kernels->matmul[DTYPE_IQ2_S] = matmul_iq2_s_ref;
    kernels->matmul[DTYPE_IQ2_XS] = matmul_iq2_xs_ref;
    kernels->matmul[DTYPE_IQ2_XXS] = matmul_iq2_xxs_ref;
    kernels->matmul[DTYPE_IQ1_S] = matmul_iq1_s_ref;
    kernels->matmul[DTYPE_IQ1_M] = matmul_iq1_m_ref;
    kernels->matmul[DTYPE_TQ1_0] = matmul_tq1_0_ref;
    kernels->matmul[DTYPE_TQ2_0] = matmul_tq2_0_ref;
}
