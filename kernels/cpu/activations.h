/*
 * activations.h: the inputs of a matmul, [tokens, width] f32 values in the forms
 * that the weight types need. All forms are super-block major,
 * [blocks][tokens][...], so that everything one weight panel meets is
 * contiguous. The last super-block is padded with zeros.
 *
 * int8 forms (weights in super-blocks of 256): q = round-half-even(x * 127 /
 * max|x|) with one scale max|x| / 127 per 256 values; with weights in blocks
 * of 32 (Q8_0) the scale is per 32 values. A block of zeros has scale 0.
 */
#ifndef ACTIVATIONS_H
#define ACTIVATIONS_H

#include <stddef.h>
#include <stdint.h>

enum { SUPER_BLOCK = 256 };

/* Which form a weight type multiplies with; bits of a set. */
enum activation_form {
    ACTIVATION_F32 = 1,    /* F32, F16, BF16 weights */
    ACTIVATION_Q8_256 = 2, /* Q4_K, Q5_K, Q6_K */
    ACTIVATION_Q8_32 = 4   /* Q8_0 */
};

/* The form for a weight type (enum dtype), 0 if it has no kernel. */
unsigned activation_form_of(uint32_t type);

/* One int8 form with the sums that its kernels start from. */
struct activations_q8 {
    int8_t *q;    /* [blocks][tokens][256], in the kernels' order */
    float *scale; /* [blocks][tokens], or [blocks][tokens][8] per 32 values */
};

/* A value type: pointers into one allocation, cut by activations_layout. */
struct activations {
    int tokens, width, blocks; /* blocks = ceil(width / 256) */
    unsigned forms;            /* bit set of enum activation_form that are filled */
    float *f32;                /* [blocks][tokens][256] */
    struct activations_q8 q8_256;
    struct activations_q8 q8_32;
};

/* Bytes of storage for tokens x width in the given forms. */
size_t activations_bytes(int tokens, int width, unsigned forms);

/* Cuts storage (64-byte aligned, activations_bytes long) into the fields. */
void activations_layout(struct activations *out, void *storage, int tokens, int width,
                        unsigned forms);

#endif
