/* mask_sets.c: see mask_sets.h. A list that is looked through from its start; what is
 * looked for stands behind its end, where it stays if it is new. */
#include "mask_sets.h"

#include "compiler.h"

#include <stdlib.h>
#include <string.h>

enum { WORD_BITS = 64 };

enum dllm_status mask_sets_create(struct mask_sets *sets, int tokens, int batch,
                                  struct dllm_error *error)
{
    size_t words = (size_t)DIV_UP(tokens, WORD_BITS), most = MASK_SETS_MOST + (size_t)batch + 1;

    *sets = (struct mask_sets){.words = (int)words};
    sets->bits = malloc(most * words * sizeof *sets->bits);
    sets->losses = malloc(most * sizeof *sets->losses);
    if (sets->bits && sets->losses)
        return DLLM_OK;
    mask_sets_free(sets);
    return status_no_memory(error, most * (words * sizeof *sets->bits + sizeof *sets->losses));
}

void mask_sets_free(struct mask_sets *sets)
{
    free(sets->bits);
    free(sets->losses);
    *sets = (struct mask_sets){0};
}

int mask_sets_find(struct mask_sets *sets, const int32_t *answer, int tokens, int32_t mask_id,
                   bool *added)
{
    size_t words = (size_t)sets->words, bytes = words * sizeof *sets->bits;
    uint64_t *own = sets->bits + (size_t)sets->count * words;

    memset(own, 0, bytes);
    for (int i = 0; i < tokens; i++)
        if (answer[i] == mask_id)
            own[i / WORD_BITS] |= UINT64_C(1) << i % WORD_BITS;
    for (int i = 0; i < sets->count; i++)
        if (memcmp(sets->bits + (size_t)i * words, own, bytes) == 0) {
            *added = false;
            return i;
        }
    *added = true;
    return sets->count++;
}

void mask_sets_end_batch(struct mask_sets *sets)
{
    sets->count = MIN(sets->count, MASK_SETS_MOST);
}
