/*
 * gguf_keys.c: the key entries: name, u32 kind, value. Values stay in the file;
 * arrays are walked once here, so that reading them later cannot fail.
 */
#include "gguf.h"
#include "gguf_parse.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Names and sizes of the kinds, by number; size 0 where it varies. */
static const struct kind {
    const char *name;
    uint8_t size;
} kinds[] = {
    [DLLM_VALUE_U8] = {"u8", 1},         [DLLM_VALUE_I8] = {"i8", 1},
    [DLLM_VALUE_U16] = {"u16", 2},       [DLLM_VALUE_I16] = {"i16", 2},
    [DLLM_VALUE_U32] = {"u32", 4},       [DLLM_VALUE_I32] = {"i32", 4},
    [DLLM_VALUE_F32] = {"f32", 4},       [DLLM_VALUE_BOOL] = {"bool", 1},
    [DLLM_VALUE_STRING] = {"string", 0}, [DLLM_VALUE_ARRAY] = {"array", 0},
    [DLLM_VALUE_U64] = {"u64", 8},       [DLLM_VALUE_I64] = {"i64", 8},
    [DLLM_VALUE_F64] = {"f64", 8},
};

const char *gguf_kind_name(uint32_t kind)
{
    return kind < ARRAY_COUNT(kinds) ? kinds[kind].name : "unknown";
}

static double load_f32(const uint8_t *p)
{
    uint32_t bits = load_u32(p);
    float value;

    memcpy(&value, &bits, sizeof value);
    return value;
}

static double load_f64(const uint8_t *p)
{
    uint64_t bits = load_u64(p);
    double value;

    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Decodes a value of fixed size at p, which is kinds[type].size bytes long. */
static void load_scalar(enum dllm_value_type type, const uint8_t *p, struct dllm_value *out)
{
    memset(out, 0, sizeof *out);
    out->type = type;
    switch (type) {
    case DLLM_VALUE_U8:
    case DLLM_VALUE_BOOL:
        out->u = *p;
        break;
    case DLLM_VALUE_U16:
        out->u = load_u16(p);
        break;
    case DLLM_VALUE_U32:
        out->u = load_u32(p);
        break;
    case DLLM_VALUE_U64:
        out->u = load_u64(p);
        break;
    case DLLM_VALUE_I8:
        out->i = (int8_t)*p;
        break;
    case DLLM_VALUE_I16:
        out->i = (int16_t)load_u16(p);
        break;
    case DLLM_VALUE_I32:
        out->i = (int32_t)load_u32(p);
        break;
    case DLLM_VALUE_I64:
        out->i = (int64_t)load_u64(p);
        break;
    case DLLM_VALUE_F32:
        out->f = load_f32(p);
        break;
    case DLLM_VALUE_F64:
        out->f = load_f64(p);
        break;
    case DLLM_VALUE_STRING:
    case DLLM_VALUE_ARRAY:
        break;
    }
}

bool dllm_array_next(const struct dllm_value *array, uint64_t *at, struct dllm_value *element)
{
    const uint8_t *p;

    if (array->type != DLLM_VALUE_ARRAY || *at >= array->array.size)
        return false;
    p = array->array.bytes + *at;
    if (array->array.element_type != DLLM_VALUE_STRING) {
        load_scalar(array->array.element_type, p, element);
        *at += kinds[array->array.element_type].size;
        return true;
    }
    memset(element, 0, sizeof *element);
    element->type = DLLM_VALUE_STRING;
    element->s.size = (size_t)load_u64(p);
    element->s.data = (const char *)p + 8;
    *at += 8 + element->s.size;
    return true;
}

enum dllm_status gguf_read_string(struct gguf_parser *parser, const char *what,
                                  struct dllm_string *out)
{
    struct cursor *cursor = &parser->cursor;
    const uint8_t *bytes;
    uint64_t size;

    if (!cursor_u64(cursor, &size))
        return gguf_fail_cut(parser, what, 8);
    bytes = cursor_take(cursor, size);
    if (!bytes)
        return gguf_fail_cut(parser, what, size);
    out->data = (const char *)bytes;
    out->size = (size_t)size;
    return DLLM_OK;
}

enum dllm_status gguf_read_name(struct gguf_parser *parser, struct dllm_string *out)
{
    uint64_t at = parser->cursor.at;

    TRY(gguf_read_string(parser, "its name", out));
    if (out->size == 0)
        return gguf_fail(parser, DLLM_ERROR_FORMAT, at,
                         "the name is empty, expected 1 to %d bytes; convert the model again",
                         GGUF_NAME_LIMIT);
    if (out->size > GGUF_NAME_LIMIT)
        return gguf_fail(parser, DLLM_ERROR_FORMAT, at,
                         "the name has %zu bytes, expected 1 to %d; the file is damaged, download "
                         "or convert it again",
                         out->size, GGUF_NAME_LIMIT);
    parser->entry_name = *out;
    return DLLM_OK;
}

static enum dllm_status check_bools(struct gguf_parser *parser, const uint8_t *bytes,
                                    uint64_t count)
{
    for (uint64_t i = 0; i < count; i++)
        if (bytes[i] > 1)
            return gguf_fail(parser, DLLM_ERROR_FORMAT, (uint64_t)(bytes + i - parser->file->data),
                             "a bool is %u, expected 0 or 1; the file is damaged, download or "
                             "convert it again",
                             bytes[i]);
    return DLLM_OK;
}

/* Elements of arrays that are looked at one by one. No vocabulary has as many; a file of
 * zeros that takes no place on the disk could have a trillion. */
enum { LOOKED_AT_MOST = 1 << 28 };

/* Passes over the elements of an array whose kind and count are known. */
static enum dllm_status walk_elements(struct gguf_parser *parser, enum dllm_value_type type,
                                      uint64_t count)
{
    struct cursor *cursor = &parser->cursor;
    const uint8_t *bytes = cursor->data + cursor->at;
    /* A string takes at least its length field. */
    uint64_t least = type == DLLM_VALUE_STRING ? 8 : kinds[type].size;
    struct dllm_string element;

    if (count > cursor_left(cursor) / least)
        return gguf_fail(parser, DLLM_ERROR_FORMAT, cursor->at,
                         "an array of %" PRIu64 " x %s does not fit in the %" PRIu64
                         " bytes that remain: the file is cut or damaged; download or convert it "
                         "again",
                         count, kinds[type].name, cursor_left(cursor));
    if ((type == DLLM_VALUE_STRING || type == DLLM_VALUE_BOOL) && count > LOOKED_AT_MOST)
        return gguf_fail(parser, DLLM_ERROR_UNSUPPORTED, cursor->at,
                         "an array of %" PRIu64 " x %s is too long, expected at most %d", count,
                         kinds[type].name, LOOKED_AT_MOST);
    if (type == DLLM_VALUE_STRING) {
        for (uint64_t i = 0; i < count; i++)
            TRY(gguf_read_string(parser, "a string of its array", &element));
        return DLLM_OK;
    }
    cursor_take(cursor, count * least);
    return type == DLLM_VALUE_BOOL ? check_bools(parser, bytes, count) : DLLM_OK;
}

static enum dllm_status fail_kind(struct gguf_parser *parser, uint64_t at, const char *what,
                                  uint32_t kind)
{
    return gguf_fail(parser, DLLM_ERROR_FORMAT, at,
                     "%s is %" PRIu32 ", expected 0 to %zu; the file is damaged, download or "
                     "convert it again",
                     what, kind, ARRAY_COUNT(kinds) - 1);
}

static enum dllm_status read_array(struct gguf_parser *parser, struct dllm_value *out)
{
    struct cursor *cursor = &parser->cursor;
    uint64_t at = cursor->at, count;
    uint32_t kind;

    if (!cursor_u32(cursor, &kind))
        return gguf_fail_cut(parser, "the element kind of its array", 4);
    if (kind >= ARRAY_COUNT(kinds))
        return fail_kind(parser, at, "the element kind of its array", kind);
    if (kind == DLLM_VALUE_ARRAY)
        return gguf_fail(parser, DLLM_ERROR_UNSUPPORTED, at,
                         "an array of arrays, expected an array of numbers, bools or strings; "
                         "convert the model again without this key");
    if (!cursor_u64(cursor, &count))
        return gguf_fail_cut(parser, "the count of its array", 8);
    out->array.element_type = kind;
    out->array.count = count;
    out->array.bytes = cursor->data + cursor->at;
    at = cursor->at;
    TRY(walk_elements(parser, kind, count));
    out->array.size = cursor->at - at;
    return DLLM_OK;
}

static enum dllm_status read_scalar(struct gguf_parser *parser, struct dllm_value *out)
{
    uint8_t size = kinds[out->type].size;
    const uint8_t *bytes = cursor_take(&parser->cursor, size);

    if (!bytes)
        return gguf_fail_cut(parser, "its value", size);
    load_scalar(out->type, bytes, out);
    return out->type == DLLM_VALUE_BOOL ? check_bools(parser, bytes, 1) : DLLM_OK;
}

enum dllm_status gguf_read_key(struct gguf_parser *parser, struct dllm_key *out)
{
    uint64_t at;
    uint32_t kind;

    memset(out, 0, sizeof *out);
    TRY(gguf_read_name(parser, &out->name));
    at = parser->cursor.at;
    if (!cursor_u32(&parser->cursor, &kind))
        return gguf_fail_cut(parser, "the kind of its value", 4);
    if (kind >= ARRAY_COUNT(kinds))
        return fail_kind(parser, at, "the kind of its value", kind);
    out->value.type = kind;
    if (kind == DLLM_VALUE_STRING)
        return gguf_read_string(parser, "its string", &out->value.s);
    if (kind == DLLM_VALUE_ARRAY)
        return read_array(parser, &out->value);
    return read_scalar(parser, &out->value);
}

static enum dllm_status check_repeated_keys(struct gguf_parser *parser)
{
    struct dllm_file *file = parser->file;
    size_t first, second;

    if (!names_find_repeated(&file->key_index, &first, &second))
        return DLLM_OK;
    parser->entry_index = second;
    parser->entry_name = file->keys[second].name;
    return gguf_fail(parser, DLLM_ERROR_FORMAT,
                     (uint64_t)((const uint8_t *)file->keys[second].name.data - file->data),
                     "the name repeats that of key %zu, expected every name once; convert the "
                     "model again",
                     first);
}

enum dllm_status gguf_read_keys(struct gguf_parser *parser)
{
    struct dllm_file *file = parser->file;

    parser->entry_kind = "key";
    while (file->key_count < parser->key_count) {
        parser->entry_index = file->key_count;
        parser->entry_name = (struct dllm_string){NULL, 0};
        TRY(gguf_grow((void **)&file->keys, file->key_count, sizeof *file->keys, parser->error));
        TRY(gguf_read_key(parser, &file->keys[file->key_count]));
        file->key_count++;
    }
    TRY(names_build(file->keys, sizeof *file->keys, file->key_count, &file->key_index,
                    parser->error));
    return check_repeated_keys(parser);
}
