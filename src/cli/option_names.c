/* option_names.c: the library's names of settings as options of the command line. */
#include "run_options.h"

#include <ctype.h>
#include <string.h>

/* Of a setting, such as block_length; NULL if it has no underscore or is none of run's options. */
static const char *option_of(const char *word, size_t length)
{
    for (int i = 0; memchr(word, '_', length) && i < run_option_table.count; i++) {
        const char *name = run_option_table.options[i].name;
        size_t same = 0;

        while (same < length && name[same] && name[same] == (word[same] == '_' ? '-' : word[same]))
            same++;
        if (same == length && !name[same])
            return name;
    }
    return NULL;
}

/* A letter of a name, or of a path or value that only holds one. */
static bool is_part(char c)
{
    return isalnum((unsigned char)c) || c < 0 || (c && strchr("_-./\\\"'", c));
}

void cli_name_options(const char *message, char *out, size_t size)
{
    size_t used = 0;

    if (size > 0)
        out[0] = 0;
    while (*message && used < size) {
        size_t length = 0;
        const char *option;

        while (is_part(message[length]))
            length++;
        option = option_of(message, length);
        length += length == 0; /* what stands between words */
        used += (size_t)(option ? snprintf(out + used, size - used, "--%s", option)
                                : snprintf(out + used, size - used, "%.*s", (int)length, message));
        message += length;
    }
}
