/*
 * afl_mutator.c: a program's own mutator for AFL++, which does not call libFuzzer's
 * name for it. scripts/fuzz.sh makes a shared library of this file and the program's.
 */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

#define EXPORTED __attribute__((visibility("default")))

enum { ROOM = 1 << 20 }; /* the largest input of AFL++ */

struct mutator {
    uint64_t draws; /* of a generator of its own: numbers need to differ, no more */
    uint8_t data[ROOM];
};

EXPORTED void *afl_custom_init(void *fuzzer, unsigned seed);
EXPORTED void afl_custom_deinit(void *data);
EXPORTED size_t afl_custom_fuzz(void *data, uint8_t *bytes, size_t size, uint8_t **out,
                                const uint8_t *other, size_t other_size, size_t limit);

void *afl_custom_init(void *fuzzer, unsigned seed)
{
    struct mutator *mutator = calloc(1, sizeof *mutator);

    (void)fuzzer;
    if (mutator)
        mutator->draws = seed;
    return mutator;
}

void afl_custom_deinit(void *data)
{
    free(data);
}

/* Changes a copy of bytes [size]; *out belongs to the mutator. */
size_t afl_custom_fuzz(void *data, uint8_t *bytes, size_t size, uint8_t **out, const uint8_t *other,
                       size_t other_size, size_t limit)
{
    struct mutator *mutator = data;

    (void)other, (void)other_size;
    if (limit > ROOM)
        limit = ROOM;
    if (size > limit)
        size = limit;
    memcpy(mutator->data, bytes, size);
    *out = mutator->data;
    mutator->draws = mutator->draws * 6364136223846793005u + 1442695040888963407u;
    return LLVMFuzzerCustomMutator(mutator->data, size, limit, (unsigned)(mutator->draws >> 33));
}
