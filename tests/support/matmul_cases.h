/*
 * matmul_cases.h: weights, inputs and comparisons for tests and benchmarks of
 * matmul kernels.
 */
#ifndef MATMUL_CASES_H
#define MATMUL_CASES_H

#include "kernels.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Random bits from a seed; any state is valid. */
uint64_t case_random(uint64_t *state);

/* Uniform in 0 .. count - 1; count > 0. */
int case_below(uint64_t *state, int count);

/* Kinds of inputs. An edge makes the largest sub-block sums that still count as
 * narrow for a type, or the smallest that count as wide. */
enum case_inputs {
    INPUTS_NORMAL = 0,
    INPUTS_LARGEST,     /* one sign and magnitude throughout a token */
    INPUTS_RANDOM_SIGN, /* one magnitude */
    INPUTS_UNIFORM,
    INPUTS_EDGE_Q4_K,
    INPUTS_OVER_Q4_K,
    INPUTS_EDGE_Q5_K,
    INPUTS_OVER_Q5_K,
    INPUTS_EDGE_Q6_K,
    INPUTS_OVER_Q6_K,
    INPUTS_EDGE_IQ2,
    INPUTS_OVER_IQ2,
    INPUTS_SPARSE,    /* zeros, among them whole blocks; tiny and huge values */
    INPUTS_NONFINITE, /* some NaN and infinities */
    INPUTS_KINDS
};

/* Kinds of weights. */
enum case_weights {
    WEIGHTS_RANDOM = 0, /* random bits, scales of ordinary size */
    WEIGHTS_LARGEST,    /* largest scales and weights of one sign */
    WEIGHTS_SMALLEST,   /* largest scales, weights of the other sign */
    WEIGHTS_EXTREMES,   /* each weight and scale at one end of its range */
    WEIGHTS_ANY_BITS,   /* scales and floats may be NaN, infinite, subnormal */
    WEIGHTS_KINDS
};

/* x [width], as token `token` of the kind. */
void case_fill_inputs(uint64_t *state, enum case_inputs kind, int token, int width, float *x);

/* Bytes of blocks of a type with kernels; bytes is a multiple of its block. */
void case_fill_weights(uint64_t *state, uint32_t type, enum case_weights kind, size_t bytes,
                       void *weights);

/* One comparison of a kernel with the reference. */
struct matmul_case {
    uint32_t type;
    int rows, width, tokens;
    int before, behind; /* tokens of the inputs that are not the item's */
    int blocks_at_once; /* as in struct matmul_item */
    enum case_inputs inputs;
    enum case_weights weights;
    bool bias, accumulate;
    bool at_start; /* weights behind a forbidden page; else before one */
    uint64_t seed;
};

/* A random case of the type: rows 1..40, tokens 1..33, widths with tails. */
struct matmul_case case_random_matmul(uint64_t *state, uint32_t type);

/* Text of a case, for messages; in static storage. */
const char *case_describe(const struct matmul_case *c);

/* Memory of `bytes` bytes between two pages that may not be touched, flush with
 * the first or the second. Free with case_guarded_free; exits on failure. */
struct case_guarded {
    void *data;
    void *mapping;
    size_t mapped;
};
struct case_guarded case_guarded_alloc(size_t bytes, bool at_start);
void case_guarded_free(struct case_guarded *guarded);

/* What a case runs on; item.out and item.in are set by case_data_*. */
struct matmul_data {
    struct matmul_case c;
    struct matmul_item item;
    struct activations in;
    struct case_guarded weights;
    float *bias;
    void *storage, *scratch;
    size_t outputs; /* floats of an output, gaps between tokens included */
};

/* Makes the data of a case, in place (item points into it); close it. */
void case_data_open(struct matmul_data *data, const struct matmul_case *c);
void case_data_close(struct matmul_data *data);

/* Runs a kernel on outputs [tokens][item.out_step] that hold the same numbers
 * each time; free the returned outputs. */
float *case_data_run(struct matmul_data *data, matmul_kernel *kernel);

/* Runs kernels [count], the first of which is right, on the case, weights against
 * a page that may not be read. Returns the first other one that gives other bits
 * (any NaN equals any NaN) or writes anything but the outputs, 0 if none does. */
int case_matmul_differs(const struct matmul_case *c, matmul_kernel *const *kernels, int count);

/* A NaN equals any NaN; everything else must have equal bits. Returns the first
 * index that differs, count if there is none. */
size_t case_first_difference(const float *a, const float *b, size_t count);

#endif
