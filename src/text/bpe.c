/*
 * bpe.c: pieces are mostly short words seen before, so the ids of short pieces
 * are remembered; a short piece is merged by looking through its pairs for the
 * best one each time, a long one by bpe_long.c.
 */
#include "bpe.h"

#include "bpe_long.h"

#include <stdlib.h>
#include <string.h>

enum {
    SHORT_BYTES = 48,     /* the longest piece merged by looking through it */
    MEMORY_PIECES = 8192, /* places of the memory; a power of two */
    MEMORY_BYTES = 15,    /* the longest piece remembered */
    MEMORY_IDS = 3,       /* the most ids remembered of one */
    MEMORY_TEXT = 1024    /* texts below this do without: they repeat little */
};

/* A remembered piece, half a cache line. count 0: free. */
struct memory {
    uint64_t key[2]; /* the bytes, zeros, and the size in the last byte */
    int32_t count;
    int32_t ids[MEMORY_IDS];
};

struct bpe_work {
    const struct vocab *vocab;
    const struct merges *merges;
    struct memory *memory; /* [MEMORY_PIECES] or NULL */
};

/* A short piece being merged; pairs[i] is the rule for symbols i and i + 1. */
struct short_piece {
    int count;
    int32_t symbols[SHORT_BYTES];
    struct merge pairs[SHORT_BYTES];
    uint8_t starts[SHORT_BYTES + 1]; /* the symbols' first bytes, then the end */
};

enum dllm_status bpe_ids_reserve(struct bpe_ids *out, size_t more, struct dllm_error *error)
{
    size_t capacity = out->capacity * 2 + 64;
    int32_t *ids;

    if (out->capacity - out->count >= more)
        return DLLM_OK;
    if (capacity - out->count < more)
        capacity = out->count + more;
    ids = realloc(out->ids, capacity * sizeof *ids);
    if (!ids)
        return status_no_memory(error, capacity * sizeof *ids);
    out->ids = ids;
    out->capacity = capacity;
    return DLLM_OK;
}

enum dllm_status bpe_work_create(const struct vocab *vocab, const struct merges *merges,
                                 size_t text_size, struct bpe_work **out, struct dllm_error *error)
{
    struct bpe_work *work = calloc(1, sizeof *work);

    if (!work)
        return status_no_memory(error, sizeof *work);
    work->vocab = vocab;
    work->merges = merges;
    /* Without the memory all is as well, only slower. */
    if (text_size >= MEMORY_TEXT)
        work->memory = calloc(MEMORY_PIECES, sizeof *work->memory);
    *out = work;
    return DLLM_OK;
}

void bpe_work_destroy(struct bpe_work *work)
{
    if (!work)
        return;
    free(work->memory);
    free(work);
}

/* Appends a symbol's token, or the tokens of the bytes that it covers. */
static enum dllm_status emit(const struct vocab *vocab, int32_t symbol, struct dllm_string bytes,
                             struct bpe_ids *out, struct dllm_error *error)
{
    if ((uint32_t)symbol < vocab->token_count && vocab->types[symbol] == TOKEN_NORMAL) {
        out->ids[out->count++] = symbol;
        return DLLM_OK;
    }
    for (size_t i = 0; i < bytes.size; i++) {
        int32_t id = vocab->byte_ids[(uint8_t)bytes.data[i]];

        if (id < 0)
            return status_fail(error, DLLM_ERROR_FORMAT,
                               "the vocabulary has no token for byte 0x%02X, which the text has; "
                               "expected one for each of the 256 bytes: convert the model again",
                               (unsigned)(uint8_t)bytes.data[i]);
        out->ids[out->count++] = id;
    }
    return DLLM_OK;
}

/* Merges pair `at` and closes the gap. */
static void merge_short(const struct merges *merges, struct short_piece *piece, int at)
{
    const int behind = piece->count - at - 2;

    piece->symbols[at] = piece->pairs[at].result;
    memmove(piece->symbols + at + 1, piece->symbols + at + 2,
            (size_t)behind * sizeof *piece->symbols);
    memmove(piece->pairs + at, piece->pairs + at + 1, (size_t)(behind + 1) * sizeof *piece->pairs);
    memmove(piece->starts + at + 1, piece->starts + at + 2, (size_t)behind + 1);
    piece->count--;
    if (at > 0)
        piece->pairs[at - 1] = merges_find(merges, piece->symbols[at - 1], piece->symbols[at]);
    if (behind > 0)
        piece->pairs[at] = merges_find(merges, piece->symbols[at], piece->symbols[at + 1]);
}

static int best_pair(const struct short_piece *piece)
{
    int best = 0;

    for (int i = 1; i < piece->count - 1; i++)
        if (piece->pairs[i].rank < piece->pairs[best].rank)
            best = i;
    return best;
}

static enum dllm_status encode_short(const struct bpe_work *work, struct dllm_string text,
                                     struct bpe_ids *out, struct dllm_error *error)
{
    struct short_piece piece = {.count = (int)text.size};

    for (int i = 0; i < piece.count; i++) {
        piece.symbols[i] = work->merges->byte_symbols[(uint8_t)text.data[i]];
        piece.starts[i] = (uint8_t)i;
    }
    piece.starts[piece.count] = (uint8_t)piece.count;
    for (int i = 0; i + 1 < piece.count; i++)
        piece.pairs[i] = merges_find(work->merges, piece.symbols[i], piece.symbols[i + 1]);
    while (piece.count > 1) {
        int best = best_pair(&piece);

        if (piece.pairs[best].rank == (uint32_t)MERGE_NONE)
            break;
        merge_short(work->merges, &piece, best);
    }
    for (int i = 0; i < piece.count; i++)
        TRY(emit(work->vocab, piece.symbols[i],
                 (struct dllm_string){text.data + piece.starts[i],
                                      (size_t)(piece.starts[i + 1] - piece.starts[i])},
                 out, error));
    return DLLM_OK;
}

static enum dllm_status encode_long(const struct bpe_work *work, struct dllm_string text,
                                    struct bpe_ids *out, struct dllm_error *error)
{
    int32_t *symbols = malloc(text.size * sizeof *symbols);
    uint32_t *next = malloc(text.size * sizeof *next);
    enum dllm_status status;

    if (!symbols || !next) {
        status = status_no_memory(error, text.size * sizeof *symbols);
        goto fail;
    }
    for (size_t i = 0; i < text.size; i++)
        symbols[i] = work->merges->byte_symbols[(uint8_t)text.data[i]];
    TRY_GOTO(bpe_merge_long(work->merges, symbols, next, (uint32_t)text.size, error));
    for (size_t i = 0; i < text.size; i = next[i])
        TRY_GOTO(emit(work->vocab, symbols[i], (struct dllm_string){text.data + i, next[i] - i},
                      out, error));
fail:
    free(symbols);
    free(next);
    return status;
}

/* The place where a piece of at most MEMORY_BYTES is or belongs. */
static struct memory *find_memory(struct bpe_work *work, struct dllm_string piece, uint64_t key[2])
{
    uint8_t bytes[16] = {0};
    uint64_t hash;

    memcpy(bytes, piece.data, piece.size);
    bytes[MEMORY_BYTES] = (uint8_t)piece.size;
    memcpy(key, bytes, sizeof bytes);
    hash = (key[0] ^ (key[1] * 0x9E3779B97F4A7C15u)) * 0xD6E8FEB86659FD93u;
    return &work->memory[(hash >> 40) % MEMORY_PIECES];
}

static enum dllm_status encode_remembered(struct bpe_work *work, struct dllm_string piece,
                                          struct bpe_ids *out, struct dllm_error *error)
{
    uint64_t key[2];
    struct memory *memory = find_memory(work, piece, key);
    const size_t before = out->count;

    if (memory->count && memory->key[0] == key[0] && memory->key[1] == key[1]) {
        /* All at once: room was made for as many ids as the piece has bytes or more. */
        memcpy(out->ids + out->count, memory->ids, sizeof memory->ids);
        out->count += (size_t)memory->count;
        return DLLM_OK;
    }
    TRY(encode_short(work, piece, out, error));
    if (out->count - before <= MEMORY_IDS) {
        memory->key[0] = key[0];
        memory->key[1] = key[1];
        memory->count = (int32_t)(out->count - before);
        memcpy(memory->ids, out->ids + before, (out->count - before) * sizeof *out->ids);
    }
    return DLLM_OK;
}

enum dllm_status bpe_encode(struct bpe_work *work, struct dllm_string piece, struct bpe_ids *out,
                            struct dllm_error *error)
{
    if (piece.size >= INT32_MAX)
        return status_fail(error, DLLM_ERROR_USAGE,
                           "the text has a word of %zu bytes; expected fewer than %d: shorten it",
                           piece.size, INT32_MAX);
    TRY(bpe_ids_reserve(out, piece.size + MEMORY_IDS, error));
    if (piece.size > SHORT_BYTES)
        return encode_long(work, piece, out, error);
    if (piece.size <= MEMORY_BYTES && work->memory)
        return encode_remembered(work, piece, out, error);
    return encode_short(work, piece, out, error);
}
