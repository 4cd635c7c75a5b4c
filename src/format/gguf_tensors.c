/*
 * gguf_tensors.c: the tensor directory: name, dimensions, type and offset of
 * each tensor, and the proof that its bytes lie inside the file.
 *
 * Two tensors may name exactly the same bytes (a tied matrix stored once); any
 * other overlap means that an offset is wrong, and is refused.
 */
#include "dtype.h"
#include "gguf.h"
#include "gguf_parse.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static enum dllm_status read_shape(struct gguf_parser *parser, struct dllm_tensor *out)
{
    struct cursor *cursor = &parser->cursor;
    uint64_t at = cursor->at;

    if (!cursor_u32(cursor, &out->dims))
        return gguf_fail_cut(parser, "the number of its dimensions", 4);
    if (out->dims < 1 || out->dims > GGUF_DIMS_LIMIT)
        return gguf_fail(parser, DLLM_ERROR_FORMAT, at,
                         "%" PRIu32 " dimensions, expected 1 to %d; the file is damaged, download "
                         "or convert it again",
                         out->dims, GGUF_DIMS_LIMIT);
    for (uint32_t i = 0; i < GGUF_DIMS_LIMIT; i++)
        out->shape[i] = 1;
    for (uint32_t i = 0; i < out->dims; i++) {
        at = cursor->at;
        if (!cursor_u64(cursor, &out->shape[i]))
            return gguf_fail_cut(parser, "a dimension", 8);
        if (out->shape[i] == 0)
            return gguf_fail(parser, DLLM_ERROR_FORMAT, at,
                             "dimension %" PRIu32 " is 0, expected at least 1; convert the model "
                             "again",
                             i);
    }
    return DLLM_OK;
}

/* Fills size from shape and type, which was read at byte `at`. */
static enum dllm_status measure(struct gguf_parser *parser, uint64_t at, struct dllm_tensor *out)
{
    const struct dtype_info *info = dtype_info(out->type);
    uint64_t rows, size;

    if (!info)
        return gguf_fail(parser, DLLM_ERROR_UNSUPPORTED, at,
                         "type %" PRIu32 " is not known here, expected one such as %s; get the "
                         "model in a known type or a newer dllm",
                         out->type, dtype_matrix_names());
    if (out->shape[0] % info->block_weights != 0)
        return gguf_fail(parser, DLLM_ERROR_FORMAT, at,
                         "the row length is %" PRIu64 ", expected a multiple of %" PRIu32
                         ", the block length of type %s; convert the model again",
                         out->shape[0], info->block_weights, info->name);
    if (__builtin_mul_overflow(out->shape[1], out->shape[2], &rows) ||
        __builtin_mul_overflow(rows, out->shape[3], &rows) ||
        __builtin_mul_overflow(out->shape[0] / info->block_weights, rows, &size) ||
        __builtin_mul_overflow(size, info->block_bytes, &size))
        return gguf_fail(parser, DLLM_ERROR_FORMAT, at,
                         "the shape %" PRIu64 " x %" PRIu64 " x %" PRIu64 " x %" PRIu64
                         " of type %s has more than 2^64 bytes; the file is damaged, download or "
                         "convert it again",
                         out->shape[0], out->shape[1], out->shape[2], out->shape[3], info->name);
    out->size = size;
    return DLLM_OK;
}

static enum dllm_status read_tensor(struct gguf_parser *parser, struct dllm_tensor *out)
{
    struct cursor *cursor = &parser->cursor;
    uint64_t alignment = parser->file->alignment, at;

    memset(out, 0, sizeof *out);
    TRY(gguf_read_name(parser, &out->name));
    TRY(read_shape(parser, out));
    at = cursor->at;
    if (!cursor_u32(cursor, &out->type))
        return gguf_fail_cut(parser, "its type", 4);
    TRY(measure(parser, at, out));
    at = cursor->at;
    if (!cursor_u64(cursor, &out->offset))
        return gguf_fail_cut(parser, "its offset", 8);
    if (out->offset % alignment != 0)
        return gguf_fail(parser, DLLM_ERROR_FORMAT, at,
                         "the offset is %" PRIu64 ", expected a multiple of the alignment %" PRIu64
                         "; the file is damaged, download or convert it again",
                         out->offset, alignment);
    return DLLM_OK;
}

static void point_at(struct gguf_parser *parser, size_t index)
{
    parser->entry_index = index;
    parser->entry_name = parser->file->tensors[index].name;
}

static enum dllm_status check_repeated_tensors(struct gguf_parser *parser)
{
    struct dllm_file *file = parser->file;
    size_t first, second;

    if (!names_find_repeated(&file->tensor_index, &first, &second))
        return DLLM_OK;
    point_at(parser, second);
    return gguf_fail(parser, DLLM_ERROR_FORMAT,
                     (uint64_t)((const uint8_t *)file->tensors[second].name.data - file->data),
                     "the name repeats that of tensor %zu, expected every name once; convert the "
                     "model again",
                     first);
}

/* Turns offsets into offsets from the start of the file, and checks that each
 * tensor ends inside it. */
static enum dllm_status place_tensors(struct gguf_parser *parser)
{
    struct dllm_file *file = parser->file;
    /* At most the file's size plus an alignment: cannot overflow. */
    uint64_t data_start = ROUND_UP(parser->cursor.at, file->alignment), last_end = 0, end;
    size_t first_outside = file->tensor_count;
    char advice[GGUF_SHOWN_BYTES];

    for (size_t i = 0; i < file->tensor_count; i++) {
        struct dllm_tensor *tensor = &file->tensors[i];

        if (__builtin_add_overflow(tensor->offset, data_start, &tensor->offset))
            tensor->offset = UINT64_MAX;
        if (__builtin_add_overflow(tensor->offset, tensor->size, &end))
            end = UINT64_MAX;
        last_end = MAX(last_end, end);
        if (end <= file->size)
            tensor->data = file->data + tensor->offset;
        else if (first_outside == file->tensor_count)
            first_outside = i;
    }
    if (first_outside == file->tensor_count)
        return DLLM_OK;
    point_at(parser, first_outside);
    return gguf_fail(parser, DLLM_ERROR_FORMAT, file->tensors[first_outside].offset,
                     "its %" PRIu64 " bytes do not fit: the tensors end at byte %" PRIu64
                     ", the file at %" PRIu64 ": %s",
                     file->tensors[first_outside].size, last_end, file->size,
                     gguf_show_missing(last_end - file->size, advice));
}

static int compare_places(const void *left, const void *right)
{
    const struct dllm_tensor *a = *(struct dllm_tensor *const *)left;
    const struct dllm_tensor *b = *(struct dllm_tensor *const *)right;

    if (a->offset != b->offset)
        return a->offset < b->offset ? -1 : 1;
    return a->size < b->size ? -1 : a->size > b->size;
}

static enum dllm_status check_neighbours(struct gguf_parser *parser, const struct dllm_tensor *a,
                                         const struct dllm_tensor *b)
{
    char name[GGUF_SHOWN_BYTES];

    if (b->offset >= a->offset + a->size || (b->offset == a->offset && b->size == a->size))
        return DLLM_OK;
    point_at(parser, (size_t)(b - parser->file->tensors));
    return gguf_fail(parser, DLLM_ERROR_FORMAT, b->offset,
                     "it overlaps tensor %zu '%s', which has bytes %" PRIu64 " to %" PRIu64
                     "; expected tensors apart, or exactly the same bytes; convert the model "
                     "again",
                     (size_t)(a - parser->file->tensors), gguf_show_name(a->name, name), a->offset,
                     a->offset + a->size);
}

static enum dllm_status check_overlaps(struct gguf_parser *parser)
{
    struct dllm_file *file = parser->file;
    struct dllm_tensor **sorted;
    enum dllm_status status = DLLM_OK;

    if (file->tensor_count == 0)
        return DLLM_OK;
    sorted = calloc(file->tensor_count, sizeof(*sorted));
    if (!sorted)
        return status_no_memory(parser->error, file->tensor_count * sizeof(*sorted));
    for (size_t i = 0; i < file->tensor_count; i++)
        sorted[i] = &file->tensors[i];
    qsort(sorted, file->tensor_count, sizeof(*sorted), compare_places);
    for (size_t i = 1; i < file->tensor_count && status == DLLM_OK; i++)
        status = check_neighbours(parser, sorted[i - 1], sorted[i]);
    free(sorted);
    return status;
}

enum dllm_status gguf_read_tensors(struct gguf_parser *parser)
{
    struct dllm_file *file = parser->file;

    parser->entry_kind = "tensor";
    while (file->tensor_count < parser->tensor_count) {
        parser->entry_index = file->tensor_count;
        parser->entry_name = (struct dllm_string){NULL, 0};
        TRY(gguf_grow((void **)&file->tensors, file->tensor_count, sizeof *file->tensors,
                      parser->error));
        TRY(read_tensor(parser, &file->tensors[file->tensor_count]));
        file->tensor_count++;
    }
    TRY(names_build(file->tensors, sizeof *file->tensors, file->tensor_count, &file->tensor_index,
                    parser->error));
    TRY(check_repeated_tensors(parser));
    TRY(place_tensors(parser));
    return check_overlaps(parser);
}
