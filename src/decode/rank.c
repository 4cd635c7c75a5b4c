/*
 * rank.c: sorting candidates and drawing from them.
 */
#include "rank.h"

#include "rng.h"

#include <math.h>

static int comes_first(const struct rank *a, const struct rank *b)
{
    if (a->key != b->key)
        return a->key > b->key;
    if (a->confidence != b->confidence)
        return a->confidence > b->confidence;
    return a->index < b->index;
}

/* Sifts down in a heap whose top is the last of the order. */
static void heap_sift(struct rank *heap, int count, int at)
{
    struct rank moved = heap[at];

    for (int child = 2 * at + 1; child < count; child = 2 * at + 1) {
        if (child + 1 < count && comes_first(&heap[child], &heap[child + 1]))
            child++;
        if (comes_first(&heap[child], &moved))
            break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = moved;
}

/* Heap sort: the library's qsort may allocate, and a step must not. */
void rank_sort(struct rank *ranks, int count)
{
    for (int at = count / 2 - 1; at >= 0; at--)
        heap_sift(ranks, count, at);
    for (int left = count - 1; left > 0; left--) {
        struct rank last = ranks[0];
        ranks[0] = ranks[left];
        ranks[left] = last;
        heap_sift(ranks, left, 0);
    }
}

void rank_by_confidence(const struct pick *picks, int count, struct rank *ranks)
{
    for (int i = 0; i < count; i++)
        ranks[i] = (struct rank){picks[i].confidence, picks[i].confidence, i};
    rank_sort(ranks, count);
}

/* Sorting by ln(weight) - ln(-ln u) draws without replacement in proportion to
 * the weights: each key is the logarithm of one over an exponential waiting
 * time with the weight as its rate, and the earliest of those that wait is any
 * of them in proportion to its rate. One number a position, whatever the order. */
void rank_draw(struct rank *ranks, int count, int chosen, double alg_temp, const int32_t *positions,
               const struct pick_rules *rules)
{
    double surest = -INFINITY;

    for (int i = 0; i < count; i++)
        surest = fmax(surest, ranks[i].confidence);
    for (int i = 0; i < count; i++) {
        double log_weight = (ranks[i].confidence - surest) / alg_temp;
        double u = rng_uniform(rules->seed, rules->step, (uint32_t)positions[ranks[i].index],
                               PICK_DRAW_ALG);
        ranks[i].key = exp(log_weight) > 0 ? log_weight - log(-log(u)) : -INFINITY;
    }
    rank_sort(ranks, count);
    for (int i = 0; i < chosen; i++)
        ranks[i].key = ranks[i].confidence;
    rank_sort(ranks, chosen);
}
