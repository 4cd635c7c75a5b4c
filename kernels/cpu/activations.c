/* activations.c: how the forms of a matmul's inputs lie in one allocation. */
#include "activations.h"

#include "compiler.h"
#include "dtype.h"

#include <string.h>

/* The arrays of a form, and how many values of each belong to one token's super-block. */
#define ARRAYS_F32(EACH) EACH(f32, SUPER_BLOCK)
#define ARRAYS_Q8_256(EACH)                                                                        \
    EACH(q8_256.q, SUPER_BLOCK)                                                                    \
    EACH(q8_256.scale, 1)                                                                          \
    EACH(q8_256.sums32, 8)                                                                         \
    EACH(q8_256.sums16, 16)                                                                        \
    EACH(q8_256.start16, 16)                                                                       \
    EACH(q8_256.start8, 32)                                                                        \
    EACH(q8_256.start2, 32)                                                                        \
    EACH(q8_256.wide, 1)
#define ARRAYS_Q8_32(EACH)                                                                         \
    EACH(q8_32.q, SUPER_BLOCK)                                                                     \
    EACH(q8_32.scale, 8)                                                                           \
    EACH(q8_32.start32, 8)

unsigned activation_form_of(uint32_t type)
{
    const struct dtype_info *info = dtype_info(type);
    if (!info || !info->matrix) {
        return 0;
    }
    return info->block_weights == 1    ? ACTIVATION_F32
           : info->block_weights == 32 ? ACTIVATION_Q8_32
                                       : ACTIVATION_Q8_256;
}

/* The next array of `count` records of `bytes` each behind *end, which moves to
 * the following cache line. base NULL: only measures. */
static void *take(char *base, size_t *end, size_t count, size_t bytes)
{
    void *at = base ? base + *end : NULL;
    *end += ROUND_UP(count * bytes, (size_t)CACHE_LINE);
    return at;
}

/* Cuts storage, or only measures where it is NULL; returns the bytes used. */
static size_t cut(struct activations *out, char *storage, size_t count)
{
    size_t end = 0;
#define TAKE(array, values) out->array = take(storage, &end, count, (values) * sizeof(*out->array));
    if (out->forms & ACTIVATION_F32) {
        ARRAYS_F32(TAKE)
    }
    if (out->forms & ACTIVATION_Q8_256) {
        ARRAYS_Q8_256(TAKE)
    }
    if (out->forms & ACTIVATION_Q8_32) {
        ARRAYS_Q8_32(TAKE)
    }
#undef TAKE
    return end;
}

size_t activations_bytes(int tokens, int width, unsigned forms)
{
    struct activations measure = {.forms = forms};
    return cut(&measure, NULL, (size_t)DIV_UP(width, SUPER_BLOCK) * (size_t)tokens);
}

void activations_layout(struct activations *out, void *storage, int tokens, int width,
                        unsigned forms)
{
    int blocks = DIV_UP(width, SUPER_BLOCK);
    *out = (struct activations){.tokens = tokens, .width = width, .blocks = blocks, .forms = forms};
    cut(out, storage, (size_t)blocks * (size_t)tokens);
}

/* Copies super-block b of a token from one layout to another. */
static void copy_block(const struct activations *from, size_t from_row, struct activations *to,
                       size_t to_row)
{
#define COPY(array, values)                                                                        \
    memcpy(to->array + to_row * (values), from->array + from_row * (values),                       \
           (values) * sizeof(*to->array));
    if (to->forms & ACTIVATION_F32) {
        ARRAYS_F32(COPY)
    }
    if (to->forms & ACTIVATION_Q8_256) {
        ARRAYS_Q8_256(COPY)
    }
    if (to->forms & ACTIVATION_Q8_32) {
        ARRAYS_Q8_32(COPY)
    }
#undef COPY
}

void activations_copy_token(const struct activations *from, int token, struct activations *to,
                            int to_token)
{
    for (size_t b = 0; b < (size_t)to->blocks; b++) {
        copy_block(from, b * (size_t)from->tokens + (size_t)token, to,
                   b * (size_t)to->tokens + (size_t)to_token);
    }
}
