/* hub_choose.c: which of a repository's GGUF files a name means. */
#include "hub_parts.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

void hub_listing_free(struct hub_listing *listing)
{
    for (size_t i = 0; i < listing->count; i++)
        free(listing->files[i].name);
    free(listing->files);
    *listing = (struct hub_listing){0};
}

enum dllm_status hub_listing_add(struct hub_listing *listing, const struct hub_file *file,
                                 struct dllm_error *error)
{
    struct hub_file *grown = listing->files;
    size_t count = listing->count;
    char *name = strdup(file->name);

    /* Twice as many places where they are used up: at 0, 1, 2, 4, 8... */
    if ((count & (count - 1)) == 0)
        grown = realloc(listing->files, (count ? 2 * count : 1) * sizeof *grown);

    if (grown)
        listing->files = grown;
    if (!grown || !name) {
        free(name);
        return hub_fail(error, DLLM_ERROR_MEMORY, "out of memory");
    }
    grown[listing->count] = *file;
    grown[listing->count++].name = name;
    return DLLM_OK;
}

static int compare_names(const void *left, const void *right)
{
    return strcmp(((const struct hub_file *)left)->name, ((const struct hub_file *)right)->name);
}

void hub_listing_sort(struct hub_listing *listing)
{
    if (listing->count)
        qsort(listing->files, listing->count, sizeof *listing->files, compare_names);
}

/* Part and number of parts of NAME-00001-of-00003.gguf; false for a whole
 * model. *stem is the length of NAME. */
static bool split_of(const char *name, int *part, int *parts, size_t *stem)
{
    static const char shape[] = "-00000-of-00000.gguf";
    size_t length = strlen(name), tail = sizeof shape - 1;
    const char *at = name + length - tail;

    if (length <= tail)
        return false;
    for (size_t i = 0; i < tail; i++)
        if (shape[i] == '0' ? !isdigit((unsigned char)at[i]) : at[i] != shape[i])
            return false;
    *stem = length - tail;
    return sscanf(at, "-%5d-of-%5d", part, parts) == 2 && *part >= 1 && *part <= *parts;
}

static bool is_later_part(const char *name)
{
    int part, parts;
    size_t stem;

    return split_of(name, &part, &parts, &stem) && part > 1;
}

/* Whether quant stands in the name as a word: Q4_K is not in X-Q4_K_M.gguf. */
static bool has_quant(const char *name, const char *quant)
{
    size_t length = strlen(quant);

    for (const char *at = name; *at; at++) {
        if (strncasecmp(at, quant, length) != 0)
            continue;
        if (at != name && !strchr("-._/", at[-1]))
            continue;
        if (!isalnum((unsigned char)at[length]) && at[length] != '_')
            return true;
    }
    return false;
}

/* The word of a name that says the types of its weights, such as IQ4_XS; the
 * whole name if there is none. */
static const char *quant_label(const char *name, int *length)
{
    static const char *const starts[] = {"Q", "IQ", "TQ", "MXFP", "BF16", "F16", "F32", "FP16"};
    const char *found = name;

    *length = (int)strlen(name);
    for (const char *at = name; *at; at++) {
        if (at != name && !strchr("-._/", at[-1]))
            continue;
        for (size_t i = 0; i < sizeof starts / sizeof *starts; i++) {
            size_t size = strlen(starts[i]);
            bool whole = isdigit((unsigned char)starts[i][size - 1]);

            if (strncasecmp(at, starts[i], size) != 0 ||
                (whole ? isalnum((unsigned char)at[size]) : !isdigit((unsigned char)at[size])))
                continue;
            found = at;
            *length = (int)(size + strspn(at + size, "0123456789_ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                                     "abcdefghijklmnopqrstuvwxyz"));
        }
    }
    return found;
}

/* "Q4_K_M, Q8_0 and 3 more", as much as fits. */
static void describe(const struct hub_listing *listing, char *out, size_t size)
{
    size_t used = 0, shown = 0, all = 0;

    out[0] = 0;
    for (size_t i = 0; i < listing->count; i++)
        all += !is_later_part(listing->files[i].name);
    for (size_t i = 0; i < listing->count; i++) {
        int length;
        const char *label = quant_label(listing->files[i].name, &length);

        if (is_later_part(listing->files[i].name))
            continue;
        if (used + (size_t)length + 24 > size) {
            snprintf(out + used, size - used, " and %zu more", all - shown);
            return;
        }
        used +=
            (size_t)snprintf(out + used, size - used, "%s%.*s", shown ? ", " : "", length, label);
        shown++;
    }
}

static bool matches(const char *name, const struct hub_spec *spec, const char *quant)
{
    if (spec->file[0])
        return strcmp(name, spec->file) == 0;
    return !is_later_part(name) && (!quant[0] || has_quant(name, quant));
}

/* The parts of the model that starts at file `first`, all of them. */
static enum dllm_status count_parts(const struct hub_listing *listing, const char *where,
                                    size_t first, size_t *count, struct dllm_error *error)
{
    const char *name = listing->files[first].name;
    int part, parts, other, others;
    size_t stem, other_stem;

    *count = 1;
    if (!split_of(name, &part, &parts, &stem))
        return DLLM_OK;
    for (int i = 1; i < parts; i++) {
        size_t at = first + (size_t)i;

        if (at >= listing->count ||
            !split_of(listing->files[at].name, &other, &others, &other_stem) || other != i + 1 ||
            others != parts || other_stem != stem ||
            strncmp(listing->files[at].name, name, stem) != 0)
            return hub_fail(error, DLLM_ERROR_IO,
                            "%s has not all parts of \"%s\": part %d of %d is missing", where, name,
                            i + 1, parts);
    }
    *count = (size_t)parts;
    return DLLM_OK;
}

/* The first match, and how many there are. */
static size_t find(const struct hub_listing *listing, const struct hub_spec *spec,
                   const char *quant, size_t *found)
{
    size_t first = listing->count;

    *found = 0;
    for (size_t i = listing->count; i-- > 0;)
        if (matches(listing->files[i].name, spec, quant)) {
            first = i;
            ++*found;
        }
    return first;
}

/* A part that was named stands for all: goes back to part 1. */
static size_t first_part(const struct hub_listing *listing, size_t at)
{
    int part, parts;
    size_t stem;

    if (split_of(listing->files[at].name, &part, &parts, &stem) && (size_t)(part - 1) <= at)
        return at - (size_t)(part - 1);
    return at;
}

static enum dllm_status fail_none(const struct hub_spec *spec, const struct hub_listing *listing,
                                  const char *where, struct dllm_error *error)
{
    char list[600];

    if (listing->count == 0)
        return hub_fail(error, DLLM_ERROR_IO,
                        "%s has no GGUF file; look for a repository with GGUF in its name", where);
    describe(listing, list, sizeof list);
    if (spec->file[0])
        return hub_fail(error, DLLM_ERROR_IO, "%s has no file \"%.150s\"; it has %s", where,
                        spec->file, list);
    return hub_fail(error, DLLM_ERROR_IO, "%s has no GGUF file for %s; it has %s", where,
                    spec->quant, list);
}

enum dllm_status hub_choose(const struct hub_spec *spec, const struct hub_listing *listing,
                            const char *where, size_t *first, size_t *count,
                            struct dllm_error *error)
{
    static const char *const preferred[] = {"Q4_K_M", "Q8_0", ""};
    const char *quant = spec->quant;
    size_t found = 0;

    if (spec->file[0] || quant[0])
        *first = find(listing, spec, quant, &found);
    else
        for (int i = 0; i < 3 && !found; i++)
            *first = find(listing, spec, quant = preferred[i], &found);
    if (!found)
        return fail_none(spec, listing, where, error);
    if (found > 1 && quant[0])
        return hub_fail(error, DLLM_ERROR_USAGE,
                        "%s has %zu models for %s; name one of the files, such as %s/%s", where,
                        found, quant, spec->repo, listing->files[*first].name);
    *first = first_part(listing, *first);
    return count_parts(listing, where, *first, count, error);
}
