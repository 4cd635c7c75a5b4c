/*
 * activations.h: the inputs of a matmul, [tokens, width] f32 values in the forms
 * that the weight types need. All forms are super-block major,
 * [blocks][tokens][...], so that everything one weight panel meets is
 * contiguous. The last super-block is padded with zeros.
 *
 * int8 forms: q = round-half-even(x * (127 / max|x|)) with one scale
 * max|x| / 127 per 256 values (weights in blocks of 256) or per 32 values
 * (weights in blocks of 32). A block without a magnitude of ACTIVATION_TINY or more has scale 0
 * and q = 0. A block with a NaN or an infinity has q = 0 and that NaN or
 * infinity as its scale, so that everything computed from it is not finite.
 */
#ifndef ACTIVATIONS_H
#define ACTIVATIONS_H

#include <stddef.h>
#include <stdint.h>

enum { SUPER_BLOCK = 256 };

/* 2^-100: from here on 127 / max and max / 127 are normal numbers. */
#define ACTIVATION_TINY 0x1p-100f

/* Which form a weight type multiplies with; bits of a set. */
enum activation_form {
    ACTIVATION_F32 = 1,    /* F32, F16, BF16 weights */
    ACTIVATION_Q8_256 = 2, /* weights in blocks of 256 */
    ACTIVATION_Q8_32 = 4   /* weights in blocks of 32 */
};

/* The form for a weight type (enum dtype), 0 if it has no kernel. */
unsigned activation_form_of(uint32_t type);

/*
 * Order of q: within each 64 values the groups of four of the first and of the
 * second 32 alternate. One 64-bit load then fetches four values of two
 * sub-blocks (weights in blocks of 32: 2i and 2i + 1; in groups of 16: g and
 * g + 2), which is how the panels of all int8 types lie. Returns the place of
 * value k, 0 <= k < 256.
 */
static inline int activation_place(int k)
{
    return (k & ~63) + (k & 31) / 4 * 8 + (k >> 5 & 1) * 4 + (k & 3);
}

/* Bits of `wide`: a sum over a sub-block of that type may leave int16. */
enum activation_wide { WIDE_Q4_K = 1, WIDE_Q5_K = 2, WIDE_Q6_K = 4, WIDE_IQ2 = 8 };

/*
 * int8 with one scale per 256 values, and what its kernels start from. Every
 * array is [blocks][tokens][...]. Pair i = 2h + c (h = 0..3, c = 0, 1) of the
 * groups of 16 is (g, g + 2) with g = 4h + c.
 */
struct activations_q8_256 {
    int8_t *q;        /* [256], see activation_place */
    float *scale;     /* one */
    int16_t *sums32;  /* [8] sums of 32 values: minimums of sub-blocks of 32 */
    int16_t *sums16;  /* [8 pairs][2] sums of a group of 16: Q2_K minimums */
    int32_t *start16; /* [8 pairs][2] -32 * sum of a group: Q6_K counts q from -32 */
    int32_t *start8;  /* [8 pairs][2 halves][2] the same per half group */
    int16_t *start2;  /* [8 pairs][2][2] the same, values 0, 1 and 2, 3 of each four apart */
    uint8_t *wide;    /* bits of enum activation_wide */
};

/* int8 with a scale per 32 values; arrays [blocks][tokens][...]. */
struct activations_q8_32 {
    int8_t *q;        /* [256], see activation_place */
    float *scale;     /* [8] */
    int32_t *start32; /* [8] -128 * sum of 32 values: Q8_0 weights counted from 0 */
};

/* A value type: pointers into one allocation, cut by activations_layout. */
struct activations {
    int tokens, width, blocks; /* blocks = ceil(width / 256) */
    unsigned forms;            /* bit set of enum activation_form that are filled */
    float *f32;                /* [blocks][tokens][256] */
    struct activations_q8_256 q8_256;
    struct activations_q8_32 q8_32;
};

/* Bytes of storage for tokens x width (both at least 1) in the given forms. */
size_t activations_bytes(int tokens, int width, unsigned forms);

/* Cuts storage (64-byte aligned, activations_bytes long) into the fields; the
 * pointers of forms that are not asked for become NULL. */
void activations_layout(struct activations *out, void *storage, int tokens, int width,
                        unsigned forms);

/* Makes token `to_token` of `to` what token `token` of `from` is; both have the same
 * width and forms and lie apart. */
void activations_copy_token(const struct activations *from, int token, struct activations *to,
                            int to_token);

#endif
