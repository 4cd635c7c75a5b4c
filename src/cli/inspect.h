/* inspect.h: the two ways inspect prints a GGUF file. */
#ifndef INSPECT_H
#define INSPECT_H

#include "dllm.h"

/* Tensors of one type. */
struct inspect_type {
    uint32_t type;
    size_t tensors;
    uint64_t bytes;
};

/* What inspect found. memory_rows lists what a run needs. */
struct inspect_facts {
    const char *path;
    const struct dllm_file *file;
    bool full;                  /* whole strings and arrays */
    struct inspect_type *types; /* [type_count], most bytes first, owned */
    size_t type_count;
    bool runnable; /* by this build; else reason says why not */
    char reason[1000];
    int canvas; /* positions that workspace_bytes is for */
    uint64_t workspace_bytes;
};

/* How much of a string and of an array is shown unless full. */
enum { INSPECT_STRING = 60, INSPECT_ELEMENTS = 6 };

/* "u32", "string", ...; "?" for what is no value type. */
const char *inspect_kind_name(enum dllm_value_type type);

/* A string value of the file, or "" if there is none or it is not a string. */
struct dllm_string inspect_string(const struct dllm_file *file, const char *key);

/* Both print to stdout and return the exit code. (inspect_text.c,
 * inspect_json.c) */
int inspect_print_text(const struct inspect_facts *facts);
int inspect_print_json(const struct inspect_facts *facts);

#endif
