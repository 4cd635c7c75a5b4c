/* inspect_text.c: a GGUF file's contents for people. */
#include "inspect.h"

#include "out.h"

#include <string.h>

static void print_array(const struct inspect_facts *facts, const struct dllm_value *array);

static void print_value(const struct inspect_facts *facts, const struct dllm_value *value)
{
    switch (value->type) {
    case DLLM_VALUE_I8:
    case DLLM_VALUE_I16:
    case DLLM_VALUE_I32:
    case DLLM_VALUE_I64:
        printf("%lld", (long long)value->i);
        break;
    case DLLM_VALUE_F32:
    case DLLM_VALUE_F64:
        printf("%.9g", value->f);
        break;
    case DLLM_VALUE_BOOL:
        fputs(value->u ? "true" : "false", stdout);
        break;
    case DLLM_VALUE_STRING:
        out_print_quoted(stdout, value->s.data, value->s.size, facts->full ? 0 : INSPECT_STRING);
        break;
    case DLLM_VALUE_ARRAY:
        print_array(facts, value);
        break;
    default:
        printf("%llu", (unsigned long long)value->u);
    }
}

static void print_array(const struct inspect_facts *facts, const struct dllm_value *array)
{
    struct dllm_value element;
    uint64_t at = 0, shown = 0;

    putchar('[');
    while ((facts->full || shown < INSPECT_ELEMENTS) && dllm_array_next(array, &at, &element)) {
        if (shown++)
            fputs(", ", stdout);
        print_value(facts, &element);
    }
    fputs(shown < array->array.count ? ", ...]" : "]", stdout);
}

static void print_key(const struct inspect_facts *facts, const struct dllm_key *key)
{
    fputs("  ", stdout);
    out_print_name(stdout, key->name);
    if (key->value.type == DLLM_VALUE_ARRAY)
        printf(" (%s x %llu) = ", inspect_kind_name(key->value.array.element_type),
               (unsigned long long)key->value.array.count);
    else
        printf(" (%s) = ", inspect_kind_name(key->value.type));
    print_value(facts, &key->value);
    putchar('\n');
}

static const char *type_text(uint32_t type, char text[24])
{
    const char *name = dllm_type_name(type);

    if (name)
        return name;
    snprintf(text, 24, "type %u", (unsigned)type);
    return text;
}

static void print_types(const struct inspect_facts *facts)
{
    char size[32], name[24];

    puts("\ntypes");
    for (size_t i = 0; i < facts->type_count; i++)
        printf("  %-8s %5zu tensors  %s\n", type_text(facts->types[i].type, name),
               facts->types[i].tensors, out_size_text(facts->types[i].bytes, size));
}

static void print_tensor(const struct dllm_tensor *tensor, bool split)
{
    char name[24];

    fputs("  ", stdout);
    out_print_name(stdout, tensor->name);
    printf(" %s [", type_text(tensor->type, name));
    for (uint32_t i = 0; i < tensor->dims; i++)
        printf("%s%llu", i ? ", " : "", (unsigned long long)tensor->shape[i]);
    printf("] at %llu, %llu bytes", (unsigned long long)tensor->offset,
           (unsigned long long)tensor->size);
    if (split)
        printf(" in part %u", (unsigned)tensor->part + 1);
    putchar('\n');
}

static void print_string_line(const char *label, struct dllm_string text)
{
    fputs(label, stdout);
    if (text.size)
        out_print_name(stdout, text);
    else
        fputs("(none)", stdout);
    putchar('\n');
}

/* The files of a split model. */
static void print_parts(const struct dllm_file *file)
{
    size_t count = dllm_file_part_count(file);
    char size[32];

    if (count == 1)
        return;
    printf("parts:        %zu files\n", count);
    for (size_t i = 0; i < count; i++) {
        const char *path = dllm_file_part_path(file, i);

        printf("  %zu: ", i + 1);
        out_print_name(stdout, (struct dllm_string){path, strlen(path)});
        printf(", %s\n", out_size_text(dllm_file_part_size(file, i), size));
    }
}

static void print_head(const struct inspect_facts *facts)
{
    char size[32];

    print_string_line("file:         ", (struct dllm_string){facts->path, strlen(facts->path)});
    printf("format:       GGUF version %u\n", (unsigned)dllm_file_version(facts->file));
    printf("size:         %llu bytes (%s)\n", (unsigned long long)dllm_file_size(facts->file),
           out_size_text(dllm_file_size(facts->file), size));
    print_parts(facts->file);
    print_string_line("architecture: ", inspect_string(facts->file, "general.architecture"));
    print_string_line("name:         ", inspect_string(facts->file, "general.name"));
    printf("contents:     %zu keys, %zu tensors\n", dllm_file_key_count(facts->file),
           dllm_file_tensor_count(facts->file));
    if (facts->runnable)
        printf("memory:       the file, mapped, and %s for a canvas of %d positions\n",
               out_size_text(facts->workspace_bytes, size), facts->canvas);
    else
        print_string_line("not runnable: ",
                          (struct dllm_string){facts->reason, strlen(facts->reason)});
}

int inspect_print_text(const struct inspect_facts *facts)
{
    print_head(facts);
    puts("\nkeys");
    for (size_t i = 0; i < dllm_file_key_count(facts->file); i++)
        print_key(facts, dllm_file_key(facts->file, i));
    if (dllm_file_tensor_count(facts->file) == 0)
        return out_finish();
    print_types(facts);
    puts("\ntensors");
    for (size_t i = 0; i < dllm_file_tensor_count(facts->file); i++)
        print_tensor(dllm_file_tensor(facts->file, i), dllm_file_part_count(facts->file) > 1);
    return out_finish();
}
