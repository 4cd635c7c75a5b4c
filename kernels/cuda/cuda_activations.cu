/* cuda_activations.cu: sizes of the forms of inputs, and where they lie; runs on
 * the host alone. */
#include "cuda_matmul.h"
#include "cuda_records.h"
#include "dtype.cuh"
#include "matmul.cuh"

/* A form: its bit, and values and bytes of a record. */
struct form {
    unsigned bit;
    int values;
    size_t bytes;
};

static const form forms_table[] = {
    {CUDA_FORM_Q8_256, 256, sizeof(cuda_record_q8_256)},
    {CUDA_FORM_Q8_32, 256, sizeof(cuda_record_q8_32)},
    {CUDA_FORM_F16, 64, sizeof(cuda_record_half)},
    {CUDA_FORM_BF16, 64, sizeof(cuda_record_half)},
    {CUDA_FORM_F32, 32, sizeof(cuda_record_f32)},
};

static_assert(sizeof(cuda_record_q8_256) == 19 * 16 && sizeof(cuda_record_q8_32) == 19 * 16 &&
                  sizeof(cuda_record_half) == 9 * 16 && sizeof(cuda_record_f32) == 9 * 16,
              "records are odd numbers of 16 bytes");

static unsigned form_of(uint32_t type)
{
    const struct dtype_info *info = dtype_info(type);

    if (!info || !info->matrix)
        return 0;
    switch (type) {
    case DTYPE_F32:
        return CUDA_FORM_F32;
    case DTYPE_F16:
        return CUDA_FORM_F16;
    case DTYPE_BF16:
        return CUDA_FORM_BF16;
    default:
        return info->block_weights == 32 ? CUDA_FORM_Q8_32 : CUDA_FORM_Q8_256;
    }
}

unsigned cuda_forms_of(uint64_t types)
{
    unsigned forms = 0;

    for (uint32_t type = 0; type < DTYPE_LIMIT; type++)
        forms |= types >> type & 1 ? form_of(type) : 0;
    return forms;
}

void **form_records(struct cuda_activations *activations, unsigned bit)
{
    switch (bit) {
    case CUDA_FORM_Q8_256:
        return &activations->q8_256;
    case CUDA_FORM_Q8_32:
        return &activations->q8_32;
    case CUDA_FORM_F16:
        return &activations->f16;
    case CUDA_FORM_BF16:
        return &activations->bf16;
    default:
        return &activations->f32;
    }
}

static size_t form_bytes(const form &f, int tokens, int width)
{
    return (size_t)((width + f.values - 1) / f.values) * (size_t)tokens * f.bytes;
}

size_t cuda_activations_bytes(int tokens, int width, unsigned forms)
{
    size_t bytes = 0;

    for (const form &f : forms_table)
        bytes += forms & f.bit ? form_bytes(f, tokens, width) : 0;
    return bytes;
}

void cuda_activations_layout(struct cuda_activations *out, void *storage, int tokens, int width,
                             unsigned forms)
{
    char *at = static_cast<char *>(storage);

    *out = {};
    out->tokens = tokens;
    out->width = width;
    out->forms = forms;
    for (const form &f : forms_table) {
        if (!(forms & f.bit))
            continue;
        *form_records(out, f.bit) = at;
        at += form_bytes(f, tokens, width);
    }
}
