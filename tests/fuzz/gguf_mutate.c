/*
 * gguf_mutate.c: a walk over the file finds where its fields lie, as far as it can
 * be followed (it may be damaged already). It shares nothing with the reader that
 * is tested.
 */
#include "gguf_mutate.h"

#include "compiler.h"

#include <stdbool.h>
#include <string.h>

enum { FIELDS_MOST = 4096, ENTRIES_MOST = 1024, TENSORS_AT = 8, KEYS_AT = 16, HEADER = 24 };

/* A number in the file: [at, at + width). */
struct field {
    size_t at, width;
};

struct layout {
    const uint8_t *data;
    size_t size, at; /* at: where the walk is */
    struct field fields[FIELDS_MOST];
    size_t field_count;
    size_t entries[ENTRIES_MOST + 1]; /* where they start; then where the last one ends */
    size_t key_count, entry_count;
};

static uint64_t read_number(const uint8_t *data, size_t width)
{
    uint64_t value = 0;

    memcpy(&value, data, width); /* little endian, as this machine is */
    return value;
}

/* Notes a field and moves behind it; false at the end of the file. */
static bool take(struct layout *layout, size_t width, uint64_t *value)
{
    if (layout->size - layout->at < width || layout->field_count == FIELDS_MOST)
        return false;
    layout->fields[layout->field_count++] = (struct field){layout->at, width};
    *value = read_number(layout->data + layout->at, width);
    layout->at += width;
    return true;
}

static bool skip(struct layout *layout, uint64_t bytes)
{
    if (bytes > layout->size - layout->at)
        return false;
    layout->at += bytes;
    return true;
}

static bool take_string(struct layout *layout)
{
    uint64_t length;

    return take(layout, 8, &length) && skip(layout, length);
}

/* Bytes of a value of that kind; 0 for strings, arrays and what is none. */
static size_t kind_bytes(uint64_t kind)
{
    static const uint8_t bytes[] = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};

    return kind < ARRAY_COUNT(bytes) ? bytes[kind] : 0;
}

enum { KIND_STRING = 8, KIND_ARRAY = 9, ELEMENTS_NOTED = 8 };

static bool take_array(struct layout *layout)
{
    uint64_t kind, count, value;

    if (!take(layout, 4, &kind) || !take(layout, 8, &count))
        return false;
    for (uint64_t i = 0; i < count; i++) {
        size_t width = kind_bytes(kind);

        if (kind == KIND_STRING  ? !take_string(layout)
            : width == 0         ? true
            : i < ELEMENTS_NOTED ? !take(layout, width, &value)
                                 : !skip(layout, width))
            return false;
    }
    return true;
}

static bool take_key(struct layout *layout)
{
    uint64_t kind, value;

    if (!take_string(layout) || !take(layout, 4, &kind))
        return false;
    if (kind == KIND_STRING)
        return take_string(layout);
    if (kind == KIND_ARRAY)
        return take_array(layout);
    return kind_bytes(kind) != 0 && take(layout, kind_bytes(kind), &value);
}

static bool take_tensor(struct layout *layout)
{
    uint64_t dims, value;

    if (!take_string(layout) || !take(layout, 4, &dims) || dims > 4)
        return false;
    for (uint64_t i = 0; i < dims; i++)
        if (!take(layout, 8, &value))
            return false;
    return take(layout, 4, &value) && take(layout, 8, &value);
}

static void walk(struct layout *layout)
{
    uint64_t magic_and_version, tensors, keys;

    if (!take(layout, 8, &magic_and_version) || !take(layout, 8, &tensors) ||
        !take(layout, 8, &keys))
        return;
    for (uint64_t i = 0; i < keys + tensors && layout->entry_count < ENTRIES_MOST; i++) {
        layout->entries[layout->entry_count] = layout->at;
        if (i < keys ? !take_key(layout) : !take_tensor(layout))
            return;
        layout->entry_count++;
        layout->key_count += i < keys;
        layout->entries[layout->entry_count] = layout->at;
    }
}

/* --- changes --- */

static uint64_t draw(uint64_t *random, uint64_t limit)
{
    *random = *random * 6364136223846793005u + 1442695040888963407u;
    return limit ? (*random >> 33) % limit : 0;
}

static uint64_t interesting(uint64_t *random, uint64_t old, uint64_t left)
{
    static const uint64_t numbers[] = {0,
                                       1,
                                       2,
                                       4,
                                       31,
                                       32,
                                       33,
                                       255,
                                       256,
                                       1u << 16,
                                       INT32_MAX,
                                       1ull << 31,
                                       UINT32_MAX,
                                       1ull << 32,
                                       INT64_MAX,
                                       1ull << 63,
                                       UINT64_MAX,
                                       0x7fc00000 /* NaN */,
                                       0x7f800000 /* infinity */,
                                       0x80000000 /* -0 */};

    switch (draw(random, 4)) {
    case 0:
        return old + draw(random, 9) - 4;
    case 1:
        return draw(random, 2) ? old * 2 : old / 2;
    case 2:
        return left + draw(random, 3) - 1;
    default:
        return numbers[draw(random, ARRAY_COUNT(numbers))];
    }
}

static void change_field(const struct layout *layout, uint8_t *data, uint64_t *random)
{
    struct field field = layout->fields[draw(random, layout->field_count)];
    struct field other = layout->fields[draw(random, layout->field_count)];
    uint64_t old = read_number(data + field.at, field.width), value;

    if (draw(random, 4) == 0)
        value = read_number(data + other.at, other.width);
    else
        value = interesting(random, old, layout->size - field.at);
    memcpy(data + field.at, &value, field.width);
}

/* Adds one to the count of keys or tensors, or takes one off. */
static void change_count(const struct layout *layout, uint8_t *data, size_t entry, int by)
{
    size_t at = entry < layout->key_count ? KEYS_AT : TENSORS_AT;
    uint64_t count = read_number(data + at, 8) + (uint64_t)by;

    memcpy(data + at, &count, 8);
}

static size_t remove_entry(const struct layout *layout, uint8_t *data, size_t entry)
{
    size_t start = layout->entries[entry], end = layout->entries[entry + 1];

    change_count(layout, data, entry, -1);
    memmove(data + start, data + end, layout->size - end);
    return layout->size - (end - start);
}

static size_t repeat_entry(const struct layout *layout, uint8_t *data, size_t limit, size_t entry)
{
    size_t start = layout->entries[entry], end = layout->entries[entry + 1], bytes = end - start;

    if (layout->size + bytes > limit)
        return layout->size;
    change_count(layout, data, entry, 1);
    memmove(data + end, data + start, layout->size - start);
    return layout->size + bytes;
}

/* One byte of an entry, names and texts included. */
static void change_byte(const struct layout *layout, uint8_t *data, size_t entry, uint64_t *random)
{
    size_t start = layout->entries[entry], end = layout->entries[entry + 1];

    data[start + draw(random, end - start)] = (uint8_t)draw(random, 256);
}

size_t gguf_mutate(uint8_t *data, size_t size, size_t limit, unsigned seed)
{
    static struct layout layout; /* large; fuzzers have one thread */
    uint64_t random = seed * 2654435761u + 1;
    size_t entry;

    layout = (struct layout){.data = data, .size = size};
    walk(&layout);
    if (layout.field_count == 0)
        return size;
    if (layout.entry_count == 0 || draw(&random, 2)) {
        change_field(&layout, data, &random);
        return size;
    }
    entry = draw(&random, layout.entry_count);
    switch (draw(&random, 4)) {
    case 0:
        return remove_entry(&layout, data, entry);
    case 1:
        return repeat_entry(&layout, data, limit, entry);
    case 2:
        return layout.entries[entry + 1]; /* cut */
    default:
        change_byte(&layout, data, entry, &random);
        return size;
    }
}
