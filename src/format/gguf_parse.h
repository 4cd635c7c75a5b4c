/*
 * gguf_parse.h: what the files of the GGUF reader share. A file is read in one
 * walk from its first byte: header, keys, tensor directory. Every length and
 * count is checked against the bytes that remain before it is used, and memory
 * grows only with entries that were really read.
 */
#ifndef GGUF_PARSE_H
#define GGUF_PARSE_H

#include "cursor.h"
#include "mapfile.h"
#include "names.h"

enum {
    GGUF_HEADER_BYTES = 24, /* magic, version, two counts */
    /* The least that an entry takes: a name of one byte and, for a key, a
     * one-byte value; for a tensor, one dimension, type and offset. */
    GGUF_KEY_BYTES = 8 + 1 + 4 + 1,
    GGUF_TENSOR_BYTES = 8 + 1 + 4 + 8 + 4 + 8,
    GGUF_NAME_LIMIT = 65535, /* the format's own, in bytes */
    GGUF_DIMS_LIMIT = 4,
    GGUF_ALIGNMENT_DEFAULT = 32,
    GGUF_ALIGNMENT_LIMIT = 2 << 20 /* a huge page: nobody needs more */
};

struct dllm_file {
    char *path;         /* owned */
    struct mapfile map; /* zero when the bytes belong to the caller */
    const uint8_t *data;
    uint64_t size;
    uint32_t version;
    uint64_t alignment;
    struct dllm_key *keys; /* [key_count], owned */
    size_t key_count;
    struct name_index key_index;
    struct dllm_tensor *tensors; /* [tensor_count], owned */
    size_t tensor_count;
    struct name_index tensor_index;
    struct dllm_file **parts; /* [part_count] of a split model, owned; NULL for one file */
    size_t part_count;
};

/* The walk. Counts are what the header claims. */
struct gguf_parser {
    struct dllm_file *file;
    struct cursor cursor;
    struct dllm_error *error;
    uint64_t key_count, tensor_count;
    /* The entry being read, for messages. */
    const char *entry_kind; /* "header", "key" or "tensor" */
    uint64_t entry_index;
    struct dllm_string entry_name; /* empty while unknown */
};

/* Fails with "PATH, ENTRY, byte AT: ..." before the formatted message. */
enum dllm_status gguf_fail(struct gguf_parser *parser, enum dllm_status status, uint64_t at,
                           const char *format, ...) PRINTF_LIKE(4, 5);

/* The message for `what`, which needs `bytes` bytes at the cursor where fewer
 * remain. */
enum dllm_status gguf_fail_cut(struct gguf_parser *parser, const char *what, uint64_t bytes);

/* A name cut to a readable length with everything but printable ASCII escaped.
 * out holds GGUF_SHOWN_BYTES; returns out. */
enum { GGUF_SHOWN_BYTES = 100 };
const char *gguf_show_name(struct dllm_string name, char *out);

/* "the file is cut (5 bytes are missing) ..." with advice, or that it is damaged
 * when so many bytes cannot have been there. out holds GGUF_SHOWN_BYTES. */
const char *gguf_show_missing(uint64_t missing, char *out);

/* Makes room for one more record in a malloc'ed array of count records. */
enum dllm_status gguf_grow(void **records, size_t count, size_t record_bytes,
                           struct dllm_error *error);

/* Looks at magic and version, as far as they are there (gguf_magic.c); says what a file is
 * that is no GGUF file. */
enum dllm_status gguf_check_magic(struct gguf_parser *parser);

/* The same of a whole file, and passes over them. */
enum dllm_status gguf_read_magic(struct gguf_parser *parser);

/* Reads one key entry. (gguf_keys.c) */
enum dllm_status gguf_read_key(struct gguf_parser *parser, struct dllm_key *out);

/* Reads the key entries (gguf_keys.c) into file->keys and indexes them. */
enum dllm_status gguf_read_keys(struct gguf_parser *parser);

/* Reads the tensor directory (gguf_tensors.c) into file->tensors, indexes it,
 * and checks that each tensor's bytes lie inside the file. */
enum dllm_status gguf_read_tensors(struct gguf_parser *parser);

/* A string: u64 length and bytes; what names it in messages. */
enum dllm_status gguf_read_string(struct gguf_parser *parser, const char *what,
                                  struct dllm_string *out);

/* The name that an entry starts with: 1 to GGUF_NAME_LIMIT bytes. */
enum dllm_status gguf_read_name(struct gguf_parser *parser, struct dllm_string *out);

/* "u32", "array", ...; "unknown" outside the enum. */
const char *gguf_kind_name(uint32_t kind);

#endif
