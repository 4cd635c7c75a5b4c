/*
 * quantize.c: dllm_quantize: a file with the same keys and tensors whose matrices
 * are blocks. A tensor is done in portions of a few rows per worker, so that
 * memory stays small whatever the model; rows are independent, so the number of
 * threads changes no byte.
 */
#include "encode.h"
#include "plan.h"

#include "dtype.h"
#include "gguf.h"
#include "gguf_retype.h"
#include "half.h"
#include "kernels.h"
#include "pool.h"

#include <limits.h>
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PORTION_BYTES = 32 << 20, MOST_LAYERS = 100000 };

struct job {
    const struct dllm_quantize_options *options;
    struct dllm_file *file;
    struct pool *pool;
    uint32_t *types;  /* [tensors] in the new file */
    uint8_t *portion; /* PORTION_BYTES, or a row if that is more */
    float *rows;      /* [threads][width of the widest row] */
    uint64_t widest;
    struct dllm_quantize_progress progress;
    struct dllm_error *error;
};

static enum dllm_status fail_write(struct job *job)
{
    return status_fail(job->error, DLLM_ERROR_IO, "the output could not be written");
}

static enum dllm_status emit(struct job *job, const void *data, size_t size)
{
    if (!job->options->write(job->options->user, data, size))
        return fail_write(job);
    job->progress.bytes_written += size;
    return DLLM_OK;
}

/* ------------------------------------------------------------ tensors --- */

/* Rows of one tensor. */
struct portion {
    const struct job *job;
    const struct dllm_tensor *tensor;
    uint32_t type;
    uint64_t first;
    atomic_int bad_row; /* from first on, the lowest one that could not be encoded */
};

static void note_bad_row(struct portion *portion, int row)
{
    int lowest = atomic_load(&portion->bad_row);

    while (row < lowest && !atomic_compare_exchange_weak(&portion->bad_row, &lowest, row))
        continue;
}

/* Whether the encoders can compute with all of a row: their sums of squares must
 * not overflow. No block reaches nearly as far. */
static bool can_encode(const float *x, int width)
{
    for (int i = 0; i < width; i++)
        if (!(fabsf(x[i]) < 0x1p50f))
            return false;
    return true;
}

static void to_half_row(const float *x, int width, void *out)
{
    for (int i = 0; i < width; i++) {
        uint16_t half = half_from_float(x[i]);

        memcpy((uint8_t *)out + 2 * (size_t)i, &half, sizeof half);
    }
}

static void encode_item(void *context, int item, int worker)
{
    struct portion *portion = context;
    const struct job *job = portion->job;
    int width = (int)portion->tensor->shape[0];
    float *x = job->rows + (size_t)worker * job->widest;
    size_t in_bytes = dtype_row_bytes(portion->tensor->type, (uint64_t)width);
    size_t out_bytes = dtype_row_bytes(portion->type, (uint64_t)width);
    uint8_t *out = job->portion + (size_t)item * out_bytes;

    dequantize_row(portion->tensor->type,
                   (const uint8_t *)portion->tensor->data +
                       (portion->first + (uint64_t)item) * in_bytes,
                   width, x);
    if (!can_encode(x, width)) {
        note_bad_row(portion, item);
        return;
    }
    if (portion->type == DTYPE_F16)
        to_half_row(x, width, out);
    else
        encode_row(portion->type, x, width, out);
    if (dtype_find_not_finite(portion->type, out, out_bytes) >= 0)
        note_bad_row(portion, item);
}

static enum dllm_status fail_row(const struct portion *portion)
{
    const struct dllm_tensor *tensor = portion->tensor;
    unsigned long long row = portion->first + (unsigned long long)atomic_load(&portion->bad_row);
    uint64_t bytes = dtype_row_bytes(tensor->type, tensor->shape[0]);
    bool in_file = dtype_find_not_finite(tensor->type, (const uint8_t *)tensor->data + row * bytes,
                                         bytes) >= 0;

    return status_fail(portion->job->error, DLLM_ERROR_NUMERIC,
                       in_file
                           ? "%s: tensor %.*s has a value that is not finite in row %llu, which "
                             "no %s can hold; convert the model again"
                           : "%s: tensor %.*s has a value in row %llu that is too large for the "
                             "16-bit scales of %s; choose a wider type",
                       gguf_path(portion->job->file), (int)tensor->name.size, tensor->name.data,
                       row, dtype_info(portion->type)->name);
}

static enum dllm_status report(struct job *job)
{
    const struct dllm_quantize_options *options = job->options;

    if (!options->on_progress || options->on_progress(options->user, &job->progress))
        return DLLM_OK;
    return status_fail(job->error, DLLM_INTERRUPTED, "interrupted");
}

static enum dllm_status encode_tensor(struct job *job, const struct dllm_tensor *tensor,
                                      uint32_t type)
{
    uint64_t rows = tensor->shape[1] * tensor->shape[2] * tensor->shape[3];
    size_t row_bytes = dtype_row_bytes(type, tensor->shape[0]);
    uint64_t most = MAX(1, PORTION_BYTES / row_bytes);
    struct portion portion = {.job = job, .tensor = tensor, .type = type, .bad_row = INT_MAX};

    for (; portion.first < rows; portion.first += most) {
        uint64_t count = MIN(most, rows - portion.first);

        pool_run(job->pool, (int)count, encode_item, &portion);
        if (atomic_load(&portion.bad_row) < INT_MAX)
            return fail_row(&portion);
        TRY(emit(job, job->portion, count * row_bytes));
        job->progress.bytes_read += count * dtype_row_bytes(tensor->type, tensor->shape[0]);
        TRY(report(job));
    }
    return DLLM_OK;
}

/* Bytes of a tensor in the new file, with the zeros behind it. */
static uint64_t room_of_tensor(const struct job *job, size_t index, uint64_t alignment)
{
    return ROUND_UP(gguf_retyped_bytes(dllm_file_tensor(job->file, index), job->types[index]),
                    alignment);
}

/* A tensor, and zeros up to the next one. */
static enum dllm_status write_tensor(struct job *job, size_t index, uint64_t alignment)
{
    static const uint8_t zeros[64];
    const struct dllm_tensor *tensor = dllm_file_tensor(job->file, index);
    uint64_t padding =
        room_of_tensor(job, index, alignment) - gguf_retyped_bytes(tensor, job->types[index]);

    job->progress.tensor = index;
    if (job->types[index] != tensor->type) {
        TRY(encode_tensor(job, tensor, job->types[index]));
    } else {
        TRY(emit(job, tensor->data, tensor->size));
        job->progress.bytes_read += tensor->size;
    }
    for (uint64_t left = padding; left > 0;) {
        size_t some = MIN(left, sizeof zeros);

        TRY(emit(job, zeros, some));
        left -= some;
    }
    return report(job);
}

/* -------------------------------------------------------------- whole --- */

/* The layer count of the file's architecture; 0 if it does not say. */
static enum dllm_status read_layers(const struct dllm_file *file, int *layers,
                                    struct dllm_error *error)
{
    struct dllm_string arch = {"", 0};
    char key[300];
    int64_t count = 0;

    TRY(gguf_get_string(file, "general.architecture", false, &arch, error));
    snprintf(key, sizeof key, "%.*s.block_count", (int)MIN(arch.size, (size_t)200), arch.data);
    TRY(gguf_get_integer(file, key, false, 0, MOST_LAYERS, &count, error));
    *layers = (int)count;
    return DLLM_OK;
}

/* Types of all tensors, and room for the largest portion. */
static enum dllm_status plan_all(struct job *job, const struct quantize_mix *mix)
{
    size_t count = dllm_file_tensor_count(job->file), portion = PORTION_BYTES, rows;
    int layers;

    TRY(read_layers(job->file, &layers, job->error));
    job->types = calloc(count + 1, sizeof *job->types);
    if (!job->types)
        return status_no_memory(job->error, count * sizeof *job->types);
    for (size_t i = 0; i < count; i++) {
        const struct dllm_tensor *tensor = dllm_file_tensor(job->file, i);

        TRY(quantize_plan(mix, job->file, layers, tensor, &job->types[i], job->error));
        if (tensor->shape[0] > INT32_MAX)
            return status_fail(job->error, DLLM_ERROR_UNSUPPORTED,
                               "%s: tensor %.*s has rows of 2^31 values or more",
                               gguf_path(job->file), (int)tensor->name.size, tensor->name.data);
        job->widest = MAX(job->widest, tensor->shape[0]);
        portion = MAX(portion, dtype_row_bytes(job->types[i], tensor->shape[0]));
        job->progress.bytes_to_read += tensor->size;
    }
    job->progress.tensors = count;
    rows = (size_t)job->widest * (size_t)pool_threads(job->pool) * sizeof *job->rows;
    job->portion = malloc(portion);
    job->rows = malloc(MAX(rows, 1));
    return job->portion && job->rows ? DLLM_OK : status_no_memory(job->error, portion + rows);
}

static enum dllm_status write_all(struct job *job, uint32_t file_type)
{
    struct gguf_head head;
    enum dllm_status status;

    TRY(gguf_retype(job->file, job->types, file_type, &head, job->error));
    job->progress.bytes_to_write = head.size;
    for (size_t i = 0; i < job->progress.tensors; i++)
        job->progress.bytes_to_write += room_of_tensor(job, i, head.alignment);
    status = report(job);
    if (status == DLLM_OK)
        status = emit(job, head.bytes, head.size);
    for (size_t i = 0; status == DLLM_OK && i < job->progress.tensors; i++)
        status = write_tensor(job, i, head.alignment);
    gguf_head_free(&head);
    return status;
}

const char *dllm_quantize_types(void)
{
    return quantize_mix_names();
}

enum dllm_status dllm_quantize(const char *in, const struct dllm_quantize_options *options,
                               struct dllm_quantize_progress *result, struct dllm_error *error)
{
    struct job job = {.options = options, .error = error};
    const struct quantize_mix *mix = quantize_mix_find(options->type);
    enum dllm_status status;
    int threads;

    TRY(pool_count_threads(options->threads, &threads, error));
    if (!mix)
        return status_fail(error, DLLM_ERROR_USAGE,
                           "there is no file type \"%s\"; expected one of %s", options->type,
                           quantize_mix_names());
    TRY_GOTO(dllm_file_open(in, &job.file, error));
    TRY_GOTO(pool_create(threads, &job.pool, error));
    TRY_GOTO(plan_all(&job, mix));
    TRY_GOTO(write_all(&job, mix->file_type));
    if (result)
        *result = job.progress;
fail:
    free(job.portion);
    free(job.rows);
    free(job.types);
    pool_destroy(job.pool);
    dllm_file_close(job.file);
    return status;
}
