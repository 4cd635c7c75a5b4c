/* hparams.c: reads a model's numbers and refuses what the forward pass cannot
 * honour. */
#include "hparams.h"

#include "gguf.h"

#include <float.h>
#include <math.h>
#include <stdio.h>

/* Far above any model, low enough that products of two stay inside int64. */
enum { MOST = 1 << 24 };
/* The same for visits to experts, up to as many per position of a canvas. */
enum { EXPERTS_MOST = 256 };

/* Builds "A.suffix" keys, where A is the architecture. */
struct key_reader {
    const struct dllm_file *file;
    const char *architecture;
    struct dllm_error *error;
    char key[128];
};

static const char *full_key(struct key_reader *reader, const char *suffix)
{
    snprintf(reader->key, sizeof reader->key, "%s.%s", reader->architecture, suffix);
    return reader->key;
}

/* Leaves *out as it is when an optional key is absent. */
static enum dllm_status read_int(struct key_reader *reader, const char *suffix, bool required,
                                 int *out)
{
    int64_t value = *out;

    TRY(gguf_get_integer(reader->file, full_key(reader, suffix), required, 1, MOST, &value,
                         reader->error));
    *out = (int)value;
    return DLLM_OK;
}

static enum dllm_status read_double(struct key_reader *reader, const char *suffix, bool required,
                                    double *out)
{
    TRY(gguf_get_float(reader->file, full_key(reader, suffix), required, out, reader->error));
    if (*out > 0)
        return DLLM_OK;
    return status_fail(reader->error, DLLM_ERROR_FORMAT,
                       "key %s is %g; a number above 0 was expected", reader->key, *out);
}

static enum dllm_status find_arch(const struct dllm_file *file, struct hparams *out,
                                  struct dllm_error *error)
{
    struct dllm_string name;

    TRY(gguf_get_string(file, "general.architecture", true, &name, error));
    out->arch = arch_find(name);
    if (out->arch)
        return DLLM_OK;
    return status_fail(error, DLLM_ERROR_UNSUPPORTED,
                       "model architecture '%.*s' is not supported; supported: %s",
                       (int)MIN(name.size, 64), name.data, arch_names());
}

static enum dllm_status refuse_causal(struct key_reader *reader)
{
    bool causal = false;

    TRY(gguf_get_bool(reader->file, full_key(reader, "attention.causal"), false, &causal,
                      reader->error));
    if (!causal)
        return DLLM_OK;
    return status_fail(reader->error, DLLM_ERROR_UNSUPPORTED,
                       "key %s is true; a diffusion model attends both ways (false)", reader->key);
}

static enum dllm_status read_head_dim(struct key_reader *reader, struct hparams *out)
{
    int value_dim;

    if (out->hidden % out->heads == 0)
        out->head_dim = out->hidden / out->heads;
    TRY(read_int(reader, "attention.key_length", out->head_dim == 0, &out->head_dim));
    value_dim = out->head_dim;
    TRY(read_int(reader, "attention.value_length", false, &value_dim));
    if (value_dim != out->head_dim)
        return status_fail(reader->error, DLLM_ERROR_UNSUPPORTED,
                           "keys have %d and values %d dimensions per head; equal ones were "
                           "expected",
                           out->head_dim, value_dim);
    if (out->head_dim % 32 != 0 || out->head_dim > 1024)
        return status_fail(reader->error, DLLM_ERROR_UNSUPPORTED,
                           "%d dimensions per head are not supported; a multiple of 32 up to 1024 "
                           "was expected",
                           out->head_dim);
    return DLLM_OK;
}

static enum dllm_status read_heads(struct key_reader *reader, struct hparams *out)
{
    TRY(read_int(reader, "attention.head_count", true, &out->heads));
    out->kv_heads = out->heads;
    TRY(read_int(reader, "attention.head_count_kv", false, &out->kv_heads));
    if (out->heads % out->kv_heads != 0)
        return status_fail(reader->error, DLLM_ERROR_FORMAT,
                           "%d query heads cannot be shared by %d key/value heads; the second "
                           "must divide the first",
                           out->heads, out->kv_heads);
    TRY(read_head_dim(reader, out));
    if ((int64_t)out->heads * out->head_dim > MOST)
        return status_fail(reader->error, DLLM_ERROR_FORMAT,
                           "%d heads of %d dimensions are more than this program handles",
                           out->heads, out->head_dim);
    return DLLM_OK;
}

static enum dllm_status read_rope(struct key_reader *reader, struct hparams *out)
{
    out->rope_base = 10000;
    TRY(read_double(reader, "rope.freq_base", false, &out->rope_base));
    out->rope_dims = out->head_dim;
    TRY(read_int(reader, "rope.dimension_count", false, &out->rope_dims));
    if (out->rope_dims % 2 == 0 && out->rope_dims <= out->head_dim)
        return DLLM_OK;
    return status_fail(reader->error, DLLM_ERROR_FORMAT,
                       "key %s is %d; an even number up to the %d dimensions of a head was "
                       "expected",
                       full_key(reader, "rope.dimension_count"), out->rope_dims, out->head_dim);
}

/* Rows of the output matrix, or of the embedding where the head is tied. */
static enum dllm_status read_vocab(struct key_reader *reader, struct hparams *out)
{
    const struct dllm_tensor *tensor = dllm_file_find_tensor(reader->file, "output.weight");

    if (!tensor)
        tensor = dllm_file_find_tensor(reader->file, "token_embd.weight");
    if (!tensor)
        return status_fail(reader->error, DLLM_ERROR_FORMAT,
                           "tensor token_embd.weight is missing; a whole model has it (this may "
                           "be a vocabulary-only file)");
    if (tensor->shape[1] > MOST)
        return status_fail(reader->error, DLLM_ERROR_FORMAT,
                           "the vocabulary has %llu rows, more than the %d this program handles",
                           (unsigned long long)tensor->shape[1], MOST);
    out->vocab = (int)tensor->shape[1];
    TRY(read_int(reader, "vocab_size", false, &out->vocab));
    if ((uint64_t)out->vocab == tensor->shape[1])
        return DLLM_OK;
    return status_fail(reader->error, DLLM_ERROR_FORMAT,
                       "key %s is %d, but the output matrix has %llu rows; equal numbers were "
                       "expected",
                       full_key(reader, "vocab_size"), out->vocab,
                       (unsigned long long)tensor->shape[1]);
}

static enum dllm_status read_feed_forward(struct key_reader *reader, struct hparams *out)
{
    if (!out->arch->experts)
        return read_int(reader, "feed_forward_length", true, &out->ffn);
    TRY(read_int(reader, "expert_feed_forward_length", true, &out->ffn));
    TRY(read_int(reader, "expert_count", true, &out->experts));
    TRY(read_int(reader, "expert_used_count", true, &out->experts_used));
    if (out->experts <= EXPERTS_MOST && out->experts_used <= out->experts)
        return DLLM_OK;
    return status_fail(reader->error, DLLM_ERROR_FORMAT,
                       "%d of %d experts for a token are more than this program handles; no more "
                       "than there are, and those up to %d, was expected",
                       out->experts_used, out->experts, EXPERTS_MOST);
}

enum dllm_status hparams_read(const struct dllm_file *file, struct hparams *out,
                              struct dllm_error *error)
{
    struct key_reader reader = {.file = file, .error = error};
    double rms_eps = 0;

    *out = (struct hparams){0};
    TRY(find_arch(file, out, error));
    reader.architecture = out->arch->name;
    TRY(refuse_causal(&reader));
    TRY(read_int(&reader, "block_count", true, &out->layers));
    TRY(read_int(&reader, "embedding_length", true, &out->hidden));
    TRY(read_feed_forward(&reader, out));
    TRY(read_heads(&reader, out));
    TRY(read_double(&reader, "attention.layer_norm_rms_epsilon", true, &rms_eps));
    out->rms_eps = (float)rms_eps;
    if (out->rms_eps < FLT_MIN || !isfinite(out->rms_eps))
        return status_fail(error, DLLM_ERROR_FORMAT,
                           "key %s is %g; a number from %g on that single precision holds was "
                           "expected: the norm of a row of zeros would not be finite",
                           full_key(&reader, "attention.layer_norm_rms_epsilon"), rms_eps,
                           (double)FLT_MIN);
    TRY(read_rope(&reader, out));
    TRY(read_int(&reader, "context_length", false, &out->context_length));
    TRY(read_vocab(&reader, out));
    out->shift_logits = out->arch->shift_logits;
    return gguf_get_bool(file, "diffusion.shift_logits", false, &out->shift_logits, error);
}
