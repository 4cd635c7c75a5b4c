/* parity.c: see parity.h. Sums are doubles. */
#include "parity.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static size_t top_id(const float *row, size_t width)
{
    size_t top = 0;

    for (size_t i = 1; i < width; i++)
        if (row[i] > row[top])
            top = i;
    return top;
}

struct row_distance parity_of_row(const float *got, const float *want, size_t width)
{
    double difference = 0, gg = 0, ww = 0, gw = 0;

    for (size_t i = 0; i < width; i++) {
        difference += ((double)got[i] - want[i]) * ((double)got[i] - want[i]);
        gg += (double)got[i] * got[i];
        ww += (double)want[i] * want[i];
        gw += (double)got[i] * want[i];
    }
    return (struct row_distance){sqrt(difference / ww), gw / sqrt(gg * ww),
                                 top_id(got, width) == top_id(want, width)};
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

struct parity parity_of_rows(const float *got, const float *want, size_t rows, size_t width)
{
    double rms[PARITY_MAX_ROWS], cosine[PARITY_MAX_ROWS];
    struct parity parity = {.rows = rows};

    for (size_t row = 0; row < rows; row++) {
        struct row_distance distance = parity_of_row(got + row * width, want + row * width, width);

        rms[row] = distance.relative_rms;
        cosine[row] = distance.cosine;
        parity.same_top += distance.same_top;
    }
    qsort(rms, rows, sizeof *rms, compare_doubles);
    qsort(cosine, rows, sizeof *cosine, compare_doubles);
    parity.median_rms = rms[rows / 2];
    parity.worst_rms = rms[rows - 1];
    parity.median_cosine = cosine[rows / 2];
    parity.lowest_cosine = cosine[0];
    return parity;
}

bool parity_is_good(const struct parity *parity, bool quantized)
{
    if (quantized)
        return parity->median_cosine >= 0.999 && parity->same_top * 24 >= parity->rows * 21;
    return parity->median_rms <= 2e-3;
}

void parity_describe(const struct parity *parity, char *out, size_t size)
{
    snprintf(out, size,
             "relative RMS median %.1e, worst %.1e; cosine median %.6f, lowest %.6f; same top id "
             "in %zu of %zu rows",
             parity->median_rms, parity->worst_rms, parity->median_cosine, parity->lowest_cosine,
             parity->same_top, parity->rows);
}
