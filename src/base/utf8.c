/* utf8.c: strict UTF-8. */
#include "utf8.h"

#include <string.h>

/* Length that a first byte announces; 0 for bytes that start nothing. */
static int announced_length(uint8_t first)
{
    if (first < 0x80)
        return 1;
    if (first < 0xC2)
        return 0;
    if (first < 0xE0)
        return 2;
    if (first < 0xF0)
        return 3;
    return first < 0xF5 ? 4 : 0;
}

int utf8_decode(const char *data, size_t size, uint32_t *code_point)
{
    static const uint32_t smallest[5] = {0, 0, 0x80, 0x800, 0x10000};
    const uint8_t *bytes = (const uint8_t *)data;
    int length = size ? announced_length(bytes[0]) : 0;
    uint32_t value;

    if (length == 0 || (size_t)length > size)
        return 0;
    value = length == 1 ? bytes[0] : bytes[0] & (0x7Fu >> length);
    for (int i = 1; i < length; i++) {
        if ((bytes[i] & 0xC0) != 0x80)
            return 0;
        value = value << 6 | (bytes[i] & 0x3F);
    }
    if (value < smallest[length] || value > 0x10FFFF || (value >= 0xD800 && value < 0xE000))
        return 0;
    *code_point = value;
    return length;
}

int utf8_write(uint32_t code_point, char out[4])
{
    static const uint8_t mark[5] = {0, 0, 0xC0, 0xE0, 0xF0};
    int length = code_point < 0x80 ? 1 : code_point < 0x800 ? 2 : code_point < 0x10000 ? 3 : 4;

    for (int i = length - 1; i > 0; i--) {
        out[i] = (char)(0x80 | (code_point & 0x3F));
        code_point >>= 6;
    }
    out[0] = (char)(mark[length] | code_point);
    return length;
}

size_t utf8_valid_prefix(const char *data, size_t size)
{
    size_t at = 0;
    uint64_t eight;
    uint32_t code_point;

    while (at < size) {
        int length;

        if (size - at >= sizeof eight) {
            memcpy(&eight, data + at, sizeof eight);
            if (!(eight & 0x8080808080808080u)) {
                at += sizeof eight;
                continue;
            }
        }
        length = utf8_decode(data + at, size - at, &code_point);
        if (length == 0)
            break;
        at += (size_t)length;
    }
    return at;
}

bool utf8_is_space(uint32_t c)
{
    if (c < 0x80)
        return c == ' ' || (c >= 0x09 && c <= 0x0D) || (c >= 0x1C && c <= 0x1F);
    return c == 0x85 || c == 0xA0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200A) || c == 0x2028 ||
           c == 0x2029 || c == 0x202F || c == 0x205F || c == 0x3000;
}
