/* activations.c: how the forms of a matmul's inputs lie in one allocation. */
#include "activations.h"

#include "compiler.h"
#include "dtype.h"

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
    if (out->forms & ACTIVATION_F32) {
        out->f32 = take(storage, &end, count, SUPER_BLOCK * sizeof(float));
    }
    if (out->forms & ACTIVATION_Q8_256) {
        struct activations_q8_256 *q8 = &out->q8_256;
        q8->q = take(storage, &end, count, SUPER_BLOCK);
        q8->scale = take(storage, &end, count, sizeof(*q8->scale));
        q8->sums32 = take(storage, &end, count, 8 * sizeof(*q8->sums32));
        q8->sums16 = take(storage, &end, count, 16 * sizeof(*q8->sums16));
        q8->start16 = take(storage, &end, count, 16 * sizeof(*q8->start16));
        q8->start8 = take(storage, &end, count, 32 * sizeof(*q8->start8));
        q8->start2 = take(storage, &end, count, 32 * sizeof(*q8->start2));
        q8->wide = take(storage, &end, count, sizeof(*q8->wide));
    }
    if (out->forms & ACTIVATION_Q8_32) {
        struct activations_q8_32 *q8 = &out->q8_32;
        q8->q = take(storage, &end, count, SUPER_BLOCK);
        q8->scale = take(storage, &end, count, 8 * sizeof(*q8->scale));
        q8->start32 = take(storage, &end, count, 8 * sizeof(*q8->start32));
    }
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
