/*
 * prepare_ref.c: inputs of a matmul in their forms, plain C: the specification.
 *
 * Every operation on floats here is a single rounding with one possible
 * result, so levels cannot differ: the largest magnitude is found on the bits
 * (ordered as integers; a NaN is above infinity and wins), one division gives
 * the factor, one the scale, one multiplication and one rounding each q.
 */
#include "prepare.h"

#include "compiler.h"
#include "half.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* max |x[i]| of count values; a NaN if there is one. */
static float largest_magnitude(const float *x, int count)
{
    uint32_t most = 0;
    for (int i = 0; i < count; i++) {
        most = MAX(most, float_bits(x[i]) & 0x7fffffff);
    }
    return float_from_bits(most);
}

/* Quantizes count values to q, returns their scale. |x * (127 / max)| can pass
 * 127 by a rounding error only, so q stays within -127..127. */
static float quantize(const float *x, int count, int8_t *q)
{
    float most = largest_magnitude(x, count);
    if (most < ACTIVATION_TINY || !isfinite(most)) {
        memset(q, 0, (size_t)count);
        return most < ACTIVATION_TINY ? 0.0f : most;
    }
    float factor = 127.0f / most;
    for (int i = 0; i < count; i++) {
        q[i] = (int8_t)lrintf(x[i] * factor);
    }
    return most / 127.0f;
}

static int sum_of(const int8_t *q, int count)
{
    int sum = 0;
    for (int i = 0; i < count; i++) {
        sum += q[i];
    }
    return sum;
}

/* The largest sum of the magnitudes of eight of sixteen values, as wide_bits takes them. */
static int most_of_eight(const int8_t q[16])
{
    int row[2] = {0, 0}, place[2] = {0, 0};
    for (int i = 0; i < 16; i++) {
        row[i / 8] += abs(q[i]);
        place[i / 2 % 2] += abs(q[i]);
    }
    return MAX(MAX(row[0], row[1]), MAX(place[0], place[1]));
}

/*
 * Whether sums of weight * q over a sub-block can leave int16. Q4_K and Q5_K
 * weights are 0..15 and 0..31, so a sum lies between 15 (31) times the negative
 * and the positive values; Q6_K weights are -32..31. IQ2 weights are -43..43, or -32..54 with the
 * 11 that sums do not start with; what is looked at are eight values: in a row, and of sixteen
 * values those at places 0 and 1, or 2 and 3, of each four (start8, start2).
 */
static uint8_t wide_bits(const int8_t q[SUPER_BLOCK])
{
    unsigned wide = 0;
    for (int g = 0; g < 16; g += 2) {
        int positive = 0, negative = 0, magnitude[2] = {0, 0};
        for (int i = 0; i < 32; i++) {
            int v = q[16 * g + i];
            positive += MAX(v, 0);
            negative += MAX(-v, 0);
            magnitude[i / 16] += abs(v);
        }
        int side = MAX(positive, negative);
        wide |= 15 * side > INT16_MAX ? WIDE_Q4_K : 0;
        wide |= 31 * side > INT16_MAX ? WIDE_Q5_K : 0;
        wide |= 32 * MAX(magnitude[0], magnitude[1]) > INT16_MAX ? WIDE_Q6_K : 0;
        wide |= 54 * MAX(most_of_eight(q + 16 * g), most_of_eight(q + 16 * g + 16)) > INT16_MAX
                    ? WIDE_IQ2
                    : 0;
    }
    return (uint8_t)wide;
}

/* The sum of one group of 16 and Q6_K's three kinds of starts; at: 2 * pair + (0
 * or 1). */
static void group_sums(const int8_t q[16], struct activations_q8_256 *out, size_t row, int at)
{
    int first = sum_of(q, 8), second = sum_of(q + 8, 8);
    out->sums16[row * 16 + at] = (int16_t)(first + second);
    out->start16[row * 16 + at] = -32 * (first + second);
    int32_t *start8 = out->start8 + row * 32 + at / 2 * 4 + at % 2;
    start8[0] = -32 * first;
    start8[2] = -32 * second;
    int low = 0;
    for (int i = 0; i < 16; i += 4) {
        low += q[i] + q[i + 1];
    }
    out->start2[row * 32 + 2 * at] = (int16_t)(-32 * low);
    out->start2[row * 32 + 2 * at + 1] = (int16_t)(-32 * (first + second - low));
}

/* row = block * tokens + token. */
static void prepare_q8_256(const float x[SUPER_BLOCK], size_t row, struct activations_q8_256 *out)
{
    int8_t q[SUPER_BLOCK];
    out->scale[row] = quantize(x, SUPER_BLOCK, q);
    out->wide[row] = wide_bits(q);
    for (int i = 0; i < SUPER_BLOCK; i++) {
        out->q[row * SUPER_BLOCK + activation_place(i)] = q[i];
    }
    for (int j = 0; j < 8; j++) {
        out->sums32[row * 8 + j] = (int16_t)sum_of(q + 32 * j, 32);
    }
    for (int at = 0; at < 16; at++) {
        int group = (at / 4) * 4 + at / 2 % 2 + at % 2 * 2;
        group_sums(q + 16 * group, out, row, at);
    }
}

static void prepare_q8_32(const float x[SUPER_BLOCK], size_t row, struct activations_q8_32 *out)
{
    for (int j = 0; j < 8; j++) {
        int8_t q[32];
        out->scale[row * 8 + j] = quantize(x + 32 * j, 32, q);
        for (int i = 0; i < 32; i++) {
            out->q[row * SUPER_BLOCK + activation_place(32 * j + i)] = q[i];
        }
        out->start32[row * 8 + j] = -128 * sum_of(q, 32);
    }
}

void prepare_ref(const float *x, int token, struct activations *out)
{
    for (int b = 0; b < out->blocks; b++) {
        float values[SUPER_BLOCK] = {0};
        int count = MIN(SUPER_BLOCK, out->width - b * SUPER_BLOCK);
        memcpy(values, x + b * SUPER_BLOCK, (size_t)count * sizeof(*x));
        size_t row = (size_t)b * (size_t)out->tokens + (size_t)token;
        if (out->forms & ACTIVATION_F32) {
            memcpy(out->f32 + row * SUPER_BLOCK, values, sizeof(values));
        }
        if (out->forms & ACTIVATION_Q8_256) {
            prepare_q8_256(values, row, &out->q8_256);
        }
        if (out->forms & ACTIVATION_Q8_32) {
            prepare_q8_32(values, row, &out->q8_32);
        }
    }
}
