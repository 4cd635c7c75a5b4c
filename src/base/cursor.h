/*
 * cursor.h: reads little-endian values from a byte range, never beyond its
 * end. A read that does not fit fails and leaves the cursor where it was.
 */
#ifndef CURSOR_H
#define CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* at <= size always; data is not owned. */
struct cursor {
    const uint8_t *data;
    uint64_t size;
    uint64_t at;
};

/* Bytes between the cursor and the end. */
uint64_t cursor_left(const struct cursor *cursor);

/* The next size bytes, which are passed over; NULL when fewer are left. */
const uint8_t *cursor_take(struct cursor *cursor, uint64_t size);

/* The next value into *out and true; false when it does not fit. */
bool cursor_u8(struct cursor *cursor, uint8_t *out);
bool cursor_u16(struct cursor *cursor, uint16_t *out);
bool cursor_u32(struct cursor *cursor, uint32_t *out);
bool cursor_u64(struct cursor *cursor, uint64_t *out);

/* The little-endian value at p, which need not be aligned. */
static inline uint16_t load_u16(const uint8_t *p)
{
    return (uint16_t)(p[0] | p[1] << 8);
}

static inline uint32_t load_u32(const uint8_t *p)
{
    return load_u16(p) | (uint32_t)load_u16(p + 2) << 16;
}

static inline uint64_t load_u64(const uint8_t *p)
{
    return load_u32(p) | (uint64_t)load_u32(p + 4) << 32;
}

#endif
