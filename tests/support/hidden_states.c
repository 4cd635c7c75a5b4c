/* hidden_states.c: see hidden_states.h. */
#include "hidden_states.h"

#include "parity.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void hidden_states_keep(void *user, int layer, const float *hidden, size_t rows, size_t width)
{
    struct hidden_states *states = user;
    size_t bytes = rows * width * sizeof *hidden;
    float **grown, *copy;

    if (states->count == 0) {
        states->rows = rows;
        states->width = width;
    }
    states->bad =
        states->bad || layer != states->count - 1 || rows != states->rows || width != states->width;
    if (states->bad)
        return;
    grown = realloc(states->layers, (size_t)(states->count + 1) * sizeof *grown);
    copy = malloc(bytes);
    if (grown)
        states->layers = grown;
    if (!grown || !copy) {
        free(copy);
        states->bad = true;
        return;
    }
    memcpy(copy, hidden, bytes);
    states->layers[states->count++] = copy;
}

void hidden_states_free(struct hidden_states *states)
{
    for (int i = 0; i < states->count; i++)
        free(states->layers[i]);
    free(states->layers);
    *states = (struct hidden_states){0};
}

static void compare_layer(const float *got, const float *want, size_t rows, size_t width)
{
    struct row_distance all = parity_of_row(got, want, rows * width), worst = {0};
    size_t worst_row = 0;

    for (size_t row = 0; row < rows; row++) {
        struct row_distance found = parity_of_row(got + row * width, want + row * width, width);

        if (row == 0 || found.relative_rms > worst.relative_rms) {
            worst = found;
            worst_row = row;
        }
    }
    printf(" %12.3e %10.7f  %6zu %12.3e %10.7f\n", all.relative_rms, all.cosine, worst_row,
           worst.relative_rms, worst.cosine);
}

bool hidden_states_compare(const struct hidden_states *got, const struct hidden_states *want)
{
    if (got->bad || want->bad || got->count != want->count || got->rows != want->rows ||
        got->width != want->width)
        return false;
    printf("%-9s %12s %10s  %6s %12s %10s\n", "behind", "relative RMS", "cosine", "row", "its RMS",
           "its cosine");
    for (int i = 0; i < got->count; i++) {
        if (i == 0)
            printf("%-9s", "embedding");
        else
            printf("layer %-3d", i - 1);
        compare_layer(got->layers[i], want->layers[i], got->rows, got->width);
    }
    return true;
}
