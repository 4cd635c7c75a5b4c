/* cursor.c: every read goes through cursor_take, the one bounds check. */
#include "cursor.h"

uint64_t cursor_left(const struct cursor *cursor)
{
    return cursor->size - cursor->at;
}

const uint8_t *cursor_take(struct cursor *cursor, uint64_t size)
{
    const uint8_t *bytes = cursor->data + cursor->at;

    if (size > cursor_left(cursor))
        return NULL;
    cursor->at += size;
    return bytes;
}

bool cursor_u8(struct cursor *cursor, uint8_t *out)
{
    const uint8_t *bytes = cursor_take(cursor, 1);

    if (bytes)
        *out = *bytes;
    return bytes != NULL;
}

bool cursor_u16(struct cursor *cursor, uint16_t *out)
{
    const uint8_t *bytes = cursor_take(cursor, 2);

    if (bytes)
        *out = load_u16(bytes);
    return bytes != NULL;
}

bool cursor_u32(struct cursor *cursor, uint32_t *out)
{
    const uint8_t *bytes = cursor_take(cursor, 4);

    if (bytes)
        *out = load_u32(bytes);
    return bytes != NULL;
}

bool cursor_u64(struct cursor *cursor, uint64_t *out)
{
    const uint8_t *bytes = cursor_take(cursor, 8);

    if (bytes)
        *out = load_u64(bytes);
    return bytes != NULL;
}
