/* attention_ref.c: attention_body.h over lanes_ref.h. */
#include "lanes_ref.h"

#define ATTENTION_LEVEL ref
#define SCORE_TILE      2
#define SCORE_GROUPS    1
#define VALUE_TILE      2
#include "attention_body.h"

size_t attention_scratch_bytes(int head_dim)
{
    size_t rows = 2 * (size_t)head_dim + ATTENTION_KEYS + ATTENTION_LANES;

    return ROUND_UP(sizeof(float) * ATTENTION_QUERIES * rows, CACHE_LINE);
}
