/*
 * filter.c: top-p and top-k by buckets and a heap; see filter.h.
 */
#include "filter.h"

#include "compiler.h"

#include <math.h>
#include <string.h>

/* 32 buckets to a nat reach 32 nats down; what is further away shares the last
 * bucket, with less than 1.3e-14 of the best token's probability each. */
#define BUCKETS         1024
#define BUCKETS_PER_NAT 32

/* The last token of the order that survives. */
struct cut {
    float logit;
    int32_t id; /* of those with this logit, ids up to this one survive */
};

struct buckets {
    double mass[BUCKETS]; /* weights of the bucket's tokens */
    int32_t count[BUCKETS];
    int32_t ids[]; /* [vocab] the tokens of one bucket, as a heap */
};

size_t filter_scratch_bytes(int vocab)
{
    return sizeof(struct buckets) + (size_t)vocab * sizeof(int32_t);
}

/* Never falls with a rising logit, so buckets follow the order of the row. */
static int bucket_index(const struct filter_row *row, int id)
{
    double distance = (row->max - row->logits[id]) * row->scale * BUCKETS_PER_NAT;

    return distance < BUCKETS - 1 ? (int)distance : BUCKETS - 1;
}

static void buckets_fill(struct buckets *buckets, const struct filter_row *row)
{
    memset(buckets->mass, 0, sizeof buckets->mass);
    memset(buckets->count, 0, sizeof buckets->count);
    for (int id = 0; id < row->vocab; id++)
        if (row->logits[id] > -INFINITY) {
            int index = bucket_index(row, id);
            buckets->mass[index] += row->weights[id];
            buckets->count[index]++;
        }
}

static int comes_first(const struct filter_row *row, int32_t a, int32_t b)
{
    return row->logits[a] > row->logits[b] || (row->logits[a] == row->logits[b] && a < b);
}

static void heap_sift(const struct filter_row *row, int32_t *heap, int count, int at)
{
    int32_t moved = heap[at];

    for (int child = 2 * at + 1; child < count; child = 2 * at + 1) {
        if (child + 1 < count && comes_first(row, heap[child + 1], heap[child]))
            child++;
        if (comes_first(row, moved, heap[child]))
            break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = moved;
}

/* Gathers a bucket's tokens into a heap with the first of the order on top. */
static int heap_build(struct buckets *buckets, const struct filter_row *row, int index)
{
    int count = 0;

    for (int id = 0; id < row->vocab && count < buckets->count[index]; id++)
        if (row->logits[id] > -INFINITY && bucket_index(row, id) == index)
            buckets->ids[count++] = id;
    for (int at = count / 2 - 1; at >= 0; at--)
        heap_sift(row, buckets->ids, count, at);
    return count;
}

static int32_t heap_pop(const struct filter_row *row, int32_t *heap, int *count)
{
    int32_t top = heap[0];

    heap[0] = heap[--*count];
    if (*count > 0)
        heap_sift(row, heap, *count, 0);
    return top;
}

/* A token survives unless the mass before it is above the limit; so the cut is
 * in the last bucket whose first token survives. The best survives always. */
static struct cut cut_top_p(struct buckets *buckets, const struct filter_row *row, double top_p)
{
    double limit = top_p * row->total;
    double before = 0, before_bucket = 0;
    int bucket = 0, count;
    int32_t last;

    for (int index = 0; index < BUCKETS && before <= limit; index++)
        if (buckets->count[index] > 0) {
            bucket = index;
            before_bucket = before;
            before += buckets->mass[index];
        }
    before = before_bucket;
    count = heap_build(buckets, row, bucket);
    do {
        last = heap_pop(row, buckets->ids, &count);
        before += row->weights[last];
    } while (count > 0 && before <= limit);
    return (struct cut){row->logits[last], last};
}

/* Everything survives when there are no more than top_k tokens. */
static struct cut cut_top_k(struct buckets *buckets, const struct filter_row *row, int top_k)
{
    int index = 0, left = top_k, count;
    int32_t last = 0;

    while (index < BUCKETS && buckets->count[index] < left)
        left -= buckets->count[index++];
    if (index == BUCKETS)
        return (struct cut){-INFINITY, INT32_MAX};
    count = heap_build(buckets, row, index);
    while (left-- > 0)
        last = heap_pop(row, buckets->ids, &count);
    return (struct cut){row->logits[last], INT32_MAX};
}

static struct cut cut_stricter(struct cut a, struct cut b)
{
    if (a.logit != b.logit)
        return a.logit > b.logit ? a : b;
    return a.id < b.id ? a : b;
}

int filter_apply(const struct filter_row *row, double top_p, int top_k, void *scratch)
{
    struct buckets *buckets = scratch;
    struct cut cut = {-INFINITY, INT32_MAX};
    int survivors = row->vocab;

    if (top_p >= 1 && top_k <= 0)
        return survivors;
    buckets_fill(buckets, row);
    if (top_p < 1)
        cut = cut_top_p(buckets, row, top_p);
    /* The k-th of the row is the k-th of what top_p left, or is cut already. */
    if (top_k > 0)
        cut = cut_stricter(cut, cut_top_k(buckets, row, top_k));
    for (int id = 0; id < row->vocab; id++)
        if (row->logits[id] < cut.logit || (row->logits[id] == cut.logit && id > cut.id)) {
            row->weights[id] = 0;
            survivors--;
        }
    return survivors;
}
