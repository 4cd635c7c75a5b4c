/*
 * bpe_long.c: the pairs to which a rule applies wait in a queue for each rank, in
 * order of position, and a heap holds the ranks that wait. A million equal pairs
 * then cost a million constant steps, not a heap of a million.
 *
 * Why a queue is in order by itself: take two places where the same two symbols
 * come to stand side by side. Both pairs are the same bytes, so the same merges
 * made them, in the same order; among equal ranks the left one goes first; so
 * the left pair is never the later one.
 */
#include "bpe_long.h"

#include <stdlib.h>
#include <string.h>

/* A pair that waits. Entries are numbered from 1; 0 is none. */
struct entry {
    uint32_t position, next; /* next in the queue, or among the free ones */
};

struct queue {
    struct entry *entries;   /* [0] is not used */
    uint32_t *heads, *tails; /* [rules]: first and last entry of each rank */
    uint32_t *heap;          /* [rules]: ranks that wait, the lowest on top */
    uint32_t entry_count, entry_capacity, free_entry, heap_count;
};

/* The piece: symbols in a doubly linked list. */
struct piece {
    const struct merges *merges;
    int32_t *symbols; /* -1: swallowed by the symbol before */
    uint32_t *next, *previous;
    uint32_t count;
    struct queue queue;
};

static enum dllm_status create_entry(struct queue *queue, uint32_t position, uint32_t *out,
                                     struct dllm_error *error)
{
    if (queue->free_entry) {
        *out = queue->free_entry;
        queue->free_entry = queue->entries[*out].next;
    } else {
        if (queue->entry_count == queue->entry_capacity) {
            const size_t capacity = (size_t)queue->entry_capacity * 2 + 256;
            struct entry *entries = realloc(queue->entries, capacity * sizeof *entries);

            if (!entries)
                return status_no_memory(error, capacity * sizeof *entries);
            queue->entries = entries;
            queue->entry_capacity = (uint32_t)MIN(capacity, UINT32_MAX);
        }
        *out = queue->entry_count++;
    }
    queue->entries[*out] = (struct entry){position, 0};
    return DLLM_OK;
}

static void heap_add(struct queue *queue, uint32_t rank)
{
    uint32_t at = queue->heap_count++;

    while (at > 0 && queue->heap[(at - 1) / 2] > rank) {
        queue->heap[at] = queue->heap[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    queue->heap[at] = rank;
}

static void heap_remove_top(struct queue *queue)
{
    const uint32_t rank = queue->heap[--queue->heap_count];
    uint32_t at = 0;

    for (;;) {
        uint32_t child = 2 * at + 1;

        if (child >= queue->heap_count)
            break;
        if (child + 1 < queue->heap_count && queue->heap[child + 1] < queue->heap[child])
            child++;
        if (queue->heap[child] >= rank)
            break;
        queue->heap[at] = queue->heap[child];
        at = child;
    }
    queue->heap[at] = rank;
}

static enum dllm_status push(struct queue *queue, uint32_t rank, uint32_t position,
                             struct dllm_error *error)
{
    uint32_t entry = 0;

    TRY(create_entry(queue, position, &entry, error));
    if (queue->heads[rank]) {
        queue->entries[queue->tails[rank]].next = entry;
    } else {
        queue->heads[rank] = entry;
        heap_add(queue, rank);
    }
    queue->tails[rank] = entry;
    return DLLM_OK;
}

/* Takes the first pair; false when there is none. */
static bool pop(struct queue *queue, uint32_t *rank, uint32_t *position)
{
    uint32_t entry;

    if (queue->heap_count == 0)
        return false;
    *rank = queue->heap[0];
    entry = queue->heads[*rank];
    *position = queue->entries[entry].position;
    queue->heads[*rank] = queue->entries[entry].next;
    queue->entries[entry].next = queue->free_entry;
    queue->free_entry = entry;
    if (!queue->heads[*rank])
        heap_remove_top(queue);
    return true;
}

/* Queues the pair that starts at the position, if a rule applies to it. */
static enum dllm_status consider(struct piece *piece, uint32_t at, struct dllm_error *error)
{
    const uint32_t right = piece->next[at];
    struct merge merge;

    if (right >= piece->count)
        return DLLM_OK;
    merge = merges_find(piece->merges, piece->symbols[at], piece->symbols[right]);
    if (merge.rank == (uint32_t)MERGE_NONE)
        return DLLM_OK;
    return push(&piece->queue, merge.rank, at, error);
}

/* Merges the pair at the position if it still is the one of that rank. */
static enum dllm_status merge_at(struct piece *piece, uint32_t rank, uint32_t at,
                                 struct dllm_error *error)
{
    const uint32_t right = piece->next[at];
    struct merge merge;

    if (piece->symbols[at] < 0 || right >= piece->count)
        return DLLM_OK;
    merge = merges_find(piece->merges, piece->symbols[at], piece->symbols[right]);
    if (merge.rank != rank)
        return DLLM_OK;
    piece->symbols[at] = merge.result;
    piece->symbols[right] = -1;
    piece->next[at] = piece->next[right];
    if (piece->next[at] < piece->count)
        piece->previous[piece->next[at]] = at;
    if (at > 0)
        TRY(consider(piece, piece->previous[at], error));
    return consider(piece, at, error);
}

static enum dllm_status merge_all(struct piece *piece, struct dllm_error *error)
{
    uint32_t rank, at;

    for (uint32_t i = 0; i < piece->count; i++) {
        piece->next[i] = i + 1;
        piece->previous[i] = i - 1;
    }
    for (uint32_t i = 0; i < piece->count; i++)
        TRY(consider(piece, i, error));
    while (pop(&piece->queue, &rank, &at))
        TRY(merge_at(piece, rank, at, error));
    return DLLM_OK;
}

static bool allocate(struct piece *piece)
{
    const size_t rules = piece->merges->count;
    struct queue *queue = &piece->queue;

    queue->entry_count = 1;
    queue->heads = calloc(rules + 1, sizeof *queue->heads);
    queue->tails = malloc((rules + 1) * sizeof *queue->tails);
    queue->heap = malloc((rules + 1) * sizeof *queue->heap);
    queue->entries = malloc(256 * sizeof *queue->entries);
    queue->entry_capacity = 256;
    piece->previous = malloc((size_t)piece->count * sizeof *piece->previous);
    return queue->heads && queue->tails && queue->heap && queue->entries && piece->previous;
}

enum dllm_status bpe_merge_long(const struct merges *merges, int32_t *symbols, uint32_t *next,
                                uint32_t count, struct dllm_error *error)
{
    struct piece piece = {.merges = merges, .symbols = symbols, .next = next, .count = count};
    enum dllm_status status;

    if (allocate(&piece))
        status = merge_all(&piece, error);
    else
        status = status_no_memory(error, ((size_t)count + 3 * (size_t)merges->count) * 4);
    free(piece.previous);
    free(piece.queue.heads);
    free(piece.queue.tails);
    free(piece.queue.heap);
    free(piece.queue.entries);
    return status;
}
