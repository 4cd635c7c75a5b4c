/* bytemap.c: the map between bytes and the characters that stand for them. */
#include "bytemap.h"

#include "utf8.h"

#include <string.h>

/* The bytes that do not stand for themselves, as three runs. */
enum { RUN_1_END = 33, RUN_2_START = 127, RUN_2_END = 161, LONE = 173, FIRST_MOVED = 256 };
enum { RUN_2_AT = FIRST_MOVED + RUN_1_END, LONE_AT = RUN_2_AT + RUN_2_END - RUN_2_START };

uint32_t bytemap_code_point(uint8_t byte)
{
    if (byte < RUN_1_END)
        return FIRST_MOVED + byte;
    if (byte >= RUN_2_START && byte < RUN_2_END)
        return RUN_2_AT + (byte - RUN_2_START);
    return byte == LONE ? LONE_AT : byte;
}

int bytemap_byte(uint32_t code_point)
{
    int c = (int)code_point;

    if (code_point > LONE_AT)
        return -1;
    if (c == LONE_AT)
        return LONE;
    if (c >= RUN_2_AT)
        return c - RUN_2_AT + RUN_2_START;
    if (c >= FIRST_MOVED)
        return c - FIRST_MOVED;
    return bytemap_code_point((uint8_t)c) == code_point ? c : -1;
}

size_t bytemap_decode(struct dllm_string text, char *out)
{
    size_t size = 0;

    for (size_t at = 0; at < text.size;) {
        uint32_t code_point;
        int length = utf8_decode(text.data + at, text.size - at, &code_point);
        int byte = length ? bytemap_byte(code_point) : -1;
        size_t step = length ? (size_t)length : 1;

        if (out && byte >= 0)
            out[size] = (char)byte;
        else if (out)
            memcpy(out + size, text.data + at, step);
        size += byte >= 0 ? 1 : step;
        at += step;
    }
    return size;
}
