/*
 * names.h: finds a name among many and tells whether one is repeated, by
 * sorting: n log n whatever the names are, so a hostile file cannot make it
 * slow as it could a hash table.
 */
#ifndef NAMES_H
#define NAMES_H

#include "status.h"

struct name_entry {
    struct dllm_string name; /* not owned */
    size_t index;            /* of the record that the name came from */
};

/* A zeroed record is an empty index. */
struct name_index {
    struct name_entry *entries; /* sorted by name, then by index; owned */
    size_t count;
};

/* Indexes `count` records of `stride` bytes, each of which starts with a
 * struct dllm_string. The names must outlive the index; free it with
 * names_free. Only an allocation can fail. */
enum dllm_status names_build(const void *records, size_t stride, size_t count,
                             struct name_index *out, struct dllm_error *error);
void names_free(struct name_index *index);

/* Finds the pair of records with equal names whose second one comes first in
 * the file; false if all names differ. */
bool names_find_repeated(const struct name_index *index, size_t *first, size_t *second);

/* The record of that name into *out; false if there is none. */
bool names_find(const struct name_index *index, struct dllm_string name, size_t *out);

#endif
