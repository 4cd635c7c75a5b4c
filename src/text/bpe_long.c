/*
 * bpe_long.c: candidates wait in a queue ordered by rank, then position. Most
 * arrive in order of position for their rank, so the queue is a heap of runs: a
 * run is a list of positions in ascending order that share a rank, and a
 * candidate goes to the end of the latest run of its rank if it fits there. A
 * million equal pairs are then one run, taken from its head in constant time;
 * the heap is ordered by the runs' heads, so that the order is exact whatever
 * the rules are.
 */
#include "bpe_long.h"

#include <stdlib.h>
#include <string.h>

#define NOTHING UINT32_MAX

struct entry {
    uint32_t position, next; /* next entry of the run, or of the free list */
};

struct run {
    uint32_t rank, head, tail; /* entries; head is NOTHING when the run is used up */
};

/* An item of the heap: the order of a run's head, rank << 32 | position. */
struct item {
    uint64_t order;
    uint32_t run;
};

struct queue {
    struct entry *entries;
    struct run *runs;
    struct item *heap;
    uint32_t *latest; /* [rules]: the latest run of a rank, to be checked against runs */
    uint32_t entry_count, entry_capacity, free_entry;
    uint32_t run_count, run_capacity, heap_count, free_run;
};

/* The piece: symbols in a doubly linked list. */
struct piece {
    const struct merges *merges;
    int32_t *symbols; /* -1: swallowed by the symbol before */
    uint32_t *next, *previous;
    uint32_t count;
    struct queue queue;
};

/* Makes room for one more item in an array of items of that many bytes. */
static enum dllm_status grow(void *array, uint32_t *capacity, size_t item_size,
                             struct dllm_error *error)
{
    const size_t wanted = (size_t)*capacity * 2 + 64;
    void *old, *grown;

    memcpy(&old, array, sizeof old);
    grown = realloc(old, wanted * item_size);
    if (!grown)
        return status_no_memory(error, wanted * item_size);
    memcpy(array, &grown, sizeof grown);
    *capacity = (uint32_t)wanted;
    return DLLM_OK;
}

/* Moves the item at `at` down to where its order belongs. */
static void sift_down(struct queue *queue, uint32_t at)
{
    const struct item item = queue->heap[at];

    for (;;) {
        uint32_t child = 2 * at + 1;

        if (child >= queue->heap_count)
            break;
        if (child + 1 < queue->heap_count &&
            queue->heap[child + 1].order < queue->heap[child].order)
            child++;
        if (queue->heap[child].order >= item.order)
            break;
        queue->heap[at] = queue->heap[child];
        at = child;
    }
    queue->heap[at] = item;
}

static void sift_up(struct queue *queue, uint32_t at)
{
    const struct item item = queue->heap[at];

    while (at > 0 && queue->heap[(at - 1) / 2].order > item.order) {
        queue->heap[at] = queue->heap[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    queue->heap[at] = item;
}

static enum dllm_status create_entry(struct queue *queue, uint32_t position, uint32_t *out,
                                     struct dllm_error *error)
{
    uint32_t entry = queue->free_entry;

    if (entry != NOTHING) {
        queue->free_entry = queue->entries[entry].next;
    } else {
        if (queue->entry_count == queue->entry_capacity)
            TRY(grow(&queue->entries, &queue->entry_capacity, sizeof *queue->entries, error));
        entry = queue->entry_count++;
    }
    queue->entries[entry] = (struct entry){position, NOTHING};
    *out = entry;
    return DLLM_OK;
}

/* A run number that is free, with room for it in the heap. */
static enum dllm_status create_run(struct queue *queue, uint32_t *out, struct dllm_error *error)
{
    uint32_t capacity = queue->run_capacity;

    if (queue->free_run != NOTHING) {
        *out = queue->free_run;
        queue->free_run = queue->runs[*out].tail;
        return DLLM_OK;
    }
    if (queue->run_count == capacity) {
        TRY(grow(&queue->heap, &capacity, sizeof *queue->heap, error));
        TRY(grow(&queue->runs, &queue->run_capacity, sizeof *queue->runs, error));
    }
    *out = queue->run_count++;
    return DLLM_OK;
}

static enum dllm_status push(struct queue *queue, uint32_t rank, uint32_t position,
                             struct dllm_error *error)
{
    uint32_t number = queue->latest[rank], entry;
    struct run *run = number < queue->run_count ? &queue->runs[number] : NULL;

    TRY(create_entry(queue, position, &entry, error));
    if (run && run->rank == rank && run->head != NOTHING &&
        queue->entries[run->tail].position < position) {
        queue->entries[run->tail].next = entry;
        run->tail = entry;
        return DLLM_OK;
    }
    TRY(create_run(queue, &number, error));
    queue->runs[number] = (struct run){rank, entry, entry};
    queue->latest[rank] = number;
    queue->heap[queue->heap_count] = (struct item){(uint64_t)rank << 32 | position, number};
    sift_up(queue, queue->heap_count++);
    return DLLM_OK;
}

/* Takes the first candidate; false when there is none. */
static bool pop(struct queue *queue, uint32_t *rank, uint32_t *position)
{
    struct run *run;
    uint32_t entry;

    if (queue->heap_count == 0)
        return false;
    run = &queue->runs[queue->heap[0].run];
    entry = run->head;
    *rank = run->rank;
    *position = queue->entries[entry].position;
    run->head = queue->entries[entry].next;
    queue->entries[entry].next = queue->free_entry;
    queue->free_entry = entry;
    if (run->head != NOTHING) {
        queue->heap[0].order = (uint64_t)run->rank << 32 | queue->entries[run->head].position;
    } else {
        run->tail = queue->free_run;
        queue->free_run = queue->heap[0].run;
        queue->heap[0] = queue->heap[--queue->heap_count];
    }
    if (queue->heap_count > 0)
        sift_down(queue, 0);
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

enum dllm_status bpe_merge_long(const struct merges *merges, int32_t *symbols, uint32_t *next,
                                uint32_t count, struct dllm_error *error)
{
    struct piece piece = {.merges = merges, .symbols = symbols, .next = next, .count = count};
    enum dllm_status status;

    piece.queue.free_entry = piece.queue.free_run = NOTHING;
    piece.previous = malloc((size_t)count * sizeof *piece.previous);
    piece.queue.latest = calloc((size_t)merges->count + 1, sizeof *piece.queue.latest);
    if (piece.previous && piece.queue.latest)
        status = merge_all(&piece, error);
    else
        status = status_no_memory(error, (size_t)count * sizeof *piece.previous);
    free(piece.previous);
    free(piece.queue.latest);
    free(piece.queue.entries);
    free(piece.queue.runs);
    free(piece.queue.heap);
    return status;
}
