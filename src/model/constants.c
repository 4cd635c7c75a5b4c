/* constants.c: what passes over a model's layers read, for a device that needs a copy. */
#include "dtype.h"
#include "weights.h"

struct list {
    struct backend_range *ranges; /* NULL: they are only counted */
    size_t count;
};

static void add(struct list *list, const void *data, uint64_t bytes)
{
    if (bytes == 0)
        return;
    if (list->ranges)
        list->ranges[list->count] = (struct backend_range){data, bytes};
    list->count++;
}

/* `stack` matrices that follow one another. */
static void add_matrices(struct list *list, const struct backend_matrix *matrix, int stack)
{
    if (matrix->rows)
        add(list, matrix->data,
            (uint64_t)stack * (uint64_t)matrix->rows *
                dtype_row_bytes(matrix->type, (uint64_t)matrix->width));
}

static void add_layer(struct list *list, const struct hparams *hparams,
                      const struct layer_weights *layer)
{
    int stack = MAX(hparams->experts, 1);

    add_matrices(list, &layer->q, 1);
    add_matrices(list, &layer->k, 1);
    add_matrices(list, &layer->v, 1);
    add_matrices(list, &layer->output, 1);
    add_matrices(list, &layer->router, 1);
    add_matrices(list, &layer->gate, stack);
    add_matrices(list, &layer->up, stack);
    add_matrices(list, &layer->down, stack);
}

size_t weights_constants(const struct weights *weights, const struct hparams *hparams, int first,
                         struct backend_range *out)
{
    struct list list = {out, 0};

    add(&list, weights->vectors, sizeof(float) * weights->vector_floats);
    if (first == 0)
        add_matrices(&list, &weights->embedding, 1);
    for (int i = first; i < hparams->layers; i++)
        add_layer(&list, hparams, &weights->layers[i]);
    if (first > 0 || weights->head.data != weights->embedding.data)
        add_matrices(&list, &weights->head, 1);
    return list.count;
}
