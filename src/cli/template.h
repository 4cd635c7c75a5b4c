/*
 * template.h: text with gaps. A mark [[N]] is a gap of N positions; a backslash
 * before a mark makes it text. Backslashes count only right before a mark: each
 * pair of them is one backslash, an odd one takes the mark's meaning away.
 * Everything else is text as it stands.
 */
#ifndef TEMPLATE_H
#define TEMPLATE_H

#include "dllm.h"

struct template_mark {
    size_t at; /* bytes of text before the gap */
    int count; /* positions */
};

struct template
{
    char *text; /* [size], without marks and their escapes; owned */
    size_t size;
    struct template_mark *marks; /* [mark_count], ascending; owned; none have the same place */
    size_t mark_count;
};

/* Reads text [size]; marks without text between them become one gap. 0, or the
 * exit code after a message: no mark, or one of 0 or too many positions. Free
 * with template_free, whatever came out. */
int template_parse(struct template *template, const char *text, size_t size);
void template_free(struct template *template);

/* Sum of the gaps. */
int template_positions(const struct template *template);

/* Appends the ids of the text, masks in its gaps, to ids; flags are dllm_encode's
 * for the first piece, the others continue it. 0, or the exit code after a
 * message: text that is a mask itself would be one more gap. */
int template_encode(const struct template *template, const struct dllm_engine *engine,
                    unsigned flags, struct dllm_ids *ids);

/* The text with gaps [mark_count] filled, owned by the caller; data is NULL
 * without memory. */
struct dllm_text template_fill(const struct template *template, const struct dllm_gap *gaps);

#endif
