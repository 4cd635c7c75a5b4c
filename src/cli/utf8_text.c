/* utf8_text.c: a strict UTF-8 step (no surrogates, no overlong forms). */
#include "utf8_text.h"

int utf8_text_next(const char *data, size_t size, uint32_t *code)
{
    static const uint32_t least[5] = {0, 0, 0x80, 0x800, 0x10000};
    const unsigned char *byte = (const unsigned char *)data;
    int length = byte[0] < 0x80   ? 1
                 : byte[0] < 0xc2 ? 0
                 : byte[0] < 0xe0 ? 2
                 : byte[0] < 0xf0 ? 3
                 : byte[0] < 0xf5 ? 4
                                  : 0;

    if (length == 0 || (size_t)length > size)
        return 0;
    *code = length == 1 ? byte[0] : byte[0] & (0x7fu >> length);
    for (int i = 1; i < length; i++) {
        if ((byte[i] & 0xc0) != 0x80)
            return 0;
        *code = *code << 6 | (byte[i] & 0x3f);
    }
    if (*code < least[length] || *code > 0x10ffff || (*code >= 0xd800 && *code < 0xe000))
        return 0;
    return length;
}
