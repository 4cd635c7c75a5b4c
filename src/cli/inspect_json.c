/* inspect_json.c: a GGUF file's contents for programs. */
#include "inspect.h"

#include "out.h"

#include <string.h>

static json_t *value_json(const struct dllm_value *value)
{
    switch (value->type) {
    case DLLM_VALUE_I8:
    case DLLM_VALUE_I16:
    case DLLM_VALUE_I32:
    case DLLM_VALUE_I64:
        return json_integer((json_int_t)value->i);
    case DLLM_VALUE_F32:
    case DLLM_VALUE_F64:
        return out_json_real(value->f);
    case DLLM_VALUE_BOOL:
        return json_boolean(value->u);
    case DLLM_VALUE_STRING:
        return out_json_text(value->s.data, value->s.size);
    default:
        return out_json_unsigned(value->u);
    }
}

static json_t *array_json(const struct inspect_facts *facts, const struct dllm_value *array)
{
    json_t *list = json_array();
    struct dllm_value element;
    uint64_t at = 0;

    while (list && (facts->full || json_array_size(list) < INSPECT_ELEMENTS) &&
           dllm_array_next(array, &at, &element))
        json_array_append_new(list, value_json(&element));
    return list;
}

/* Arrays say their element type and count, since the values may be cut. */
static json_t *key_json(const struct inspect_facts *facts, const struct dllm_key *key)
{
    json_t *name = out_json_text(key->name.data, key->name.size);
    const struct dllm_value *value = &key->value;

    if (value->type != DLLM_VALUE_ARRAY)
        return json_pack("{s:o, s:s, s:o}", "name", name, "type", inspect_kind_name(value->type),
                         "value", value_json(value));
    return json_pack("{s:o, s:s, s:s, s:o, s:o}", "name", name, "type", "array", "element_type",
                     inspect_kind_name(value->array.element_type), "count",
                     out_json_unsigned(value->array.count), "value", array_json(facts, value));
}

static json_t *type_json(uint32_t type)
{
    const char *name = dllm_type_name(type);

    return name ? json_string(name) : json_integer(type);
}

static json_t *tensor_json(const struct dllm_tensor *tensor)
{
    json_t *shape = json_array();

    for (uint32_t i = 0; i < tensor->dims; i++)
        json_array_append_new(shape, out_json_unsigned(tensor->shape[i]));
    return json_pack("{s:o, s:o, s:o, s:i, s:o, s:o}", "name",
                     out_json_text(tensor->name.data, tensor->name.size), "type",
                     type_json(tensor->type), "shape", shape, "part", (int)tensor->part + 1,
                     "offset", out_json_unsigned(tensor->offset), "size",
                     out_json_unsigned(tensor->size));
}

static json_t *keys_json(const struct inspect_facts *facts)
{
    json_t *list = json_array();

    for (size_t i = 0; list && i < dllm_file_key_count(facts->file); i++)
        json_array_append_new(list, key_json(facts, dllm_file_key(facts->file, i)));
    return list;
}

static json_t *tensors_json(const struct inspect_facts *facts)
{
    json_t *list = json_array();

    for (size_t i = 0; list && i < dllm_file_tensor_count(facts->file); i++)
        json_array_append_new(list, tensor_json(dllm_file_tensor(facts->file, i)));
    return list;
}

static json_t *types_json(const struct inspect_facts *facts)
{
    json_t *list = json_array();

    for (size_t i = 0; list && i < facts->type_count; i++)
        json_array_append_new(list,
                              json_pack("{s:o, s:o, s:o}", "type", type_json(facts->types[i].type),
                                        "tensors", out_json_unsigned(facts->types[i].tensors),
                                        "bytes", out_json_unsigned(facts->types[i].bytes)));
    return list;
}

static json_t *parts_json(const struct dllm_file *file)
{
    json_t *list = json_array();

    for (size_t i = 0; list && i < dllm_file_part_count(file); i++) {
        const char *path = dllm_file_part_path(file, i);

        json_array_append_new(list,
                              json_pack("{s:o, s:o}", "file", out_json_text(path, strlen(path)),
                                        "size", out_json_unsigned(dllm_file_part_size(file, i))));
    }
    return list;
}

/* What a run needs, or why this build cannot run the file. */
static json_t *run_json(const struct inspect_facts *facts)
{
    if (facts->runnable)
        return json_pack("{s:b, s:i, s:o}", "possible", 1, "canvas", facts->canvas,
                         "workspace_bytes", out_json_unsigned(facts->workspace_bytes));
    return json_pack("{s:b, s:o}", "possible", 0, "reason",
                     out_json_text(facts->reason, strlen(facts->reason)));
}

static json_t *string_or_null(struct dllm_string text)
{
    return text.size ? out_json_text(text.data, text.size) : json_null();
}

int inspect_print_json(const struct inspect_facts *facts)
{
    const struct dllm_file *file = facts->file;

    return out_print_json(json_pack(
        "{s:o, s:i, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "file",
        out_json_text(facts->path, strlen(facts->path)), "version", (int)dllm_file_version(file),
        "size", out_json_unsigned(dllm_file_size(file)), "parts", parts_json(file), "architecture",
        string_or_null(inspect_string(file, "general.architecture")), "name",
        string_or_null(inspect_string(file, "general.name")), "key_count",
        out_json_unsigned(dllm_file_key_count(file)), "tensor_count",
        out_json_unsigned(dllm_file_tensor_count(file)), "run", run_json(facts), "keys",
        keys_json(facts), "types", types_json(facts), "tensors", tensors_json(facts)));
}
