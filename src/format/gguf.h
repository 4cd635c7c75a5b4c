/*
 * gguf.h: reads GGUF files (versions 2 and 3). The public part of the reader is
 * in dllm.h (dllm_file_...); this is what the floors above need besides: typed
 * access to keys with messages that name key, kind found and kind expected.
 *
 * All getters: `required` without the key is a DLLM_ERROR_FORMAT that names
 * it; an absent optional key leaves *out untouched. The kind must fit
 * (integers of any width are integers).
 */
#ifndef GGUF_H
#define GGUF_H

#include "status.h"

/* An integer in [low, high]; a value outside is an error that names both. */
enum dllm_status gguf_get_integer(const struct dllm_file *file, const char *key, bool required,
                                  int64_t low, int64_t high, int64_t *out,
                                  struct dllm_error *error);
/* A finite float (f32 or f64, integers too). */
enum dllm_status gguf_get_float(const struct dllm_file *file, const char *key, bool required,
                                double *out, struct dllm_error *error);
enum dllm_status gguf_get_bool(const struct dllm_file *file, const char *key, bool required,
                               bool *out, struct dllm_error *error);
/* A string inside the mapping. */
enum dllm_status gguf_get_string(const struct dllm_file *file, const char *key, bool required,
                                 struct dllm_string *out, struct dllm_error *error);
/* An array of strings as spans into the mapping; *out is malloc'ed, the caller
 * frees it. */
enum dllm_status gguf_get_strings(const struct dllm_file *file, const char *key, bool required,
                                  struct dllm_string **out, size_t *count,
                                  struct dllm_error *error);
/* An array of integers of any width as i32; *out is malloc'ed. */
enum dllm_status gguf_get_integers(const struct dllm_file *file, const char *key, bool required,
                                   int32_t **out, size_t *count, struct dllm_error *error);

/* Reads a file that lies in memory: size >= 1 bytes at data, not owned, which
 * must outlive the file. name stands for the path in messages. A part of a split
 * model stays what it is. On success *out must be closed with dllm_file_close. */
enum dllm_status gguf_open_bytes(const char *name, const void *data, uint64_t size,
                                 struct dllm_file **out, struct dllm_error *error);

/* A string's value from the first bytes of a file that is not there as a whole:
 * data [size], read up to the key. out->data is NULL where the bytes end first;
 * what is no GGUF file is an error. name stands for the path in messages.
 * (gguf_peek.c) */
enum dllm_status gguf_peek_string(const char *name, const void *data, uint64_t size,
                                  const char *key, struct dllm_string *out,
                                  struct dllm_error *error);

/* Opens one file as it is, also a part of a split model. */
enum dllm_status gguf_open_file(const char *path, struct dllm_file **out, struct dllm_error *error);

/* The path the file was opened with, for messages. */
const char *gguf_path(const struct dllm_file *file);

#endif
