/*
 * parity.h: how far two sides' logits of the same canvas are apart.
 */
#ifndef PARITY_H
#define PARITY_H

#include <stdbool.h>
#include <stddef.h>

struct row_distance {
    double relative_rms, cosine;
    bool same_top; /* the same id has the highest logit; ties go to the lower one */
};

/* Of two rows of `width` logits; relative to want. */
struct row_distance parity_of_row(const float *got, const float *want, size_t width);

/* Of all rows: median and worst relative RMS, median and lowest cosine. */
struct parity {
    double median_rms, worst_rms, median_cosine, lowest_cosine;
    size_t rows, same_top;
};

/* got and want are [rows, width], rows at most PARITY_MAX_ROWS. */
enum { PARITY_MAX_ROWS = 256 };
struct parity parity_of_rows(const float *got, const float *want, size_t rows, size_t width);

/* Float weights: a relative RMS of 2e-3 in the median row. Quantized ones: a
 * cosine of 0.999 there and the same top id in 21 of 24 rows. */
bool parity_is_good(const struct parity *parity, bool quantized);

/* One line with all numbers, without a newline, into out [size]. */
void parity_describe(const struct parity *parity, char *out, size_t size);

#endif
