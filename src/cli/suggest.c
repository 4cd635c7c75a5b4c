/* suggest.c: the nearest name for a misspelt one. */
#include "opts.h"

#include <string.h>

enum { NAME_LIMIT = 40 };

static int min3(int a, int b, int c)
{
    int low = a < b ? a : b;
    return low < c ? low : c;
}

/* Edit distance with exchanged neighbours counted once (optimal string
 * alignment). Both lengths are at most NAME_LIMIT. */
static int edit_distance(const char *a, int a_length, const char *b, int b_length)
{
    int d[NAME_LIMIT + 1][NAME_LIMIT + 1];

    for (int i = 0; i <= a_length; i++)
        d[i][0] = i;
    for (int j = 0; j <= b_length; j++)
        d[0][j] = j;
    for (int i = 1; i <= a_length; i++) {
        for (int j = 1; j <= b_length; j++) {
            int cost = a[i - 1] != b[j - 1];
            d[i][j] = min3(d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + cost);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
                d[i - 2][j - 2] + 1 < d[i][j])
                d[i][j] = d[i - 2][j - 2] + 1;
        }
    }
    return d[a_length][b_length];
}

/* Small for names that are near: the edit distance, or 1 for a name that
 * merely goes on (at least 3 letters alike). */
static int name_distance(const char *text, const char *name)
{
    size_t text_length = strlen(text), name_length = strlen(name);

    if (text_length > NAME_LIMIT || name_length > NAME_LIMIT)
        return NAME_LIMIT;
    if (text_length >= 3 && strncmp(text, name, text_length) == 0)
        return 1;
    return edit_distance(text, (int)text_length, name, (int)name_length);
}

const char *opts_suggest(const char *text, const char *const *names, int count)
{
    const char *best = NULL;
    int limit = (int)strlen(text) / 3 + 1; /* first distance that is too far */

    if (limit > 4)
        limit = 4;
    for (int i = 0; i < count; i++) {
        int distance = names[i] ? name_distance(text, names[i]) : limit;
        if (distance < limit) {
            limit = distance;
            best = names[i];
        }
    }
    return best;
}
