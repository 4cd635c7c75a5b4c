/* gguf_get.c: typed access to keys, with messages that say what is wrong. */
#include "gguf.h"

#include "gguf_parse.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* The key's value into *out, NULL when an optional key is absent. */
static enum dllm_status find(const struct dllm_file *file, const char *key, bool required,
                             const struct dllm_value **out, struct dllm_error *error)
{
    const struct dllm_key *found = dllm_file_find_key(file, key);

    *out = found ? &found->value : NULL;
    if (found || !required)
        return DLLM_OK;
    return status_fail(error, DLLM_ERROR_FORMAT,
                       "%s: key '%s' is missing, expected it in a model of this kind; convert the "
                       "model again",
                       gguf_path(file), key);
}

static enum dllm_status fail_kind(const struct dllm_file *file, const char *key,
                                  const struct dllm_value *value, const char *expected,
                                  struct dllm_error *error)
{
    bool array = value->type == DLLM_VALUE_ARRAY;

    return status_fail(error, DLLM_ERROR_FORMAT,
                       "%s: key '%s' is %s%s, expected %s; convert the model again",
                       gguf_path(file), key, array ? "an array of " : "of kind ",
                       gguf_kind_name(array ? value->array.element_type : value->type), expected);
}

static bool is_unsigned(enum dllm_value_type type)
{
    return type == DLLM_VALUE_U8 || type == DLLM_VALUE_U16 || type == DLLM_VALUE_U32 ||
           type == DLLM_VALUE_U64;
}

static bool is_signed(enum dllm_value_type type)
{
    return type == DLLM_VALUE_I8 || type == DLLM_VALUE_I16 || type == DLLM_VALUE_I32 ||
           type == DLLM_VALUE_I64;
}

static bool is_float(enum dllm_value_type type)
{
    return type == DLLM_VALUE_F32 || type == DLLM_VALUE_F64;
}

/* Whether an integer value lies in [low, high]; if so it goes to *out. */
static bool integer_in(const struct dllm_value *value, int64_t low, int64_t high, int64_t *out)
{
    if (is_unsigned(value->type) && value->u > INT64_MAX)
        return false;
    /* Both members hold the same bits below 2^63. */
    if (value->i < low || value->i > high)
        return false;
    *out = value->i;
    return true;
}

/* The message for an integer outside [low, high]; place is "" or " element 7". */
static enum dllm_status fail_range(const struct dllm_file *file, const char *place,
                                   const struct dllm_value *value, const int64_t range[2],
                                   struct dllm_error *error)
{
    char number[24];

    if (is_unsigned(value->type))
        snprintf(number, sizeof number, "%" PRIu64, value->u);
    else
        snprintf(number, sizeof number, "%" PRId64, value->i);
    return status_fail(error, DLLM_ERROR_FORMAT,
                       "%s: key %s is %s, expected %" PRId64 " to %" PRId64
                       "; convert the model again",
                       gguf_path(file), place, number, range[0], range[1]);
}

enum dllm_status gguf_get_integer(const struct dllm_file *file, const char *key, bool required,
                                  int64_t low, int64_t high, int64_t *out, struct dllm_error *error)
{
    const struct dllm_value *value;
    char place[GGUF_SHOWN_BYTES];

    TRY(find(file, key, required, &value, error));
    if (!value)
        return DLLM_OK;
    if (!is_unsigned(value->type) && !is_signed(value->type))
        return fail_kind(file, key, value, "an integer", error);
    if (integer_in(value, low, high, out))
        return DLLM_OK;
    snprintf(place, sizeof place, "'%s'", key);
    return fail_range(file, place, value, (const int64_t[2]){low, high}, error);
}

enum dllm_status gguf_get_float(const struct dllm_file *file, const char *key, bool required,
                                double *out, struct dllm_error *error)
{
    const struct dllm_value *value;

    TRY(find(file, key, required, &value, error));
    if (!value)
        return DLLM_OK;
    if (is_unsigned(value->type))
        *out = (double)value->u;
    else if (is_signed(value->type))
        *out = (double)value->i;
    else if (!is_float(value->type))
        return fail_kind(file, key, value, "a number", error);
    else if (!isfinite(value->f))
        return status_fail(error, DLLM_ERROR_FORMAT,
                           "%s: key '%s' is %g, expected a finite number; convert the model again",
                           gguf_path(file), key, value->f);
    else
        *out = value->f;
    return DLLM_OK;
}

enum dllm_status gguf_get_bool(const struct dllm_file *file, const char *key, bool required,
                               bool *out, struct dllm_error *error)
{
    const struct dllm_value *value;

    TRY(find(file, key, required, &value, error));
    if (!value)
        return DLLM_OK;
    if (value->type != DLLM_VALUE_BOOL)
        return fail_kind(file, key, value, "a bool", error);
    *out = value->u != 0;
    return DLLM_OK;
}

enum dllm_status gguf_get_string(const struct dllm_file *file, const char *key, bool required,
                                 struct dllm_string *out, struct dllm_error *error)
{
    const struct dllm_value *value;

    TRY(find(file, key, required, &value, error));
    if (!value)
        return DLLM_OK;
    if (value->type != DLLM_VALUE_STRING)
        return fail_kind(file, key, value, "a string", error);
    *out = value->s;
    return DLLM_OK;
}

/* Memory for an array's elements; at least one, so that NULL means failure. */
static void *allocate_elements(const struct dllm_value *value, size_t element_bytes,
                               struct dllm_error *error)
{
    void *elements = calloc(MAX(value->array.count, 1), element_bytes);

    if (!elements)
        status_no_memory(error, value->array.count * element_bytes);
    return elements;
}

enum dllm_status gguf_get_strings(const struct dllm_file *file, const char *key, bool required,
                                  struct dllm_string **out, size_t *count, struct dllm_error *error)
{
    const struct dllm_value *value;
    struct dllm_value element;
    struct dllm_string *strings;
    uint64_t at = 0;

    TRY(find(file, key, required, &value, error));
    if (!value)
        return DLLM_OK;
    if (value->type != DLLM_VALUE_ARRAY || value->array.element_type != DLLM_VALUE_STRING)
        return fail_kind(file, key, value, "an array of string", error);
    strings = allocate_elements(value, sizeof *strings, error);
    if (!strings)
        return DLLM_ERROR_MEMORY;
    for (size_t i = 0; dllm_array_next(value, &at, &element); i++)
        strings[i] = element.s;
    *out = strings;
    *count = (size_t)value->array.count;
    return DLLM_OK;
}

static enum dllm_status copy_integers(const struct dllm_file *file, const char *key,
                                      const struct dllm_value *array, int32_t *out,
                                      struct dllm_error *error)
{
    static const int64_t range[2] = {INT32_MIN, INT32_MAX};
    char place[GGUF_SHOWN_BYTES + 40];
    struct dllm_value element;
    uint64_t at = 0;
    int64_t integer;

    for (size_t i = 0; dllm_array_next(array, &at, &element); i++) {
        if (!integer_in(&element, range[0], range[1], &integer)) {
            snprintf(place, sizeof place, "'%s' at element %zu", key, i);
            return fail_range(file, place, &element, range, error);
        }
        out[i] = (int32_t)integer;
    }
    return DLLM_OK;
}

enum dllm_status gguf_get_integers(const struct dllm_file *file, const char *key, bool required,
                                   int32_t **out, size_t *count, struct dllm_error *error)
{
    const struct dllm_value *value;
    int32_t *integers;
    enum dllm_status status;

    TRY(find(file, key, required, &value, error));
    if (!value)
        return DLLM_OK;
    if (value->type != DLLM_VALUE_ARRAY ||
        (!is_unsigned(value->array.element_type) && !is_signed(value->array.element_type)))
        return fail_kind(file, key, value, "an array of integers", error);
    integers = allocate_elements(value, sizeof *integers, error);
    if (!integers)
        return DLLM_ERROR_MEMORY;
    TRY_GOTO(copy_integers(file, key, value, integers, error));
    *out = integers;
    *count = (size_t)value->array.count;
    return DLLM_OK;
fail:
    free(integers);
    return status;
}
